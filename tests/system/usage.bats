#!/usr/bin/env bats
# What the command line refuses, with which code and words.
load helper

refused() {  # CODE MESSAGE COMMAND...
  local code=$1 message=$2
  shift 2
  try "$code" "$@" </dev/null
  assert_output ''
  assert_one_error "$message"
}

@test "usage: EXPR is missing" {
  refused 2 'kstream-filter: error: EXPR is missing: usage: kstream-filter [OPTION]... EXPR' kstream-filter
  refused 2 'kstream-map: error: EXPR is missing: usage: kstream-map [OPTION]... EXPR' kstream-map -i in
}

@test "usage: an unknown flag, and the nearest one" {
  refused 2 'kstream-filter: error: unknown flag --inptu: did you mean --input?' kstream-filter --inptu x .a
  refused 2 'kstream-filter: error: unknown flag --limits: did you mean --limit?' kstream-filter --limits=5 .a
  refused 2 'kstream-filter: error: unknown flag --xyzzy' kstream-filter --xyzzy .a
  refused 2 'kstream-filter: error: unknown flag -Z' kstream-filter -Z .a
  refused 2 'kstream-filter: error: unknown flag --set-key' kstream-filter --set-key .a .b
  refused 2 'kstream-map: error: unknown flag --not' kstream-map --not .b
}

@test "usage: flags of stages with state are unknown to stages without" {
  refused 2 'unknown flag --emit' kstream-filter --emit .a
}

@test "usage: a second argument, and an expression that looks like a flag" {
  refused 2 "unexpected argument 'in.ndjson'" kstream-filter .a in.ndjson
  refused 2 "unknown flag -.a: an EXPR that begins with - follows --" kstream-filter -.a
}

@test "usage: values that are missing, empty or not taken" {
  refused 2 'kstream-filter: error: --limit: its value is missing' kstream-filter .a --limit
  refused 2 'kstream-filter: error: -c: its value is missing' kstream-filter .a -c
  refused 2 'kstream-filter: error: --key: empty value' kstream-filter --key= .a
  refused 2 'kstream-filter: error: --not: takes no value' kstream-filter --not=no .a
}

@test "usage: a repeated option takes one value each, so EXPR is not eaten" {
  printf '1\n' >a
  printf '2\n' >b
  try 0 kstream-filter -i a -i b true
  assert_output '1
2'
  try 0 kstream-map -i a -J --header x=1 --header y=2 .
  assert_output --partial '"headers":["x","1","y","2"]'
}

@test "usage: numbers that make no sense" {
  for value in -1 x 1.5 99999999999999999999; do
    refused 2 'kstream-filter: error: --limit: ' kstream-filter -c "$value" .a
  done
  for value in 0 -1 x 1.5 99999999999999999999; do
    refused 2 'kstream-filter: error: --threads: ' kstream-filter -j "$value" .a
    refused 2 'kstream-filter: error: --partitions: ' kstream-filter --partitions "$value" .a
    refused 2 'kstream-filter: error: --create-output: ' kstream-filter --create-output "$value" .a
  done
  refused 2 'kstream-filter: error: --create-output: ' kstream-filter --create-output 3:0 .a
  refused 2 'kstream-filter: error: --max-errors: ' kstream-filter --on-error skip --max-errors -1 .a
  for value in 0s 10 5x -1s ''; do
    refused 2 'kstream-filter: error: --timeout: ' kstream-filter --timeout "$value" .a
    refused 2 'kstream-filter: error: --stats: ' kstream-filter --stats "$value" .a
    refused 2 'kstream-filter: error: --commit-interval: ' kstream-filter --commit-interval "$value" .a
  done
  for value in 10 5x -1s ''; do
    refused 2 'kstream-filter: error: --max-idle: ' kstream-filter --max-idle "$value" .a
    refused 2 'kstream-filter: error: --max-skew: ' kstream-filter --max-skew "$value" .a
  done
}

