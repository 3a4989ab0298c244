#!/usr/bin/env bats
# kstream-agg on files: functions, groups, modes, refusals.
load helper

orders() {
  printf '%s\n' '{"user":"u1","amount":10,"coupon":"x","ts":3}' '{"user":"u2","amount":0.5,"ts":9}' \
    '{"user":"u1","amount":32,"coupon":null,"ts":1}' '{"user":"u1","amount":null,"ts":2}' >orders
}

@test "agg: count by group, in the order of keys" {
  orders
  try 0 kstream-agg -i orders --by .user --count
  assert_output '{"key":"u1","count":3}
{"key":"u2","count":1}'
  assert_stderr_is '% kstream-agg: 4 read, 2 written, 0 skipped'
}

@test "agg: every function, with names of their own or the function's" {
  orders
  try 0 kstream-agg -i orders --by .user --count --count=n --count=coupons=.coupon \
    --sum total=.amount --min .amount --max .amount --avg .amount --first .amount --last .amount \
    --collect all=.amount --collect-set .coupon --distinct .amount
  assert_output '{"key":"u1","count":3,"n":3,"coupons":1,"total":42,"min":10,"max":32,"avg":21,"first":10,"last":32,"all":[10,32,null],"collect_set":["x"],"distinct":2}
{"key":"u2","count":1,"n":1,"coupons":0,"total":0.5,"min":0.5,"max":0.5,"avg":0.5,"first":0.5,"last":0.5,"all":[0.5],"collect_set":null,"distinct":1}'
}

@test "agg: a fold" {
  orders
  try 0 kstream-agg -i orders --by .user --init '[]' --add '($acc + [.amount] | sort)[-2:]' --as top
  assert_output '{"key":"u1","top":[10,32]}
{"key":"u2","top":[0.5]}'
  try 0 kstream-agg -i orders --by .user --init 0 --add '$acc + 1'
  assert_line --index 0 '{"key":"u1","value":3}'
}

@test "agg: a row has its group as key and the largest time of its records" {
  orders
  try 0 kstream-agg -i orders --timestamp .ts --by .user --count -f '%k|%T|%s\n'
  assert_output 'u1|3|{"key":"u1","count":3}
u2|9|{"key":"u2","count":1}'
}

@test "agg: the record's key is the group, and 42 and \"42\" are one" {
  try 0 piped '{"k":42}\n{"k":"42"}\n{"k":"a"}\n' kstream-agg -k .k --count
  assert_output '{"key":"42","count":2}
{"key":"a","count":1}'
  try 0 piped '{"key":"a","value":1}\n{"key":"b","value":2}\n{"key":"a","value":3}\n' \
    kstream-agg --in envelope --sum .
  assert_output '{"key":"a","sum":4}
{"key":"b","sum":2}'
}

@test "agg: behind a filter, by envelopes" {
  orders
  kstream-filter -i orders -J true 2>err | kstream-agg --in envelope --by .user --count >out 2>>err
  assert_equal "$(cat out)" '{"key":"u1","count":3}
{"key":"u2","count":1}'
}

@test "agg: what is of no group is left out and counted" {
  try 0 piped '{"key":"a","value":1}\n{"key":null,"value":2}\n{"key":"a","payload":null}\n' \
    kstream-agg --in envelope --count
  assert_output '{"key":"a","count":1}'
  assert_stderr_is '% agg: left out 1 without a key and 1 without a value
% kstream-agg: 3 read, 1 written, 0 skipped'
}

@test "agg: partitions change no result" {
  seq 0 9999 | jq -c '{u: "u\(. % 37)", n: .}' >in
  kstream-agg -i in --by .u --sum .n >one 2>err
  kstream-agg -i in --by .u --sum .n --partitions 5 2>>err | sort >five
  kstream-agg -i in -k .u --sum .n --partitions 5 2>>err | sort >keyed
  sort one | cmp - five
  cmp five keyed
  assert_equal "$(wc -l <one)" 37
}

