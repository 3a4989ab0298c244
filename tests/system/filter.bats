#!/usr/bin/env bats
# kstream-filter on files: what is kept, and that it is kept untouched.
load helper

orders() {
  printf '%s\n' '{"id":1,"amount":50}' '{"id":2,"amount":500}' '{"id":3,"amount":100}' \
    '{"id":4,"amount":101}'
}

@test "filter: a file" {
  orders >orders.ndjson
  try 0 kstream-filter -i orders.ndjson '.amount > 100'
  assert_output '{"id":2,"amount":500}
{"id":4,"amount":101}'
  assert_stderr_is '% kstream-filter: 4 read, 2 written, 0 skipped'
}

@test "filter: stdin, by default and by name" {
  try 0 piped '{"a":1}\n{"a":2}\n' kstream-filter '.a == 2'
  assert_output '{"a":2}'
  assert_counts kstream-filter 2 1 0
  try 0 piped '{"a":1}\n{"a":2}\n' kstream-filter -i - -o - '.a == 2'
  assert_output '{"a":2}'
}

@test "filter: an empty input" {
  try 0 piped '' kstream-filter .a
  assert_output ''
  assert_stderr_is '% kstream-filter: 0 read, 0 written, 0 skipped'
}

@test "filter: a file to a file" {
  orders >orders.ndjson
  try 0 kstream-filter -i orders.ndjson -o big.ndjson '.amount > 100'
  assert_output ''
  assert_equal "$(cat big.ndjson)" '{"id":2,"amount":500}
{"id":4,"amount":101}'
}

@test "filter: file:PATH says that it is a file" {
  orders >orders.ndjson
  try 0 kstream-filter -b 127.0.0.1:1 -i file:orders.ndjson '.id == 1'
  assert_output '{"id":1,"amount":50}'
}

@test "filter: what it keeps it does not rewrite (JSON-3)" {
  printf '%s\n' '{"k":1, "v":2.0,"p":1.10,"e":1e2,"z":-0.0}' '{"z":1,"a":2,"u":"\u00e9","s":"a\/b"}' >kept
  (cat kept && echo '{"keep":false}') >in.ndjson
  kstream-filter -i in.ndjson '.keep != false' >out 2>err
  assert_equal "$(sha256sum <out)" "$(sha256sum <kept)"
  kstream-filter '.keep != false' <in.ndjson >out 2>err
  assert_equal "$(sha256sum <out)" "$(sha256sum <kept)"
  # The same by JsonLogic, and by a construct that only libjq has.
  kstream-filter '{"!==":[{"var":"keep"},false]}' <in.ndjson >out 2>err
  assert_equal "$(sha256sum <out)" "$(sha256sum <kept)"
  kstream-filter 'reduce .keep as $k (true; $k != false)' <in.ndjson >out 2>err
  assert_equal "$(sha256sum <out)" "$(sha256sum <kept)"
}

@test "filter: contains is about substrings, == is not (EXPR-1)" {
  printf '%s\n' '{"n":1,"tags":["prod"]}' '{"n":2,"tags":["preprod-eu"]}' '{"n":3,"tags":["dev"]}' >in
  try 0 kstream-filter -i in -f '%{.n}' '.tags|contains(["prod"])'
  assert_output 12
  try 0 kstream-filter -i in -f '%{.n}' 'any(.tags[]; .=="prod")'
  assert_output 1
  try 0 kstream-filter -i in -f '%{.n}' '.tags|index("prod")'
  assert_output 1
}

@test "filter: a record with several true outputs is kept once" {
  try 0 piped '{"a":[false,1,null,2]}\n{"a":[false,null]}\n{"a":[]}\n' kstream-filter '.a[]'
  assert_output '{"a":[false,1,null,2]}'
}

@test "filter: --not keeps the others" {
  try 0 piped '{"a":1}\n{"a":null}\n{}\n' kstream-filter --not .a
  assert_output '{"a":null}
{}'
  assert_counts kstream-filter 3 2 0
}

