#!/usr/bin/env bats
# kstream-join on files. The tables of share/doc/kstream/joins.md, row by row.
load helper

# sides LEFT... -- RIGHT...: the files left and right, of records "key@ms".
sides() {
  local file=left record
  : >left >right
  for record; do
    if [[ $record == -- ]]; then
      file=right
    else
      printf '{"k":"%s","t":%s}\n' "${record%@*}" "${record#*@}" >>$file
    fi
  done
}

# joined OPTION...: results of these files as key:left-right@time, a side that is missing as -.
joined() {
  local -
  set -o pipefail
  kstream-join -l left -r right --key .k --timestamp .t -f '%k %T %s\n' "$@" |
    sed -E 's/^([^ ]*) ([0-9]+) /\1 \2 /; s/\{"k":"[^"]*","t":([0-9]+)\}/\1/g
            s/^([^ ]*) ([0-9]+) \{"left":([^,]*),"right":([^}]*)\}/\1:\3-\4@\2/; s/null//g' |
    paste -sd' '
}

@test "join: edges are within, and each pair counts (JOIN-2)" {
  sides k1@10000 k2@10000 k3@10000 k4@10000 k5@20000 k5@20100 k6@10000 -- \
    k1@15000 k2@15001 k3@5000 k4@4999 k5@20000 k5@20001 k5@20002 k6@10000
  try 0 joined --within 5s --grace 60s
  assert_output "k1:10000-15000@15000 k3:10000-5000@10000 \
k5:20000-20000@20000 k5:20000-20001@20001 k5:20000-20002@20002 \
k5:20100-20000@20100 k5:20100-20001@20100 k5:20100-20002@20100 k6:10000-10000@10000"
  assert_stderr_is '% kstream-join: 15 read, 9 written, 0 skipped'
  try 0 joined --after 5s --grace 60s
  assert_output "k1:10000-15000@15000 k5:20000-20000@20000 k5:20000-20001@20001 \
k5:20000-20002@20002 k6:10000-10000@10000"
}

@test "join: what is missing or wrong is said, with its exit code" {
  sides a@1 -- a@1
  try 2 kstream-join -l left --within 5s
  assert_one_error '--right is missing: a join has two inputs'
  try 2 kstream-join -r right --within 5s
  assert_one_error '--left is missing: a join has two inputs'
  try 2 kstream-join -l left -r right
  assert_one_error '--within is missing'
  try 2 joined --within 0s
  assert_one_error 'the window is empty'
  try 2 joined --within 5s --grace=-1s
  assert_one_error "--grace: '-1s' is not a duration"
  try 3 joined --within 5s --value '$lefty'
  assert_one_error 'there is no $lefty; did you mean $left?'
  try 2 joined --within 5s --table
  assert_one_error '--within contradicts --table'
  try 2 joined --tables --late late
  assert_one_error '--late contradicts --tables'
  try 2 joined --tables --table
  assert_one_error 'contradict each other'
  try 2 joined --table --type outer
  assert_one_error '--type outer contradicts --table'
  try 2 kstream-join -l left -r right --table --left-key .k
  assert_one_error '--right-key is missing'
  try 2 kstream-join -l left --table
  assert_one_error '--right is missing: a join has two inputs'
  try 2 kstream-join -l left -r gone -k .k --table
  assert_one_error 'gone'
  try 3 joined --table --value '$rights'
  assert_one_error 'there is no $rights; did you mean $right?'
  try 5 kstream-join -l left -r right --within 5s
  assert_stderr_has 'it has no time'
}