@test "agg: integers are exact, and an overflow is a bad record" {
  try 0 piped '9007199254740993\n1\n' kstream-agg -k '"k"' --sum .
  assert_output '{"key":"k","sum":9007199254740994}'
  try 5 piped '9223372036854775807\n1\n' kstream-agg -k '"k"' --sum total=.
  assert_output ''
  assert_stderr_has 'error: stdin:2: --sum total: the sum so far, 9223372036854775807, and 1 do not fit a 64-bit integer'
  try 0 piped '9223372036854775807\n1\n-7\n' kstream-agg -k '"k"' --sum . --count --on-error skip
  assert_output '{"key":"k","sum":9223372036854775800,"count":2}'
  assert_counts kstream-agg 3 1 1
}

@test "agg: a wrong type is a bad record and changes nothing" {
  try 5 piped '1\n"a"\n' kstream-agg -k '"k"' --sum .
  assert_stderr_has 'stdin:2: --sum: takes numbers, and got a string: "a"'
  try 0 piped '1\n"a"\n2\n' kstream-agg -k '"k"' --count --max . --on-error skip
  assert_output '{"key":"k","count":2,"max":2}'
}

@test "agg: literals pass unchanged" {
  try 0 piped '12345678901234567890123\n1.50\n' kstream-agg -k '"k"' --max . --last . --collect .
  assert_output '{"key":"k","max":12345678901234567890123,"last":1.50,"collect":[12345678901234567890123,1.50]}'
}

@test "agg: --emit change writes each change, update the rows that changed" {
  try 0 piped '"a"\n"b"\n"a"\n' kstream-agg -k . --count --emit change
  assert_output '{"key":"a","count":1}
{"key":"b","count":1}
{"key":"a","count":2}'
  try 0 piped '"a"\n"b"\n"a"\n' kstream-agg -k . --count --emit every:1h
  assert_output '{"key":"a","count":2}
{"key":"b","count":1}'
  try 0 piped '"a"\n"b"\n"a"\n' kstream-agg -k . --count --emit final
  assert_line --index 1 '{"key":"b","count":1}'
}

@test "agg: no input, no rows" {
  try 0 piped '' kstream-agg --by .x --count
  assert_output ''
  assert_counts kstream-agg 0 0 0
}

@test "agg: rows as csv" {
  orders
  try 0 kstream-agg -i orders --by .user --count --out csv
  assert_output 'key,count
u1,3
u2,1'
}

@test "agg: refusals say what to do" {
  refused() {
    local code=$1 what=$2
    shift 2
    try "$code" kstream-agg "$@" </dev/null
    assert_one_error "kstream-agg: error: $what"
    assert_output ''
  }
  refused 2 'there is no aggregate: --count is the simplest' --by .x
  refused 2 "two aggregates are called 'n': give one another name" --sum n=.a --max n=.b
  refused 2 "no aggregate can be called 'key': a row has it already" --sum key=.a
  refused 2 '--init needs --add' --init 0
  refused 2 '--add needs --init' --add '$acc'
  refused 2 '--as names a fold' --count --as x
  refused 2 "--emit: 'sometimes' is none of final, update, change, every:DURATION" --count --emit sometimes
  refused 2 '--emit: every:0s is not longer than 0' --count --emit every:0s
  refused 2 "--count: '.x' is neither NAME nor NAME=EXPR" --count=.x
  refused 2 "unexpected argument '.x': inputs are named with --input" --count .x
  refused 2 "--window: 'daily' is none of tumbling:DURATION, hopping:SIZE/HOP, sliding:DURATION, session:GAP" --count --window daily
  refused 2 "--window: 'hopping:1m' lacks the hop" --count --window hopping:1m
  refused 2 '--window: a window of 0ms is not longer than 0' --count --window tumbling:0s
  refused 2 '--window: a gap of 0ms is not longer than 0' --count --window session:0s
  refused 2 '--window: a hop of 2000ms is longer than its window of 1000ms' --count --window hopping:1s/2s
  refused 2 '--window: each record would be in 604800000 windows: take a longer hop' --count --window hopping:7d/1ms
  refused 2 "there is no time zone 'Europe/Berln': did you mean Europe/Berlin?" --count --window tumbling:1d --timezone Europe/Berln
  refused 2 'a time zone is for windows of whole days' --count --window tumbling:1h --timezone Europe/Berlin
  refused 2 '--grace is for windows: give a --window' --count --grace 1s
  refused 2 '--late is for windows: give a --window' --count --late x
  for name in ../x .. 'per user'; do
    refused 2 "--store '$name' needs a name of letters" --count --store "$name"
    refused 2 "--store '$name' needs a name of letters" -b k:1 -i t --by .x --count --store "$name"
  done
  refused 2 '--output ^x: a pattern can only be read' -b k:1 -i t --count -o '^x'
  refused 2 '--dead-letter ^x: a pattern can only be read' -b k:1 -i t --count --dead-letter '^x'
  refused 3 '--sum: ' --sum '.a +'
  refused 2 '--emit final with --app' -b localhost:1 -i t -G app --count --emit final
}

