#!/usr/bin/env bats
# kstream-agg --window on files. The tables of share/doc/kstream/windows.md, row by row.
load helper

# at RECORD...: lines for records "group@ms".
at() {
  local record
  for record; do printf '{"k":"%s","t":%s}\n' "${record%@*}" "${record#*@}"; done
}

# counted WINDOW RECORD... [-- OPTION...]: counts by group and window; rows as group[start,end)=count.
counted() {
  local window=$1 records=()
  shift
  while (($#)) && [[ $1 != -- ]]; do
    records+=("$1")
    shift
  done
  (($#)) && shift
  at "${records[@]}" |
    kstream-agg --by .k --timestamp .t --window "$window" --count "$@" |
    jq -r '"\(.key)[\(.window_start),\(.window_end))=\(.count)"' | paste -sd' '
}

@test "windows: a record belongs to a window that is open, to the millisecond (WIN-1)" {
  local records=(A@1000 A@9999 A@10000 A@9998 B@5000)
  try 0 counted tumbling:10s "${records[@]}" -- --late late
  assert_output 'A[0,10000)=2 A[10000,20000)=1'
  assert_stderr_has 'agg: 2 came late'
  assert_equal "$(cat late)" '{"k":"A","t":9998}
{"k":"B","t":5000}'
  try 0 counted tumbling:10s "${records[@]}" -- --grace 1ms
  assert_output 'A[0,10000)=3 B[0,10000)=1 A[10000,20000)=1'
  assert_stderr_is '% kstream-agg: 5 read, 3 written, 0 skipped'
  try 0 counted tumbling:10s "${records[@]}" A@10001 A@9997 -- --grace 1ms --late late
  assert_output 'A[0,10000)=3 B[0,10000)=1 A[10000,20000)=2'
  assert_equal "$(cat late)" '{"k":"A","t":9997}'
}

@test "windows: the end of a file closes all, each once (WIN-5)" {
  for _ in 1 2; do
    try 0 counted tumbling:10s A@1000 A@2000 A@11000
    assert_output 'A[0,10000)=2 A[10000,20000)=1'
  done
}

@test "windows: a jump loses none" {
  try 0 counted tumbling:1s a@0 a@1500 a@900000
  assert_output 'a[0,1000)=1 a[1000,2000)=1 a[900000,901000)=1'
}

@test "windows: hopping ones overlap, and a record is in those that are open" {
  try 0 counted hopping:10s/5s a@12000 a@9000 a@4999 a@30000
  assert_output 'a[5000,15000)=2 a[10000,20000)=1 a[25000,35000)=1 a[30000,40000)=1'
  assert_stderr_has 'agg: 1 came late'
  try 0 counted hopping:10s/5s b@6000 a@7000 c@1000 a@40000
  assert_output --partial 'a[0,10000)=1 b[0,10000)=1 c[0,10000)=1 a[5000,15000)=1 b[5000,15000)=1 a[35000,'
}

@test "windows: days of a time zone" {
  # 2024-03-31 has 23 hours in Berlin, 2024-10-27 has 25.
  try 0 counted tumbling:1d a@1711839599999 a@1711839600000 a@1711922399999 a@1711922400000 -- --timezone Europe/Berlin
  assert_output 'a[1711753200000,1711839600000)=1 a[1711839600000,1711922400000)=2 a[1711922400000,1712008800000)=1'
  try 0 counted tumbling:1d a@1729980000000 a@1730069999999 a@1730070000000 -- --timezone Europe/Berlin
  assert_output 'a[1729980000000,1730070000000)=2 a[1730070000000,1730156400000)=1'
  try 0 counted tumbling:1d a@1711839600000 -- --timezone UTC
  assert_output "$(counted tumbling:1d a@1711839600000)"
}

@test "windows: --emit change, every and update are tables by group and start" {
  at a@1000 b@2000 a@3000 a@10000 >in
  agg() { kstream-agg -i in --by .k --timestamp .t --window tumbling:10s --count -f '%k %s\n' "$@"; }
  try 0 agg --emit change
  assert_output '["a",0] {"key":"a","window_start":0,"window_end":10000,"count":1}
["b",0] {"key":"b","window_start":0,"window_end":10000,"count":1}
["a",0] {"key":"a","window_start":0,"window_end":10000,"count":2}
["a",10000] {"key":"a","window_start":10000,"window_end":20000,"count":1}'
  for emit in every:1h update; do
    try 0 agg --emit $emit
    assert_output '["a",0] {"key":"a","window_start":0,"window_end":10000,"count":2}
["b",0] {"key":"b","window_start":0,"window_end":10000,"count":1}
["a",10000] {"key":"a","window_start":10000,"window_end":20000,"count":1}'
  done
  try 0 agg --emit final
  assert_line --index 0 'a {"key":"a","window_start":0,"window_end":10000,"count":2}'
}

@test "windows: a row has the largest time of its records" {
  at a@7000 a@3000 >in
  try 0 kstream-agg -i in --by .k --timestamp .t --window tumbling:10s --count -f '%k %T\n'
  assert_output 'a 7000'
}

@test "windows: the same bytes for every number of threads, and on disk" {
  seq 0 19999 | jq -c '{k: "k\(. % 37)", t: (. * 10 + (. * 7919 % 2000))}' >in
  agg() { kstream-agg -q -i in --by .k --timestamp .t --window hopping:10s/2s --grace 1s --count --sum .t "$@"; }
  agg >one
  assert_equal "$(wc -l <one)" "$(jq -s 'unique_by([.key, .window_start]) | length' one)"
  for options in '-j 2' '-j 5' '--store-type rocksdb --state-dir state' '-G app --state-dir state'; do
    # shellcheck disable=SC2086  # two words
    agg $options >other
    cmp one other
  done
  agg --partitions 4 | sort >four
  agg --partitions 4 -j 3 | sort | cmp - four
}

@test "windows: a record without a time is bad" {
  try 5 piped '{"k":1}\n' kstream-agg --by .k --window tumbling:1s --count
  assert_stderr_has 'stdin:1: it has no time: say with --timestamp what its time is'
  try 0 piped '{"k":1,"t":1700000000000000}\n{"k":1,"t":5}\n' kstream-agg --by .k --timestamp .t --window tumbling:1s --count --on-error skip
  assert_output '{"key":"1","window_start":0,"window_end":1000,"count":1}'
  assert_stderr_has 'past the year 9999'
}

@test "windows: refusals say what to do" {
  refused() {
    local what=$1
    shift
    try 2 kstream-agg --count "$@" </dev/null
    assert_one_error "kstream-agg: error: $what"
    assert_output ''
  }
  refused "no aggregate can be called 'window_start'" --window tumbling:1m --sum window_start=.x
  refused '--close-at-end is for windows' --close-at-end
  refused '--idle-advance is for windows' --idle-advance 1s
  refused '--close-at-end needs --exit-at-end' -b localhost:1 -i t -G app --window tumbling:1m --close-at-end
  refused '--idle-advance: 0s is not longer than 0' --window tumbling:1m --idle-advance 0s
}

@test "windows: the plan and the file of a command say what they are" {
  try 0 kstream-agg -b k:1 -i t -G app --by .u --count --window hopping:1m/10s --grace 5s --late l --print-spec
  assert_equal "$(jq -c '.nodes.agg.aggregate' <<<"$output")" \
    '{"by":".u","count":{"count":null},"window":"hopping:60000ms/10000ms","grace":"5000ms","late":"agg-late","emit":"final"}'
  assert_equal "$(jq -c '.nodes.late' <<<"$output")" '{"from":"agg-late","sink":"topic:l"}'
}

# spans WINDOW RECORD... [-- OPTION...]: the same of sessions and sliding windows, whose ends are
# within: group[start..end]=count.
spans() { counted "$@" | sed 's/,\([0-9]*\))/..\1]/g'; }

@test "windows: sessions end where the next record is further than the gap" {
  try 0 spans session:10ms a@100 a@110 a@121
  assert_output 'a[100..110]=2 a[121..121]=1'
  try 0 spans session:10ms a@100 a@115 b@115
  assert_output 'a[100..100]=1 a[115..115]=1 b[115..115]=1'
}

@test "windows: a record bridges sessions, from before, from behind and between" {
  try 0 spans session:10ms a@100 a@120 a@110 -- --grace 1s
  assert_output 'a[100..120]=3'
  try 0 spans session:10ms a@100 a@121 a@110 -- --grace 1s
  assert_output 'a[100..110]=2 a[121..121]=1'
  try 0 spans session:10ms a@100 a@90 a@80 b@95 -- --grace 1s
  assert_output 'b[95..95]=1 a[80..100]=3'
}

@test "windows: a session closes when stream time is past its end by more than gap and grace" {
  try 0 spans session:10ms a@100 b@115 a@100 -- --grace 5ms --late late
  assert_output 'a[100..100]=2 b[115..115]=1'
  try 0 spans session:10ms a@100 b@116 a@100 -- --grace 5ms --late late
  assert_output 'a[100..100]=1 b[116..116]=1'
  assert_stderr_has 'agg: 1 came late'
  assert_equal "$(cat late)" '{"k":"a","t":100}'
}

@test "windows: a record that is too old for a session of its own joins one that is open" {
  try 0 spans session:10ms a@100 a@105 b@115 a@95 c@95
  assert_output 'a[95..105]=3 b[115..115]=1'
  assert_stderr_has 'agg: 1 came late'
}

@test "windows: rows of sessions that have grown or merged are withdrawn" {
  at a@100 a@120 a@110 >in
  agg() { kstream-agg -i in --by .k --timestamp .t --window session:10ms --grace 1s --count -f '%k %T=%s\n' "$@"; }
  try 0 agg --emit change
  assert_output '["a",100,100] 100={"key":"a","window_start":100,"window_end":100,"count":1}
["a",120,120] 120={"key":"a","window_start":120,"window_end":120,"count":1}
["a",100,100] 120=
["a",120,120] 120=
["a",100,120] 120={"key":"a","window_start":100,"window_end":120,"count":3}'
  for emit in every:1h update; do
    try 0 agg --emit $emit
    assert_output '["a",100,120] 120={"key":"a","window_start":100,"window_end":120,"count":3}'
  done
}

@test "windows: sessions that merge add up in the order of time" {
  printf '%s\n' '{"t":120,"v":3}' '{"t":100,"v":1}' '{"t":110,"v":2}' >in
  try 0 kstream-agg -i in -k '"a"' --timestamp .t --window session:10ms --grace 1s --first .v --last .v --collect .v
  assert_output '{"key":"a","window_start":100,"window_end":120,"first":1,"last":2,"collect":[1,3,2]}'
  try 2 kstream-agg -i in -k '"a"' --window session:10ms --init 0 --add '$acc + 1'
  assert_one_error 'a fold cannot be added up'
}

@test "windows: sliding ones end with a record, or begin after one" {
  try 0 spans sliding:10ms a@100 a@110 a@121
  assert_output 'a[90..100]=1 a[100..110]=2 a[101..111]=1 a[111..121]=1'
  try 0 spans sliding:10ms a@100 a@100
  assert_output 'a[90..100]=2'
  try 0 spans sliding:10ms a@3 a@5 a@12
  assert_output 'a[0..10]=2 a[2..12]=3 a[4..14]=2 a[6..16]=1'
}

@test "windows: a sliding one closes when stream time is past its end by more than grace" {
  try 0 spans sliding:10ms a@100 b@105 a@100 -- --grace 5ms
  assert_output 'a[90..100]=2 b[95..105]=1'
  try 0 spans sliding:10ms a@100 b@106 a@100 -- --grace 5ms
  assert_output 'a[90..100]=1 b[96..106]=1'
  try 0 spans sliding:10ms a@100 b@111 a@98 a@99 a@105
  assert_output 'a[90..100]=1 a[101..111]=1 b[101..111]=1'
  assert_stderr_has 'agg: 2 came late'
}

@test "windows: sessions and sliding ones: the same bytes for every number of threads, and on disk" {
  seq 0 9999 | jq -c '{k: "k\(. % 37)", t: (. * 10 + (. * 7919 % 2000))}' >in
  for window in session:300ms sliding:2s; do
    agg() { kstream-agg -q -i in --by .k --timestamp .t --window $window --grace 1s --count --sum .t "$@"; }
    agg >one
    for options in '-j 3' '--store-type rocksdb --state-dir state' '-G app --state-dir state'; do
      # shellcheck disable=SC2086  # two words
      agg $options >other
      cmp one other
    done
    agg --partitions 4 | sort >four
    agg --partitions 4 -j 3 | sort | cmp - four
  done
}
