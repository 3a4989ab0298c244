#!/usr/bin/env bats
# kstream-inspect-state on directories: what a run on files leaves, and what is refused.
load helper

# counted [OPTION...]: a count by user in the directory `state`, under the id "sums".
counted() {
  printf '%s\n' '{"user":"u1","ts":3}' '{"user":"u2","ts":9}' '{"user":"u1","ts":1}' >orders
  kstream-agg -i orders --timestamp .ts --by .user --count -G sums --state-dir state "$@" >/dev/null
}

inspect() { kstream-inspect-state --state-dir state "$@"; }

@test "inspect: a run on files leaves its rows to be looked at" {
  counted
  try 0 inspect -G sums scan
  assert_output '{"store":"agg","task":0,"key":"u1","value":{"count":2},"timestamp":3}
{"store":"agg","task":0,"key":"u2","value":{"count":1},"timestamp":9}'
  assert_stderr_is '% agg[0]: as of its last flush; no changelog record is in it'
  try 0 inspect -G sums get u2
  assert_output '{"store":"agg","task":0,"key":"u2","value":{"count":1},"timestamp":9}'
  # The next run begins with nothing.
  printf '{"user":"u3","ts":5}\n' >orders
  kstream-agg -i orders --timestamp .ts --by .user --count -G sums --state-dir state >/dev/null
  try 0 inspect -G sums scan
  assert_output '{"store":"agg","task":0,"key":"u3","value":{"count":1},"timestamp":5}'
}

@test "inspect: get finds a key in whichever task has it, and ends with 1 if none does" {
  counted --partitions 5
  try 0 inspect -G sums get u1 --store agg
  assert_equal "$(jq -c '[.key, .value.count]' <<<"$output")" '["u1",2]'
  task=$(jq .task <<<"$output")
  try 0 inspect -G sums get u1 --task "$task"
  try 1 inspect -G sums get u1 --task $(((task + 1) % 5))
  assert_output ''
  try 1 inspect -G sums get nobody
  assert_output ''
  assert_stderr_has 'kstream-inspect-state: error: there is no key nobody'
  try 1 inspect -G sums get u
}

@test "inspect: scan by prefix, by range, with a limit" {
  seq -w 0 99 | jq -cR '{user: "u\(.)"}' >orders
  kstream-agg -i orders --by .user --count -G sums --state-dir state >/dev/null 2>&1
  keys() { kstream-inspect-state --state-dir state -G sums scan "$@" 2>err | jq -r .key | paste -sd' '; }
  assert_equal "$(keys --prefix u4)" 'u40 u41 u42 u43 u44 u45 u46 u47 u48 u49'
  assert_equal "$(keys --from u97)" 'u97 u98 u99'
  assert_equal "$(keys --to u02)" 'u00 u01'
  assert_equal "$(keys --from u10 --to u13)" 'u10 u11 u12'
  assert_equal "$(keys --from u10 --limit 2)" 'u10 u11'
  assert_equal "$(keys --limit 0)" ''
  assert_equal "$(keys --prefix v)" ''
  try 0 inspect -G sums scan --prefix v
  # A reader that goes away is no failure.
  try 0 bash -o pipefail -c "kstream-inspect-state --state-dir state -G sums scan | head -1"
}

@test "inspect: keys and values that are no text are shown whole" {
  printf '%s\n' '{"key_b64":"/wA=","value":1}' '{"key":"a\"b","value":2}' '{"key":"","value":3}' |
    kstream-agg --in envelope -s key=b64 --last . -G sums --state-dir state >/dev/null 2>&1
  try 0 inspect -G sums scan
  assert_equal "$(jq -c '[.key, .key_b64]' <<<"$output")" '["",null]
["a\"b",null]
[null,"/wA="]'
}

@test "inspect: ls lists applications, then stores" {
  counted --partitions 2
  kstream-agg -i orders --by .user --count --store per-user -G sums-eu --state-dir state >/dev/null 2>&1
  try 0 inspect ls
  assert_output '{"app":"sums","instances":2,"locked_by":null}
{"app":"sums-eu","instances":1,"locked_by":null}'
  try 0 inspect -G sums-eu ls
  assert_equal "$(jq -c '[.store, .task, .rows, .engine, .format, .offset, .incarnation, .locked_by, .path]' <<<"$output")" \
    '["per-user",0,2,"rocksdb",1,0,"",null,"state/sums-eu/per-user/0"]'
  assert [ "$(jq '.bytes > 0 and .written > 1700000000000' <<<"$output")" = true ]
  try 0 inspect -G sums ls --pretty
  assert_line --index 0 --regexp '^store +task +rows +bytes +engine'
  assert_line --index 2 --regexp '^agg +1 '
  mkdir none
  try 0 kstream-inspect-state --state-dir none ls
  assert_output ''
}