@test "agg: --explain shows the stages, and where a repartition is not needed" {
  try 0 kstream-agg -b k:1 -i orders -G sums --by .user --sum total=.amount --explain
  assert_line '  group   group  from in'
  assert_line '  sink    repartition  from group: repartition topic agg'
  assert_line '  aggregate agg  from grouped: store agg'
  assert_line 'internal topic: sums-agg-repartition (repartition)'
  for by in '' '$key'; do
    try 0 kstream-agg -b k:1 -i orders -G sums ${by:+--by "$by"} --count --explain
    refute_output --partial repartition
    assert_line 'internal topic: sums-agg-changelog (changelog)'
  done
  try 0 kstream-agg -b k:1 -i orders -G sums -k .user --count --store per-user --explain
  assert_line 'internal topic: sums-per-user-repartition (repartition)'
  try 0 kstream-agg -b k:1 -i orders --by .user --grouper single --count --explain
  refute_output --partial repartition
  try 0 kstream-agg -i orders --by .user --count --explain
  refute_output --partial repartition
}

@test "agg: --print-spec leaves the repartition to whoever runs it" {
  try 0 kstream-agg -b k:1 -i orders -o sums -G app --by .user --count --sum total=.amount --print-spec
  assert_equal "$(jq -c .nodes.agg <<<"$output")" \
    '{"from":"in","aggregate":{"by":".user","count":{"count":null},"sum":{"total":".amount"},"emit":"update"},"store":"agg"}'
  assert_equal "$(jq -c '.nodes | keys_unsorted' <<<"$output")" '["in","agg","out"]'
}

@test "agg: on disk without an application, with the same rows, and nothing is left" {
  orders
  try 0 kstream-agg -i orders --by .user --count --store-type rocksdb --state-dir state
  assert_output '{"key":"u1","count":3}
{"key":"u2","count":1}'
  assert_equal "$(find state -mindepth 1)" ''
  try 5 kstream-agg -i orders --by .user --sum .coupon --store-type rocksdb --state-dir state
  assert_equal "$(find state -mindepth 1)" ''
}

@test "agg: with an application the rows stay on disk" {
  orders
  try 0 kstream-agg -G app -i orders --by .user --count --store-type rocksdb --state-dir state
  assert [ -e state/app/agg/0/CURRENT ]
}

# Rows of a table as lines of envelopes: KEY VALUE, where - deletes.
rows() {
  local key value
  while read -r key value; do
    if [[ $value == - ]]; then
      echo "{\"key\":\"$key\",\"payload\":null}"
    else
      echo "{\"key\":\"$key\",\"value\":$value}"
    fi
  done
}

people() {
  rows >people <<'END'
ann {"team":"red","age":30,"pay":0.1}
bob {"team":"red","age":40,"pay":0.2}
cy {"team":"blue","age":50,"pay":7}
ann {"team":"blue","age":31,"pay":0.3}
bob -
dan {"team":null}
END
}

