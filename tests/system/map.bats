#!/usr/bin/env bats
# kstream-map on files: values, keys, headers, tombstones.
load helper

@test "map: two fields, with their spelling" {
  try 0 piped '{"user":"u1","amount":1.50,"x":1}\n{"user":"\\u00e9","amount":12345678901234567890123}\n' \
    kstream-map '{user, amount}'
  assert_output '{"user":"u1","amount":1.50}
{"user":"\u00e9","amount":12345678901234567890123}'
  assert_stderr_is '% kstream-map: 2 read, 2 written, 0 skipped'
}

@test "map: the alternative operator (EXPR-1)" {
  try 0 piped '{"active":false}\n{"active":0}\n{"active":""}\n{"active":null}\n{}\n' \
    kstream-map '.active // "dflt"'
  assert_output '"dflt"
0
""
"dflt"
"dflt"'
  try 0 piped '{}\n' kstream-map '[(false,1,null,2)//0]'
  assert_output '[1,2]'
}

@test "map: none, one or many" {
  try 0 piped '{"i":[1,2]}\n{"i":[]}\n{"i":[3]}\n' kstream-map '.i[]'
  assert_output '1
2
3'
  assert_counts kstream-map 3 3 0
  try 0 piped '1\n2\n' kstream-map empty
  assert_output ''
  assert_counts kstream-map 2 0 0
}

@test "map: JsonLogic: missing, all, none, if (EXPR-4)" {
  printf '{"u":%s}\n' '""' null 0 false '[]' >in
  echo '{}' >>in
  try 0 kstream-map -i in '{"missing":["u"]}'
  assert_output '["u"]
["u"]
[]
[]
[]
["u"]'
  try 0 piped '{"u":"x"}\n{}\n' kstream-map '{"if":[{"missing":["u"]},"M","P"]}'
  assert_output '"P"
"M"'
  try 0 piped '{"a":[]}\n' kstream-map '{"all":[{"var":"a"},{">":[{"var":""},0]}]}'
  assert_output false
  try 0 piped '{"a":[]}\n' kstream-map '{"none":[{"var":"a"},{">":[{"var":""},0]}]}'
  assert_output true
  try 0 piped '{"a":[""]}\n' kstream-map '{"all":[{"var":"a"},{"!==":[{"var":""},""]}]}'
  assert_output false
  try 0 piped '{"a":""}\n' kstream-map '{"missing_some":[1,["a","b"]]}'
  assert_output '["a","b"]'
}

@test "map: an object that is no JsonLogic is jq" {
  try 0 piped '{"a":5}\n' kstream-map '{"n":0}'
  assert_output '{"n":0}'
}

@test "map: --set-key sees the value read, and the value made as \$out" {
  try 0 piped '{"u":"a","n":1}\n{"u":null,"n":2}\n{"u":42,"n":3}\n' \
    kstream-map --set-key .u -f '%k|%K|%s\n' .n
  assert_output 'a|1|1
|-1|2
42|2|3'
  try 0 piped '{"n":1}\n' kstream-map --set-key '$out + 1' -f '%k|%s\n' .n
  assert_output '2|1'
}

@test "map: --header adds headers, in order, behind those that were there" {
  try 0 piped '{"key":null,"headers":["a","0"],"value":{"x":"v"}}\n' \
    kstream-map --in envelope -J --header a=.x --header b='$out' --header c=null .
  assert_output --partial '"headers":["a","0","a","v","b","{\"x\":\"v\"}","c",null]'
}

@test "map: JSON null stays, a null payload passes unmapped, --tombstone makes one" {
  printf '%s\n' '{"key":"a","value":null}' '{"key":"b","payload":null}' '{"key":"c","value":1}' >in
  try 0 kstream-map --in envelope -i in -J '[.]'
  assert_line --index 0 --partial '"key":"a","value":[null]'
  assert_line --index 1 --partial '"key":"b","payload":null'
  assert_line --index 2 --partial '"key":"c","value":[1]'
  try 0 kstream-map --in envelope -i in -J .
  assert_line --index 0 --partial '"value":null'
  assert_line --index 1 --partial '"payload":null'
  try 0 kstream-map --in envelope -i in -J --tombstone '. == 1' .
  assert_line --index 0 --partial '"key":"a","value":null'
  assert_line --index 1 --partial '"key":"b","payload":null'
  assert_line --index 2 --partial '"key":"c","payload":null'
}

@test "map: -j 2 writes the same bytes as -j 1" {
  seq 0 199999 | sed 's/.*/{"i":&,"pad":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}/' >in
  kstream-map -i in -j 1 '{i, n: (.i % 7)}' >one 2>err
  kstream-map -i in -j 2 '{i, n: (.i % 7)}' >two 2>err
  cmp one two
  assert_equal "$(wc -l <two)" 200000
  assert_equal "$(tail -n 1 two)" '{"i":199999,"n":2}'
}

@test "numbers keep their spelling in filters and compiled maps; libjq prints them its own way" {
  printf '{"a":1.50,"b":"x"}\n' >in
  try 0 kstream-filter -i in '.b | test("x")'
  assert_output '{"a":1.50,"b":"x"}'
  try 0 kstream-map -i in '{a}'
  assert_output '{"a":1.50}'
  try 0 kstream-map -i in 'select(.b | test("x")) | {a}'
  assert_output '{"a":1.5}'
}

@test "map: numbers that libjq would change are a bad record, not another number" {
  try 5 piped '{"a":9007199254740993}\n' kstream-map 'reduce .a as $x (0; . + $x)'
  assert_output ''
  assert_stderr_has 'kstream-map: error: '
}