@test "inspect: a directory in use is shown as such, and is read all the same" {
  counted
  flock -F state/sums/.lock sleep 60 3>&- &
  local holder=$!
  until ! flock -n -s state/sums/.lock true; do :; done
  try 0 inspect -G sums ls
  assert_equal "$(jq .locked_by <<<"$output" | grep -c process)" 1
  try 0 inspect -G sums get u1
  kill "$holder"
}

@test "inspect: stats are exact sums of each instance" {
  counted --partitions 2
  try 0 inspect -G sums stats
  assert_equal "$(jq -sc 'map(.rows) | add' <<<"$output")" 2
  assert_equal "$(jq -sc 'map(.key_bytes) | add' <<<"$output")" 4
  assert_equal "$(jq -sc 'map(.value_bytes) | add' <<<"$output")" 22
  assert_equal "$(jq -sc '[(map(.oldest | numbers) | min), (map(.newest | numbers) | max)]' <<<"$output")" '[3,9]'
}

@test "inspect: --pretty is for people, and no value can steer a terminal" {
  printf '%s\n' '{"key":"a\u001b[2Jb","value":{"n":1},"ts":0}' |
    kstream-agg --in envelope -s key=b64 --last . -G sums --state-dir state >/dev/null 2>&1
  try 0 inspect -G sums scan --pretty
  assert_line --index 1 --regexp '^agg\[0\]  [^ ]+  a\\u001b\[2Jb  '
  refute_output --partial $'\e'
}

@test "inspect: looking changes nothing" {
  counted
  find state -type f -exec md5sum {} + | sort >before
  inspect -G sums ls >/dev/null
  inspect -G sums scan >/dev/null 2>&1
  inspect -G sums stats >/dev/null 2>&1
  find state -type f -exec md5sum {} + | sort >after
  diff before after
}

@test "inspect: what is not there, damaged, or of a newer kstream ends with 6" {
  counted
  try 6 inspect -G other ls
  assert_one_error 'there is no state of application other'
  try 6 inspect -G sums get u1 --store nothing
  assert_one_error 'application sums has no store nothing here: it has agg'
  try 6 inspect -G sums scan --task 7
  assert_one_error 'store agg has no task 7 here'
  mkdir -p state/empty
  try 6 inspect -G empty scan
  assert_one_error 'application empty keeps no store here'
  for file in state/sums/agg/0/MANIFEST-*; do printf 'x' >"$file"; done
  for command in ls scan stats 'get u1'; do
    try 6 inspect -G sums $command
    assert_one_error 'state/sums/agg/0'
    assert_output ''
  done
}

@test "inspect: several stores must be told apart" {
  counted
  cp -r state/sums/agg state/sums/second
  try 2 inspect -G sums get u1
  assert_one_error 'application sums has several stores, say which with --store: agg, second'
  try 0 inspect -G sums get u1 --store second
  assert_equal "$(jq -r .store <<<"$output")" second
  try 0 inspect -G sums stats
  assert_equal "$(jq -sc 'map(.store)' <<<"$output")" '["agg","second"]'
}

@test "inspect: wrong use is refused with 2, and says what to do" {
  refused() {
    local what=$1
    shift
    try 2 kstream-inspect-state --state-dir state "$@"
    assert_one_error "kstream-inspect-state: error: $what"
    assert_output ''
  }
  refused 'COMMAND is missing: one of ls, get, scan, stats, history, dump, load, diff, verify, reset' -G sums
  refused "unknown command 'list': one of ls" -G sums list
  refused 'get needs KEY' -G sums get
  refused 'diff needs A and B' diff a
  refused 'load needs FILE' -G sums load
  refused 'diff is told its sides by name: app:ID, changelog:ID' -G sums diff a b
  refused 'history needs --brokers' -G sums history u1
  refused 'verify needs --brokers' -G sums verify
  refused 'a changelog needs --brokers' diff changelog:sums d
  refused 'both sides are stdin' diff - -
  refused 'nowhere: cannot be read: ' -G sums load nowhere
  refused '--replace says nothing to dump' -G sums dump --replace
  refused "unexpected argument 'u2' of get" -G sums get u1 u2
  refused "unexpected argument 'u1' of scan" -G sums scan u1
  refused '--app says whose stores' get u1
  refused '--prefix says nothing to ls' -G sums ls --prefix u
  refused '--limit says nothing to get' -G sums get u1 --limit 1
  refused '--prefix contradicts --from and --to' -G sums scan --prefix u --to v
  refused "--task: '-1' is no number" -G sums scan --task -1
  refused "--limit: 'many' is no number" -G sums scan --limit many
  refused 'application "..": ' -G .. ls
  refused '--from-changelog needs --brokers' -G sums scan --from-changelog
  refused 'unknown flag --prefx: did you mean --prefix?' -G sums scan --prefx u
}