@test "agg: --table counts rows as they are now" {
  people
  try 0 kstream-agg -i people --in envelope --table --by .team --count --sum .pay --avg .age \
    --min .age --max .age --collect .age --collect-set .age --distinct .age
  assert_output '{"key":"blue","count":2,"sum":7.3,"avg":40.5,"min":31,"max":50,"collect":[31,50],"collect_set":[31,50],"distinct":2}
{"key":"red","count":0,"sum":0,"avg":null,"min":null,"max":null,"collect":[],"collect_set":null,"distinct":null}'
  assert_stderr_is '% group: left out 1 without a key and 0 without a value
% kstream-agg: 6 read, 2 written, 0 skipped'
}

@test "agg: --table takes a row out of its group before it is in another" {
  people
  try 0 kstream-agg -i people --in envelope --table --by .team --count --emit change
  assert_output '{"key":"red","count":1}
{"key":"red","count":2}
{"key":"blue","count":1}
{"key":"red","count":1}
{"key":"blue","count":2}
{"key":"red","count":0}'
}

@test "agg: --table, a fold that --sub undoes" {
  people
  try 0 kstream-agg -i people --in envelope --table --by .team \
    --init '[]' --add '$acc + [.age] | sort' --sub '$acc - [.age]' --as ages
  assert_output '{"key":"blue","ages":[31,50]}
{"key":"red","ages":[]}'
}

@test "agg: --table, by the row's own key" {
  rows >in <<'END'
a 1
a 2
b 3
b -
END
  try 0 kstream-agg -i in --in envelope --table --sum .
  assert_output '{"key":"a","sum":2}
{"key":"b","sum":0}'
}

@test "agg: --table, a row that is refused counts as none" {
  rows >in <<'END'
a {"g":1,"n":5}
a {"g":1,"n":"x"}
a {"g":1,"n":7}
END
  try 0 kstream-agg -i in --in envelope --table --by .g --count --sum .n --on-error skip --emit change
  assert_output '{"key":"1","count":1,"sum":5}
{"key":"1","count":0,"sum":0}
{"key":"1","count":1,"sum":7}'
  assert_counts kstream-agg 3 3 1
}

@test "agg: --table, partitions and threads change no result" {
  jq -nc 'range(20000) | {key: "k\(. * 7919 % 500)", value: {g: "g\(. % 41)", n: (. / 8)}}' >in
  kstream-agg -i in --in envelope --table --by .g --count --sum .n --max .n >one 2>err
  jq -sc 'map({(.key): .value}) | add | [.[]] | group_by(.g)[] |
    {key: .[0].g, count: length, sum: (map(.n) | add), max: (map(.n) | max)}' in >truth
  assert_equal "$(jq -c 'select(.count > 0)' one)" "$(cat truth)"
  for threads in 1 4; do
    kstream-agg -i in --in envelope --table --by .g --count --sum .n --max .n --partitions 5 \
      -j "$threads" 2>>err | sort >"five-$threads"
    sort one | cmp - "five-$threads"
  done
}

@test "agg: --table refuses what cannot be undone" {
  refused() {
    local what=$1
    shift
    try 2 kstream-agg --table "$@" </dev/null
    assert_one_error "kstream-agg: error: $what"
    assert_output ''
  }
  refused '--first goes by arrival, which cannot be undone' --first .x
  refused '--last goes by arrival, which cannot be undone' --last .x
  refused 'a fold of a table needs --sub' --init 0 --add '$acc + 1'
  refused '--window contradicts --table' --count --window tumbling:1s
  refused '--sub undoes a fold: give --init and --add' --count --sub '$acc'
  try 2 kstream-agg --init 0 --add '$acc' --sub '$acc' </dev/null
  assert_one_error 'kstream-agg: error: --sub undoes rows of a table: give --table'
}