# arriving RECORD... -- OPTION...: l@TIME and r@TIME of one key in this order of arrival, and x@TIME
# of another, which comes in the same input as the record behind it. Results as LEFT-RIGHT@TIME.
arriving() {
  local records=() left=() right=() i record
  while (($#)) && [[ $1 != -- ]]; do
    records+=("$1")
    shift
  done
  shift
  for ((i = ${#records[@]} - 1; i >= 0; i--)); do
    record=${records[i]}
    [[ $record == x* ]] || side=${record%@*}
    if [[ $record == x* ]]; then record=x@${record#*@}; else record=k@${record#*@}; fi
    if [[ $side == l ]]; then left=("$record" "${left[@]}"); else right=("$record" "${right[@]}"); fi
  done
  sides "${left[@]}" -- "${right[@]}"
  joined "$@" | tr ' ' '\n' | sed -n 's/^k://p' | paste -sd' '
}

# row WIDTH RECORD... -- INNER LEFT OUTER: a row of the table, with windows of 5 s.
row() {
  local records=() grace=$1
  shift
  while [[ $1 != -- ]]; do
    records+=("$1")
    shift
  done
  shift
  for type in inner left outer; do
    try 0 arriving "${records[@]}" -- --within 5s --grace "$grace" --type $type
    assert_equal "$type: $output" "$type: $1"
    shift
  done
}

@test "join: what comes out, for each order of arrival" {
  row 0s l@1000 r@3000 -- 1000-3000@3000 1000-3000@3000 1000-3000@3000
  row 0s r@1000 l@3000 -- 3000-1000@3000 3000-1000@3000 3000-1000@3000
  row 0s l@1000 r@6000 -- 1000-6000@6000 1000-6000@6000 1000-6000@6000
  row 0s l@1000 r@6001 -- '' 1000-@1000 '1000-@1000 -6001@6001'
  row 0s r@1000 l@6001 -- '' 6001-@6001 '-1000@1000 6001-@6001'
  row 0s l@1000 x@6000 r@3000 -- 1000-3000@3000 1000-3000@3000 1000-3000@3000
  row 0s l@1000 x@6001 r@3000 -- 1000-3000@3000 1000-@1000 '1000-@1000 -3000@3000'
  row 0s r@1000 x@6001 l@3000 -- 3000-1000@3000 3000-1000@3000 '-1000@1000 3000-@3000'
  local four='1000-1000@1000 1000-1000@1000 1000-1000@1000 1000-1000@1000'
  row 0s l@1000 r@1000 l@1000 r@1000 -- "$four" "$four" "$four"
  local both='1000-3000@3000 1000-4000@4000'
  row 0s l@1000 r@3000 x@6001 r@4000 -- "$both" "$both" "$both"
  row 0s x@20000 l@1000 -- '' 1000-@1000 1000-@1000
  row 0s x@20000 r@1000 -- '' '' -1000@1000
  row 1s l@1000 x@7000 r@3000 -- 1000-3000@3000 1000-3000@3000 1000-3000@3000
  row 1s l@1000 x@7001 r@3000 -- 1000-3000@3000 1000-@1000 '1000-@1000 -3000@3000'
}

@test "join: --prior and --latest" {
  # prior RECORD... -- GRACE PRIOR LATEST
  prior() {
    local records=()
    while [[ $1 != -- ]]; do
      records+=("$1")
      shift
    done
    try 0 arriving "${records[@]}" -- --within 5s --grace "$2" --prior
    assert_output "$3"
    try 0 arriving "${records[@]}" -- --within 5s --grace "$2" --prior --latest
    assert_output "$4"
  }
  prior r@1000 r@2000 l@3000 -- 0s '3000-1000@3000 3000-2000@3000' 3000-2000@3000
  prior r@3000 l@3000 -- 0s '' ''
  prior l@3000 x@3000 r@1000 -- 0s 3000-1000@3000 ''
  prior l@3000 x@3000 r@1000 -- 1s 3000-1000@3000 3000-1000@3000
}

@test "join: what is late is counted, and written as it came" {
  sides x@20000 k@1000 -- x@20000 k@2000
  try 0 joined --within 5s --late late
  assert_output x:20000-20000@20000
  assert_stderr_has 'join: 2 came late'
  assert_equal "$(cat late)" 'k 1000 {"k":"k","t":1000}
k 2000 {"k":"k","t":2000}'
  try 0 joined --within 5s --type left --late late
  assert_output 'k:1000-@1000 x:20000-20000@20000'
  assert_equal "$(cat late)" 'k 2000 {"k":"k","t":2000}'
}

@test "join: null keys and null values match nothing, and are counted" {
  echo '{"key":null,"value":1,"ts":5}
{"key":"k","payload":null,"ts":5}' >left
  cp left right
  nulls() { kstream-join -l left -r right --in envelope --within 5s "$@"; }
  try 0 nulls
  assert_output ''
  assert_stderr_has 'join: left out 2 without a key and 2 without a value'
  try 0 nulls --type left
  assert_output '{"left":1,"right":null}'
  try 0 nulls --type outer
  assert_output '{"left":1,"right":null}
{"left":null,"right":1}'
}

@test "join: a run in which nothing matched says so" {
  sides 42@1 -- a@1
  try 0 joined --within 5s
  assert_output ''
  assert_stderr_has 'nothing matched: none of 1 left and 1 right records'
  assert_stderr_has 'a left one is 42, a right one a'
}

@test "join: keys by expressions, results by --value" {
  echo '{"id":7,"t":1}' >left
  echo '{"of":"7","t":3}' >right
  try 0 kstream-join -l left -r right --timestamp .t --left-key .id --right-key .of --within 5ms \
    --value '{k: $key, t: ($left.t + $right.t)}' -J
  assert_output '{"tstype":"create","ts":3,"key":"7","value":{"k":"7","t":4}}'
  try 0 kstream-join -l left -r right --timestamp .t --left-key .id --right-key .of --within 5ms \
    --value 'if $left.t > 5 then $left else empty end'
  assert_output ''
}

@test "join: the same bytes for every -j, and with --partitions the same set" {
  for i in {1..400}; do printf '{"k":%s,"t":%s}\n' $((i * 7 % 13)) $((i * 10 - i * i % 90)); done >left
  for i in {1..400}; do printf '{"k":%s,"t":%s}\n' $((i * 5 % 13)) $((i * 10 - i * i % 70)); done >right
  many() {
    kstream-join -q -l left -r right --key .k --timestamp .t --within 50ms --grace 50ms \
      --type outer "$@"
  }
  many >one
  assert [ "$(wc -l <one)" -gt 400 ]
  for threads in 1 2 8; do
    many -j $threads | cmp - one
    many -j $threads --store-type rocksdb | cmp - one
    many -j $threads --partitions 4 | sort >four
    if [[ -s previous ]]; then cmp four previous; fi
    mv four previous
  done
}

# of_tables RECORD... -- OPTION...: as arriving, of records with keys of their own, where -l@TIME and
# -r@TIME delete the row. Results as LEFT-RIGHT@TIME, or gone@TIME.
of_tables() {
  local -
  set -o pipefail
  : >left
  : >right
  while [[ $1 != -- ]]; do
    local side=left time=${1#*@} is='"value":{"t":'
    [[ $1 == *r@* ]] && side=right
    if [[ $1 == -* ]]; then is='"payload":null'; else is+="$time}"; fi
    printf '{"key":"k","ts":%s,%s}\n' "$time" "$is" >>$side
    shift
  done
  shift
  kstream-join -q -l left -r right --in envelope -f '%T %s\n' "$@" |
    sed -E 's/\{"t":([0-9]+)\}/\1/g; s/^([0-9]+) \{"left":([^,]*),"right":([^}]*)\}/\2-\3@\1/
            s/null//g; s/^([0-9]+) $/gone@\1/' | paste -sd' '
}

# expect RECORD... -- FLAG RESULT...: a row of the table, for --type inner, left, and so on.
expect() {
  local records=()
  while [[ $1 != -- ]]; do
    records+=("$1")
    shift
  done
  local flag=$2 type types=(inner left outer)
  shift 2
  for type in "${types[@]:0:$#}"; do
    try 0 of_tables "${records[@]}" -- "$flag" --type "$type"
    assert_equal "${records[*]} $type: $output" "${records[*]} $type: $1"
    shift
  done
}

@test "join: with a table, what comes out for each order of arrival" {
  expect l@1000 r@3000 -- --table '' 1000-@1000
  expect r@1000 l@3000 -- --table 3000-1000@3000 3000-1000@3000
  expect l@1000 r@1000 -- --table 1000-1000@1000 1000-1000@1000
  expect r@1000 r@2000 l@3000 -- --table 3000-2000@3000 3000-2000@3000
  expect r@1000 -r@2000 l@3000 -- --table '' 3000-@3000
  expect r@3000 l@2000 -- --table '' 2000-@2000
  expect l@1000 r@2000 l@3000 l@4000 -- --table '3000-2000@3000 4000-2000@4000' \
    '1000-@1000 3000-2000@3000 4000-2000@4000'
  expect r@3000 r@1000 l@4000 -- --table 4000-1000@4000 4000-1000@4000
  expect r@1000 l@3000 l@2000 -- --table '3000-1000@3000 2000-1000@2000' \
    '3000-1000@3000 2000-1000@2000'
}

@test "join: of tables, what comes out for each order of arrival" {
  expect l@1000 r@3000 -- --tables 1000-3000@3000 '1000-@1000 1000-3000@3000' \
    '1000-@1000 1000-3000@3000'
  expect r@1000 l@3000 -- --tables 3000-1000@3000 3000-1000@3000 '-1000@1000 3000-1000@3000'
  expect l@1000 r@2000 l@3000 -- --tables '1000-2000@2000 3000-2000@3000' \
    '1000-@1000 1000-2000@2000 3000-2000@3000' '1000-@1000 1000-2000@2000 3000-2000@3000'
  expect l@1000 r@2000 -r@3000 -- --tables '1000-2000@2000 gone@3000' \
    '1000-@1000 1000-2000@2000 1000-@3000' '1000-@1000 1000-2000@2000 1000-@3000'
  expect l@1000 r@2000 -l@3000 -- --tables '1000-2000@2000 gone@3000' \
    '1000-@1000 1000-2000@2000 gone@3000' '1000-@1000 1000-2000@2000 -2000@3000'
  expect l@1000 -l@2000 r@3000 -- --tables '' '1000-@1000 gone@2000' \
    '1000-@1000 gone@2000 -3000@3000'
  expect r@1000 -r@2000 l@3000 -- --tables '' 3000-@3000 '-1000@1000 gone@2000 3000-@3000'
  expect -l@1000 -r@2000 -- --tables '' '' ''
}

@test "join: without times a table is read before the stream" {
  printf '%s\n' '{"u":1,"n":"a"}' '{"u":2,"n":"b"}' '{"u":1,"n":"c"}' >right
  printf '%s\n' '{"of":2}' '{"of":1}' '{"of":3}' >left
  try 0 kstream-join -q -l left -r right --table --left-key .of --right-key .u --value '[$key,$right.n]'
  assert_output '["2","b"]
["1","c"]'
}

@test "join: a row of a table whose key changes, or that is deleted, is gone under the key it had" {
  printf '%s\n' '{"key":"a","ts":1,"value":{"id":7}}' '{"key":"a","ts":3,"value":{"id":8}}' \
    '{"key":"a","ts":5,"payload":null}' '{"ts":6,"value":{"id":9}}' >right
  printf '{"key":"x","ts":%s,"value":%s}\n' 2 7 4 7 4 8 5 8 7 9 >left
  rekeyed() {
    kstream-join -q -l left -r right --in envelope --left-key . --right-key .id \
      --value '[$left,$right.id]' -f '%T %s\n' "$@"
  }
  try 0 rekeyed --table
  assert_output '2 [7,7]
4 [8,8]
7 [9,9]'
  try 0 rekeyed --table --partitions 3
  assert_equal "$(sort <<<"$output")" '2 [7,7]
4 [8,8]
7 [9,9]'
}

@test "join: rows and records without a key are counted, and a table of such told" {
  printf '%s\n' '{"ts":1,"value":1}' '{"ts":2,"value":2}' >right
  printf '%s\n' '{"key":"k","ts":1,"value":1}' '{"ts":2,"value":2}' >left
  try 0 kstream-join -l left -r right --in envelope --table --type left
  assert_output '{"left":1,"right":null}
{"left":2,"right":null}'
  assert_stderr_has 'join: left out 3 without a key and 0 without a value'
  assert_stderr_has 'join: none of 2 right records has a key to be joined by'
  printf '%s\n' '{"key":"j","ts":1,"value":1}' >right
  try 0 kstream-join -l left -r right --in envelope --table
  assert_stderr_has "nothing matched: none of 1 left and 1 right records had equal keys when the left one's turn came"
  try 0 kstream-join -l left -r right --in envelope --tables
  assert_stderr_has 'nothing matched: none of 1 left and 1 right records had equal keys at the same time'
}

@test "join: of tables, the same bytes for every -j, and with --partitions the same set" {
  for i in {1..400}; do printf '{"k":%s,"t":%s}\n' $((i * 7 % 13)) $((i * 10 - i * i % 90)); done >left
  for i in {1..400}; do printf '{"k":%s,"t":%s}\n' $((i * 5 % 17)) $((i * 10 - i * i % 70)); done >right
  for kind in --table --tables; do
    many() { kstream-join -q -l left -r right --key .k --timestamp .t $kind --type left "$@"; }
    many >one
    assert [ "$(wc -l <one)" -ge 400 ]
    for threads in 1 2 8; do
      many -j $threads | cmp - one
      many -j $threads --store-type rocksdb | cmp - one
      many -j $threads --partitions 4 | sort >four
      sort one | cmp - four
    done
  done
}