@test "inspect: stdout that cannot be written is an error" {
  [[ -e /dev/full ]] || skip 'no /dev/full'
  counted
  try 5 bash -c 'kstream-inspect-state --state-dir state -G sums scan >/dev/full'
  assert_stderr_has 'stdout: cannot be written'
}

@test "inspect: rows of windows show group and window, and are found by both" {
  printf '%s\n' '{"k":"b","t":1000}' '{"k":"a","t":2000}' '{"k":"a","t":6000}' >in
  kstream-agg -i in --by .k --timestamp .t --window hopping:10s/5s --count -G sums --state-dir state >/dev/null 2>&1
  rows() { inspect -q -G sums "$@" | jq -r '"\(.key)[\(.window_start),\(.window_end))=\(.value.count)"' | paste -sd' '; }
  assert_equal "$(rows scan)" 'a[0,10000)=2 b[0,10000)=1 a[5000,15000)=1'
  assert_equal "$(rows scan --at-window 12000)" 'a[5000,15000)=1'
  assert_equal "$(rows scan --at-window 1970-01-01T00:00:04.999Z)" 'a[0,10000)=2 b[0,10000)=1'
  assert_equal "$(rows get a)" 'a[0,10000)=2 a[5000,15000)=1'
  assert_equal "$(rows scan --from b)" 'b[0,10000)=1'
  try 0 inspect -q -G sums scan --limit 1
  assert_output '{"store":"agg","task":0,"key":"a","value":{"count":2},"window_start":0,"window_end":10000,"timestamp":6000}'
  try 0 inspect -q -G sums stats
  assert_equal "$(jq -c '[.rows, .windows, .key_bytes]' <<<"$output")" '[3,2,3]'
  try 0 inspect -q -G sums ls
  assert_equal "$(jq -c '[.rows, .windows]' <<<"$output")" '[4,2]'
  try 2 inspect -G sums scan --at-window yesterday
  assert_one_error "--at-window: 'yesterday' is no time: give ms since the epoch, or RFC 3339"
}

@test "inspect: --at-window finds sessions, and the moments of sliding windows" {
  printf '%s\n' '{"k":"a","t":1000}' '{"k":"a","t":2000}' '{"k":"b","t":9000}' >in
  stage() { kstream-agg -q -i in --by .k --timestamp .t --count -G sums --state-dir state --retention 1h "$@" >/dev/null 2>&1; }
  rows() { inspect -q -G sums "$@" | jq -r '"\(.key)[\(.window_start)..\(.window_end)]=\(.value.count)"' | paste -sd' '; }
  stage --window session:3s
  assert_equal "$(rows scan)" 'a[1000..2000]=2 b[9000..9000]=1'
  assert_equal "$(rows scan --at-window 2000)" 'a[1000..2000]=2'
  assert_equal "$(rows scan --at-window 2001)" ''
  stage --window sliding:3s
  assert_equal "$(rows scan --at-window 4000)" 'a[1000..1000]=1 a[2000..2000]=1'
  assert_equal "$(rows scan --at-window 4001)" 'a[2000..2000]=1'
}

@test "inspect: dump and load give back the same store, to the byte" {
  printf '%s\n' '{"key_b64":"/wA=","value":1}' '{"key":"a\"b","value":{"n": 1e400}}' '{"key":"","value":null}' |
    kstream-agg --in envelope -s key=b64 --last . -G sums --state-dir state >/dev/null 2>&1
  try 0 inspect -q -G sums dump
  assert_output '{"store":"agg","task":0,"key":"","value":{"last":{"last":null}},"timestamp":-1,"tasks":1}
{"store":"agg","task":0,"key":"a\"b","value":{"last":{"last":{"n":1e400}}},"timestamp":-1,"tasks":1}
{"store":"agg","task":0,"key_b64":"/wA=","value":{"last":{"last":1}},"timestamp":-1,"tasks":1}'
  inspect -q -G sums dump >dump
  try 0 inspect -G copy load dump
  assert_output '{"store":"agg","task":0,"target":"state/copy/agg/0","puts":3,"deletes":0,"same":0}'
  assert_stderr_is '% this is the plan, and nothing was changed: --execute does it'
  assert [ ! -e state/copy ]
  try 0 inspect -G copy load - --execute <dump
  assert_stderr_is '% the store of application copy is loaded'
  diff dump <(inspect -q -G copy dump)
  try 0 inspect diff state/sums state/copy
  assert_output ''
  # What is there already is not written again; what is not given stays, unless all is replaced.
  head -n 1 dump >one
  try 0 inspect -q -G copy load one
  assert_output '{"store":"agg","task":0,"target":"state/copy/agg/0","puts":0,"deletes":0,"same":1}'
  try 0 inspect -q -G copy load one --replace --execute
  assert_output '{"store":"agg","task":0,"target":"state/copy/agg/0","puts":0,"deletes":2,"same":1}'
  diff one <(inspect -q -G copy dump)
}