@test "agg: --table, --explain and --print-spec" {
  try 0 kstream-agg -b k:1 -i people -G app --table --by .team --count --explain
  assert_line '  group   group  from in: store agg-rows'
  assert_line 'internal topic: app-agg-rows-changelog (changelog)'
  assert_line 'internal topic: app-agg-repartition (repartition)'
  refute_line --partial agg-rows-repartition
  try 0 kstream-agg -b k:1 -i people -G app --table --count --explain
  refute_line --partial repartition
  try 0 kstream-agg -b k:1 -i people -G app --table -k .id --by .team --count --explain
  assert_line 'internal topic: app-agg-rows-repartition (repartition)'
  try 0 kstream-agg -b k:1 -i people -o out -G app --table --by .team \
    --init 0 --add '$acc + 1' --sub '$acc - 1' --print-spec
  assert_equal "$(jq -c .nodes.agg <<<"$output")" \
    '{"from":"in","aggregate":{"table":true,"by":".team","init":"0","add":"$acc + 1","sub":"$acc - 1","as":"value","emit":"update"},"store":"agg"}'
}

# living RECORD...: counts of records "group@ms" whose rows live for 10 ms, as they change: group=count@ms,
# or group gone@ms.
living() {
  local record
  for record; do printf '{"k":"%s","t":%s}\n' "${record%@*}" "${record#*@}"; done |
    kstream-agg --by .k --timestamp .t --ttl 10ms --count --emit change -J |
    jq -r 'if .value then "\(.key)=\(.value.count)@\(.ts)" else "\(.key) gone@\(.ts)" end' | paste -sd,
}

# The rows of the table in share/doc/kstream/aggregates.md.
@test "agg: --ttl: a row that is not touched for so long is no more" {
  try 0 living a@0 b@9 a@10
  assert_output 'a=1@0,b=1@9,a gone@10,a=1@10'
  try 0 living a@0 a@9 b@18 b@19
  assert_output 'a=1@0,a=2@9,b=1@18,a gone@19,b=2@19'
  try 0 living a@20 b@11 c@10
  assert_output 'a=1@20,b=1@11'
  assert_stderr_has 'agg: 1 came late, when their rows had expired or would have: a longer --ttl takes them'
  try 0 living a@15 b@20 a@0
  assert_output 'a=1@15,b=1@20,a=2@15'
  try 0 living b@1 a@1 c@0 z@500
  assert_output 'b=1@1,a=1@1,c=1@0,c gone@10,a gone@11,b gone@11,z=1@500'
}

@test "agg: --ttl: final rows are those that live, and a store has no others" {
  printf '%s\n' '{"k":"a","t":1000}' '{"k":"b","t":1900}' '{"k":"c","t":2500}' >in
  stage() { kstream-agg -q -i in --by .k --timestamp .t --ttl 1s --count "$@"; }
  try 0 stage
  assert_output '{"key":"b","count":1}
{"key":"c","count":1}'
  try 0 stage --store-type rocksdb
  assert_output '{"key":"b","count":1}
{"key":"c","count":1}'
  try 0 stage -G living --state-dir state
  try 0 kstream-inspect-state -q -G living --state-dir state scan
  assert_equal "$(jq -r .key <<<"$output" | paste -sd' ')" 'b c'
}

@test "agg: --ttl: wrong use" {
  try 2 kstream-agg -i /dev/null --count --ttl 0s
  assert_one_error '--ttl must be longer than 0'
  try 2 kstream-agg -i /dev/null --count --ttl 1s --window tumbling:1s
  assert_one_error '--ttl is for rows without windows: --retention keeps those of windows'
  try 2 kstream-agg -i /dev/null --table --count --ttl 1s
  assert_one_error '--ttl contradicts --table: rows of a table are there until it deletes them'
  try 5 kstream-agg --count --by .k --ttl 1s <<<'{"k":1}'
  assert_stderr_has 'stdin:1: it has no time: say with --timestamp what its time is'
}