@test "usage: words that are none of those known" {
  refused 2 "kstream-filter: error: --in: 'jsn' is none of json, envelope, raw, csv, tsv" kstream-filter --in jsn .a
  refused 2 'kstream-filter: error: --on-error: ' kstream-filter --on-error ignore .a
  refused 2 'kstream-filter: error: --partitioner: ' kstream-filter --partitioner md5 .a
  for value in sticky by-topics single: broadcast broadcast: ''; do
    refused 2 'kstream-filter: error: --grouper: ' kstream-filter --grouper "$value" .a
  done
  refused 2 "kstream-filter: error: --grouper: 'sticky' is none of default, single, by-topic, broadcast:TOPIC" \
    kstream-filter --grouper sticky .a
  refused 2 "kstream-filter: error: --from: 'start' is none of beginning, end, N, -N, @TIME, @T1:T2" \
    kstream-filter -b 127.0.0.1:1 -i x --from start .a
  refused 2 'kstream-filter: error: --explain: ' kstream-filter --explain=xml .a
  refused 2 'kstream-filter: error: -s: ' kstream-filter -s json .a
  refused 2 "kstream-filter: error: -s: 'yaml' is not a serde" kstream-filter -s value=yaml .a
  refused 2 'kstream-filter: error: ' kstream-filter -f '%y' .a
  refused 2 'kstream-map: error: --header: ' kstream-map --header =1 .a
}

@test "usage: exactly-once is refused with the reason" {
  refused 2 'kstream-filter: error: --guarantee exactly-once needs a topic to read and --app: ' \
    kstream-filter --guarantee exactly-once .a
  local kafka="kstream-filter -b 127.0.0.1:1 --cluster eu=127.0.0.2:1 -i in --eos -G g"
  refused 2 'kstream-filter: error: --guarantee exactly-once: output stdout is no topic, and a transaction ' $kafka .a
  refused 2 'output file is a file, and a transaction ' $kafka -o out --else file:file .a
  refused 2 'output bad is a topic of cluster eu, and ' $kafka -o out --dead-letter eu:bad .a
  refused 2 'kstream-filter: error: --commit-interval 6000 ms under exactly-once: at most 5000 ms' \
    $kafka -o out --commit-interval 6s .a
  try 0 piped '1\n' kstream-filter --guarantee at-least-once true
}

@test "usage: an output that would be read again" {
  echo 1 >in
  refused 2 'output orders is matched by input ^or: it would read what it writes' \
    kstream-filter -b 127.0.0.1:1 -i '^or' -o orders .a
  refused 2 'output orders-x is matched by input ^or' \
    kstream-filter -b 127.0.0.1:1 -i '^or' -o x --else orders-x .a
  refused 2 'output orders-x is matched by input ^or' \
    kstream-filter -b 127.0.0.1:1 -i '^or' -o x --dead-letter orders-x .a
  refused 2 'output orders is matched by input orders' \
    kstream-filter -b 127.0.0.1:1 -i orders -o orders .a
  # A topic of another cluster is another topic.
  try 0 kstream-filter -b 127.0.0.1:1 --cluster eu=127.0.0.2:1 -i '^or' -o eu:orders --explain .a
  refused 2 './in is both input and output' kstream-filter -i in -o ./in .a
  ln in link
  refused 2 'link is both input and output' kstream-filter -i in -o link .a
  assert_equal "$(cat in)" 1
  refused 2 'x is the place of two outputs' kstream-filter -i in -o x --else x .a
  refused 2 'x and ./x are one file' kstream-filter -i in -o x --dead-letter ./x .a
  refused 2 'stdout is the place of two outputs' kstream-filter -i in --else - .a
}

@test "usage: an invalid pattern" {
  refused 2 'kstream-filter: error: ^or( is no valid topic pattern: ' kstream-filter -b 127.0.0.1:1 -i '^or(' .a
}

@test "usage: the error policy" {
  refused 2 '--on-error dead-letter: say where they go with --dead-letter' kstream-filter --on-error dead-letter .a
  refused 2 '--dead-letter contradicts --on-error skip' kstream-filter --on-error skip --dead-letter d .a
  refused 2 '--max-errors needs --on-error' kstream-filter --max-errors 3 .a
}

@test "usage: places" {
  refused 2 'kstream-filter: error: --input topic:x: no brokers are known' kstream-filter -i topic:x .a
  refused 2 "'eu:x' cannot be a topic's name: a cluster is told with --cluster eu=BROKERS" \
    kstream-filter -b 127.0.0.1:1 -i x -o eu:x .a
  refused 2 '--app needs a topic to read' kstream-filter -b 127.0.0.1:1 -G g .a
  refused 2 '--instance-id needs --app' kstream-filter -b 127.0.0.1:1 -i x --instance-id a .a
  refused 2 '--to names topics' kstream-map --to .t .a
  refused 2 '--to contradicts --output' kstream-map -b 127.0.0.1:1 --to .t -o x .a
  refused 2 '--input x is given twice' kstream-filter -b 127.0.0.1:1 -i x -i x .a
  refused 2 '--output is given twice' kstream-filter -o x -o y .a
  refused 2 '--from needs brokers and a topic to read' kstream-filter --from end .a
}