@test "inspect: load refuses what would make a wrong store, and names the line" {
  counted
  try 5 inspect -G sums load - --execute <<<'{"store":"agg","task":0,"value":1,"timestamp":1}'
  assert_one_error 'kstream-inspect-state: error: stdin:1: no "key" or "key_b64"'
  inspect -q -G sums scan | jq -c '.store = "other"' >other
  cat other <(inspect -q -G sums dump) >two
  try 8 inspect -G sums load two --execute
  assert_one_error 'two:3: it is of store agg, and others are of other'
  # Rows of windows are not those of an aggregate without.
  kstream-agg -q -i orders --timestamp .ts --by .user --count -G win --state-dir state --window tumbling:1s >/dev/null
  inspect -q -G win scan >scanned
  try 5 inspect -G win load scanned
  assert_one_error 'scanned:1: its key is that of a window'
  inspect -q -G win dump >dump
  try 8 inspect -G sums load dump --execute
  assert_one_error 'store agg has no windows, and the rows are of some'
  try 0 inspect -q -G sums get u1
  assert_equal "$(jq .value.count <<<"$output")" 2
  # Nor while somebody has the directory.
  inspect -q -G sums dump >dump
  flock -F state/sums/.lock sleep 60 3>&- &
  local holder=$!
  until ! flock -n -s state/sums/.lock true; do :; done
  try 6 inspect -G sums load dump --execute
  kill "$holder"
  assert_stderr_has 'state/sums'
}

@test "inspect: diff tells each row that two states have differently" {
  counted
  inspect -q -G sums dump >dump
  try 0 inspect diff state/sums dump
  assert_output ''
  assert_stderr_has '% 2 rows compared, no difference'
  jq -c 'if .key == "u1" then .value.count = 5 else empty end' dump >other
  echo '{"store":"agg","task":0,"key":"u9","payload":"no json","timestamp":7}' >>other
  try 1 inspect -q diff app:sums other
  assert_output '{"store":"agg","task":0,"key":"u1","a":{"value":{"count":2},"timestamp":3},"b":{"value":{"count":5},"timestamp":3}}
{"store":"agg","task":0,"key":"u2","a":{"value":{"count":1},"timestamp":9},"b":null}
{"store":"agg","task":0,"key":"u9","a":null,"b":{"payload":"no json","timestamp":7}}'
  assert_stderr_is 'kstream-inspect-state: error: 3 of 3 rows differ between app:sums and other'
  try 1 inspect -q diff state/sums/ other --task 0
  try 6 inspect diff state/sums other --store none
  assert_stderr_has 'neither side has a store none'
  try 6 inspect diff app:nobody other
  assert_one_error 'there is no state of application nobody'
}

@test "inspect: --pretty aligns columns, and shows times by the clocks of the place" {
  printf '%s\n' '{"user":"u1","ts":3}' '{"user":"\u00fcber","ts":9}' >orders
  kstream-agg -q -i orders --timestamp .ts --by .user --count -G sums --state-dir state >/dev/null
  try 0 env TZ=Asia/Tokyo kstream-inspect-state -q --state-dir state -G sums scan --pretty
  assert_output 'store   time                           key   window  value
agg[0]  1970-01-01T09:00:00.003+09:00  u1            {"count":1}
agg[0]  1970-01-01T09:00:00.009+09:00  über          {"count":1}'
  try 0 env TZ=UTC kstream-inspect-state -q --state-dir state -G sums stats --pretty
  assert_line --index 0 --regexp '^store +task +rows +key_bytes'
  assert_line --index 1 --regexp '^agg +0 .* 1970-01-01T00:00:00.003\+00:00 '
}