@test "filter: --else sends the rest elsewhere, and nothing gets lost" {
  orders >in
  try 0 kstream-filter -i in --else rest '.amount > 100'
  assert_output '{"id":2,"amount":500}
{"id":4,"amount":101}'
  assert_equal "$(cat rest)" '{"id":1,"amount":50}
{"id":3,"amount":100}'
  assert_counts kstream-filter 4 4 0
  try 0 kstream-filter -i in --else rest --not '.amount > 100'
  assert_equal "$(cat rest)" '{"id":2,"amount":500}
{"id":4,"amount":101}'
}

@test "filter: JsonLogic goes by its own truth (EXPR-4)" {
  printf '{"v":%s}\n' 0 '"0"' '""' '[]' '[0]' '{}' null '"false"' >in
  try 0 kstream-filter -i in '{"!!":[{"var":"v"}]}'
  assert_output '{"v":"0"}
{"v":[0]}
{"v":{}}
{"v":"false"}'
  try 0 kstream-filter -i in '{"var":"v"}'
  assert_output '{"v":"0"}
{"v":[0]}
{"v":{}}
{"v":"false"}'
}

@test "filter: JsonLogic on values that are no objects (EXPR-4)" {
  try 0 piped '0\nfalse\n""\n' kstream-filter '{"===":[{"var":""},0]}'
  assert_output 0
}

@test "filter: the names beside the value" {
  printf '%s\n' '{"u":"a"}' '{"u":"b"}' '{"u":null}' >in
  try 0 kstream-filter -i in -k .u '$key == "b"'
  assert_output '{"u":"b"}'
  try 0 kstream-filter -i in -k .u '$key == null'
  assert_output '{"u":null}'
  try 0 kstream-filter -i in '$offset == 1'
  assert_output '{"u":"b"}'
  try 0 kstream-filter -i in -k .u '{"==":[{"var":"$key"},"a"]}'
  assert_output '{"u":"a"}'
}

@test "filter: true alone passes all, false alone nothing" {
  try 0 piped '1\n2\n' kstream-filter true
  assert_output '1
2'
  try 0 piped '1\n2\n' kstream-filter false
  assert_output ''
  assert_counts kstream-filter 2 0 0
}

@test "filter: --limit stops after so many output records" {
  seq 1 100000 >in
  try 0 kstream-filter -i in -c 3 '. % 2 == 0'
  assert_output '2
4
6'
  try 0 kstream-filter -i in -c 0 true
  assert_output ''
  assert_counts kstream-filter 0 0 0
}

@test "filter: an expression that begins with a dash follows --" {
  try 0 piped '1\n0\n' kstream-filter -- '-. < 0'
  assert_output 1
}

# Rows of a table: KEY VALUE a line, - deletes.
rows() {
  local key value
  while read -r key value; do
    [[ $value == - ]] && echo "{\"key\":\"$key\",\"payload\":null}" || echo "{\"key\":\"$key\",\"value\":$value}"
  done
}

@test "filter: --table writes a tombstone for a row that does not match" {
  rows >in <<'END'
a { "n": 1 }
a {"n":5}
b {"n":5}
b -
c null
END
  try 0 kstream-filter -i in --in envelope --table '.n > 3' -J
  assert_equal "$(jq -c '[.key, .value, has("payload")]' <<<"$output")" '["a",null,true]
["a",{"n":5},false]
["b",{"n":5},false]
["b",null,true]
["c",null,true]'
}

@test "filter: --table, --not and --else: each row is a tombstone on one side" {
  rows >in <<'END'
a {"n":1}
a {"n":5}
a -
END
  try 0 kstream-filter -i in --in envelope --table --else rest '.n > 3' -o big -J
  assert_equal "$(jq -c '[.key, .value]' big)" '["a",null]
["a",{"n":5}]
["a",null]'
  assert_equal "$(jq -c '[.key, .value]' rest)" '["a",{"n":1}]
["a",null]
["a",null]'
  try 0 kstream-filter -i in --in envelope --table --not '.n > 3' -J
  assert_equal "$(jq -c .value <<<"$output")" '{"n":1}
null
null'
}

@test "filter: --table leaves out what has no key" {
  try 0 piped '{"n":5}\n' kstream-filter --table '.n > 3'
  assert_output ''
  assert_stderr_is '% filter: left out 1 without a key and 0 without a value
% kstream-filter: 1 read, 0 written, 0 skipped'
}