@test "usage: files and topics as inputs of one group" {
  refused 2 'a group keeps positions in topics alone' \
    kstream-filter -b 127.0.0.1:1 -G g -i orders -i file:orders.ndjson .a
  try 0 kstream-filter -b 127.0.0.1:1 -i orders -i file:orders.ndjson --explain .a
}

@test "usage: a group lives at home, whatever cluster its inputs are of" {
  try 0 kstream-filter -b 127.0.0.1:1 --cluster eu=127.0.0.2:1 -G g -i eu:orders --explain .a
  try 0 kstream-filter -b 127.0.0.1:1 --cluster eu=127.0.0.2:1 -G g -i orders -i eu:orders --explain .a
}

@test "usage: formats of the output that contradict each other" {
  refused 2 'kstream-filter: error: --out: contradicts -J: ' kstream-filter -J --out csv .a
  refused 2 'kstream-filter: error: -J: contradicts --format: ' kstream-filter -f '%s' -J .a
  refused 2 'kstream-filter: error: --format: contradicts --out json: ' kstream-filter --out json -f '%s' .a
  try 0 piped '1\n' kstream-filter -J --out envelope true
}

# The same line runs on a file and on a topic.
@test "usage: flags that make sense on topics only are taken on files" {
  try 0 piped '1\n' kstream-filter -e --commit-interval 5s --create-output 3 --partitioner crc32 \
    --instance-id one -G g --from beginning --partition 5 true
  assert_output 1
  try 0 piped '1\n' kstream-filter --instance-id auto -G g --state-dir here --memory 8M \
    --store-type rocksdb true
  assert_output 1
  assert [ ! -e here ]
}

@test "expressions: where and what is wrong, exit 3" {
  refused 3 'kstream-filter: error: EXPR: 1:' kstream-filter '.a >'
  refused 3 'kstream-filter: error: --key: 1:' kstream-filter -k '.a |' .b
  refused 3 'kstream-map: error: --header: 1:' kstream-map --header 'x=.a |' .b
  refused 3 'kstream-filter: error: EXPR: ' kstream-filter '{">":[{"var":"a"}'
  refused 3 'kstream-filter: error: EXPR: 2:' kstream-filter $'.a\n| )'
  refused 3 'kstream-filter: error: EXPR: ' kstream-filter '$nosuch == 1'
  refused 3 'kstream-filter: error: EXPR: ' kstream-filter 'input'
  refused 3 'kstream-filter: error: EXPR: ' kstream-filter '$ENV.HOME == "x"'
  refused 3 'kstream-filter: error: EXPR: ' kstream-filter '$out == 1'
}

@test "expressions: an empty one is refused, whichever it is" {
  for blank in '' ' ' $'\t\n'; do
    refused 3 'kstream-filter: error: EXPR: the expression is empty' kstream-filter "$blank"
    refused 3 'kstream-map: error: EXPR: the expression is empty' kstream-map "$blank"
    refused 3 'kstream-filter: error: --key: the expression is empty' kstream-filter -k "$blank" .a
    refused 3 'kstream-map: error: --header: the expression is empty' kstream-map --header "a=$blank" .a
  done
}

@test "expressions: a filter that cannot depend on the record is refused with a hint" {
  for expression in 5 '"amount > 100"' '1 == 1' 'null' '{"==":[1,1]}'; do
    refused 3 'is the same for every record' kstream-filter "$expression"
  done
  refused 3 'is the same for every record' kstream-map --tombstone '1 > 0' .a
}

