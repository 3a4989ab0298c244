#!/usr/bin/env bats
# kstream-filter --unique-by on files. The tables of share/doc/kstream/unique.md, row by row.
load helper

# kept [OPTION...] -- RECORD...: which of the records "key@ms" are kept within 10 ms.
kept() {
  local options=() record
  while [[ $1 != -- ]]; do
    options+=("$1")
    shift
  done
  shift
  for record; do printf '{"k":"%s","t":%s}\n' "${record%@*}" "${record#*@}"; done |
    kstream-filter --unique-by .k --within 10ms --timestamp .t "${options[@]}" true |
    jq -r '"\(.k)@\(.t)"' | paste -sd' '
}

# assert_kept RESULT RECORD...
assert_kept() {
  try 0 kept -- "${@:2}"
  assert_output "$1"
}

@test "unique: the edges of times" {
  assert_kept 'a@100' a@100 a@100
  assert_kept 'a@100' a@100 a@110
  assert_kept 'a@100 a@111' a@100 a@111
  assert_kept 'a@100 a@116' a@100 a@108 a@116
  assert_kept 'a@110' a@110 a@100
  assert_kept 'a@110 a@99' a@110 a@99
  assert_kept 'a@100 a@115' a@100 a@115 a@108
  assert_kept 'a@100 b@120' a@100 b@120 a@100
  assert_stderr_is '% unique: left out 1 that repeat
% kstream-filter: 3 read, 2 written, 0 skipped'
}

@test "unique: what is out of order by more than --grace" {
  assert_kept 'a@100 b@121 a@100' a@100 b@121 a@100
  assert_stderr_has 'unique: kept 1 that came late: what they repeat may have been forgotten: a longer --grace remembers it'
  assert_kept 'a@100 b@121 a@100' a@100 b@121 a@100 a@100
  try 0 kept --grace 11ms -- a@100 b@121 a@100
  assert_output 'a@100 b@121'
  try 0 kept --grace 0s -- a@100 b@111 a@100
  assert_output 'a@100 b@111 a@100'
}

@test "unique: EXPR first, and what is dropped by either goes to --else" {
  printf '{"id":%s,"n":%s}\n' 1 5 1 50 2 60 1 70 null 80 null 90 >in
  try 0 kstream-filter -i in --timestamp 1000 --unique-by .id --within 1s --else rest '.n > 10'
  assert_output '{"id":1,"n":50}
{"id":2,"n":60}
{"id":null,"n":80}
{"id":null,"n":90}'
  assert_equal "$(cat rest)" '{"id":1,"n":5}
{"id":1,"n":70}'
  assert_stderr_is '% unique: left out 1 that repeat
% unique: kept 2 without a key to be unique by
% kstream-filter: 6 read, 6 written, 0 skipped'
}

@test "unique: tombstones and the bytes of what is kept" {
  printf '%s\n' '{"key":"a","ts":1,"value":{"x": 1.0}}' '{"key":"a","ts":2,"payload":null}' \
    '{"key":"b","ts":3,"payload":null,"headers":["h","1"]}' '{"key":"b","ts":4,"value":2}' >in
  try 0 kstream-filter -i in --in envelope -J --unique-by '$key' --within 1m true
  assert_equal "$(jq -c '[.key, .ts, .headers]' <<<"$output")" '["a",1,null]
["b",3,["h","1"]]'
  kstream-filter -q -i in --in envelope --unique-by '$key' --within 1m true >out
  assert_equal "$(cat out)" '{"x": 1.0}
null'
}

@test "unique: partitions, threads and the store's engine change no result" {
  jq -nc 'range(20000) | {id: (. * 7919 % 3001), t: (. * 10 + . * 31 % 400)}' >in
  one() { kstream-filter -q -i in --timestamp .t --unique-by .id --within 20s "$@" true 2>>err; }
  one >one
  assert [ "$(wc -l <one)" -gt 5000 ]
  one --store-type rocksdb --memory 8M --state-dir state | cmp - one
  for threads in 1 4; do
    one -k .t --partitions 5 -j "$threads" | sort >"five-$threads"
    sort one | cmp - "five-$threads"
  done
}

@test "unique: what is kept is in the store, by time and key" {
  printf '{"k":"%s","t":%d}\n' a 1000 a 1500 b 2000 >in
  kstream-filter -q -i in -G once --state-dir state --timestamp .t --unique-by .k --within 1s true >out 2>err
  try 0 kstream-inspect-state -q -G once --state-dir state scan
  assert_equal "$(jq -c '[.store, .key, .window_start, .window_end, .value[0].time, .value[0].offset]' <<<"$output")" \
    '["unique","a",1000,1500,1000,0]
["unique","b",2000,2500,2000,2]'
}

@test "unique: a plan, and where its records go" {
  plan=(kstream-filter -b k:1 -i in -o out -G once --unique-by)
  try 0 "${plan[@]}" '$key' --within 1s --explain true
  refute_line --partial repartition
  assert_line 'internal topic: once-unique-changelog (changelog)'
  try 0 "${plan[@]}" .id --within 1s --store seen --explain true
  assert_line 'internal topic: once-seen-repartition (repartition)'
  assert_line 'internal topic: once-seen-changelog (changelog)'
  try 0 "${plan[@]}" .id --within 1s --print-spec .ok
  assert_equal "$(jq -c .nodes.unique <<<"$output")" \
    '{"from":"filter","unique":{"by":".id","within":"1000ms"},"store":"unique"}'
}

@test "unique: wrong use" {
  refused() {
    local what=$1
    shift
    try 2 kstream-filter "$@" true </dev/null
    assert_one_error "kstream-filter: error: $what"
    assert_output ''
  }
  refused '--within is missing' --unique-by .x
  refused '--within must be longer than 0' --unique-by .x --within 0s
  refused '--within is for what is unique: give --unique-by' --within 1s
  refused '--store is for what is unique' --store x
  refused '--unique-by contradicts --table' --unique-by .x --within 1s --table
  refused "--store '/'" --unique-by .x --within 1s --store /
  try 2 kstream-filter -i /dev/null --partitions 2 --unique-by .x --within 1s --else rest .y
  assert_one_error 'told apart in two stages'
  try 5 kstream-filter --unique-by .x --within 1s true <<<'{"x":1}'
  assert_stderr_has "stdin:1: node 'unique': it has no time: say with --timestamp what its time is"
}