@test "configuration: a file, the environment, -X and flags, the later one wins" {
  printf '# comment\nbootstrap.servers = file:1\nsasl.password=hunter2\nssl.key.location=/k\nsasl.oauthbearer.config=p=hunter2\nclient.id=f\n' >conf
  export KSTREAM_BROKERS=env:1
  try 0 kstream-filter -F conf -X dump
  assert_line --regexp '^bootstrap.servers = env:1 +# environment KSTREAM_BROKERS$'
  assert_line --regexp '^client.id = f +# conf:6$'
  assert_line --regexp '^sasl.password = \*+ +# conf:3$'
  assert_line --regexp '^ssl.key.location = \*+ +# conf:4$'
  assert_line --regexp '^sasl.oauthbearer.config = \*+ +# conf:5$'
  refute_output --partial hunter2
  try 0 kstream-filter -F conf -X bootstrap.servers=x:1 -X dump
  assert_line --regexp '^bootstrap.servers = x:1 +# -X$'
  try 0 kstream-filter -F conf -X bootstrap.servers=x:1 -b flag:1 -X out.acks=1 -X in.client.id=i -X dump
  assert_line --regexp '^bootstrap.servers = flag:1 +# --brokers$'
  assert_line --regexp '^out.acks = 1 +# -X$'
  assert_line --regexp '^in.client.id = i +# -X$'
  assert_line --regexp '^out.client.id = f +# conf:6$'
}

@test "configuration: where state is kept" {
  unset XDG_STATE_HOME
  try 0 kstream-filter -X dump
  assert_line --regexp "^state-dir = $HOME/.local/state/kstream +# default$"
  assert_line --regexp '^store-type = memory +# default$'
  assert_line --regexp '^memory = 268435456 +# default$'
  assert_line --regexp '^guarantee = at-least-once +# default$'
  assert_line --regexp '^commit-interval = 1000ms +# default$'
  XDG_STATE_HOME=/xdg try 0 kstream-filter -G g -X dump
  assert_line --regexp '^state-dir = /xdg/kstream +# default$'
  assert_line --regexp '^store-type = rocksdb +# default$'
  try 0 kstream-filter --state-dir here --store-type rocksdb --memory 64M --eos --commit-interval 2s -X dump
  assert_line --regexp '^state-dir = here +# --state-dir$'
  assert_line --regexp '^store-type = rocksdb +# --store-type$'
  assert_line --regexp '^memory = 67108864 +# --memory$'
  assert_line --regexp '^guarantee = exactly-once +# --guarantee$'
  assert_line --regexp '^commit-interval = 2000ms +# --commit-interval$'
  try 0 kstream-filter --eos -X dump
  assert_line --regexp '^commit-interval = 200ms +# default$'
}

@test "usage: state" {
  refused 2 'error: --memory: 1 bytes are less than stores need: at least 8M' kstream-filter --memory 1 .a
  refused 2 "error: --store-type: 'disk' is none of rocksdb, memory" kstream-filter --store-type disk .a
  # An identity of its own is kept in a directory of the application's name.
  local kafka="kstream-filter -b 127.0.0.1:1 -i in -o out --instance-id auto"
  refused 2 'error: --instance-id needs --app' $kafka .a
  refused 2 "error: application '..' needs a name of letters" $kafka -G .. .a
  refused 2 "error: application 'a/b' needs a name of letters" $kafka -G a/b .a
  try 0 $kafka -G g --state-dir here --explain .a
  assert_line 'state: here/g'
  assert_equal "$($kafka -G g --state-dir here --explain=json .a | jq -r .state)" here/g
  try 0 kstream-filter -G g --explain .a
  refute_output --partial 'state:'
  assert [ ! -e here ]
}

@test "configuration: where the file is found" {
  mkdir -p .config
  echo client.id=home >.config/kstream.conf
  try 0 kstream-filter -X dump
  assert_output --partial 'client.id = home'
  echo client.id=env >env.conf
  KSTREAM_CONFIG=env.conf try 0 kstream-filter -X dump
  assert_output --partial 'client.id = env'
  refute_output --partial 'client.id = home'
  refused 2 'kstream-filter: error: --config: nowhere: No such file or directory' kstream-filter -F nowhere .a
  echo oops >bad.conf
  refused 2 'kstream-filter: error: --config: bad.conf:1: ' kstream-filter -F bad.conf .a
  refused 2 'no.such.property' kstream-filter -b 127.0.0.1:1 -i x -X no.such.property=1 .a
}

@test "configuration: brokers in the environment make names topics" {
  KSTREAM_BROKERS=127.0.0.1:1 try 0 kstream-filter -i orders --explain .a
  assert_output --partial 'topic orders'
  try 0 kstream-filter -i orders --explain .a
  assert_output --partial 'file orders'
}
