#!/usr/bin/env bats
# What happens to a record on its way through Kafka: bytes, null and empty, headers, keys, partitions.
load helper

# Every record of a topic with all that it has.
whole() { records "$1" '%p %T %h|%K:%k|%S:%s\n'; }

@test "a filter from topic to topic keeps the bytes of what it lets through (JSON-3)" {
  topic in
  topic out
  cat >values <<'END_OF_VALUES'
{"k":1, "v":2.0,"p":1.10,"e":1e2,"z":-0.0}
{"z":1,"a":2,"u":"\u00e9","s":"a\/b"}
{"keep":false}
END_OF_VALUES
  put "$in" <values
  try 0 kstream-filter -i "$in" -o "$out" -e '.keep != false'
  assert_output ''
  assert_stderr_is '% kstream-filter: 3 read, 2 written, 0 skipped'
  values "$out" | cmp - <(head -n 2 values)
  try 0 kstream-filter -i "$in" -e '.keep != false'
  assert_output "$(head -n 2 values)"
}

@test "a filter keeps key, headers, their order, repeats and nulls, and the timestamp" {
  topic in
  topic out
  printf '%s\n' $'k\x1f{"n":1}' $'\x1f{"n":2}' |
    put "$in" -K $'\x1f' -H again=1 -H none -H again=2 -H empty= -H 'text={"a":1}'
  printf '%s\n' $'\x1f{"n":3}' | put "$in" -K $'\x1f' -Z
  try 0 kstream-filter -i "$in" -o "$out" -e '.n > 0'
  whole "$in" >want
  run cat want
  assert_line --index 0 --partial ' again=1,none=NULL,again=2,empty=,text={"a":1}|1:k|7:{"n":1}'
  assert_line --index 1 --partial '|0:|7:{"n":2}'
  assert_line --index 2 --partial '|-1:|7:{"n":3}'
  whole "$out" | diff want -
}

@test "null, empty and the text null stay three things, through topics and through the envelope (STATE-2)" {
  topic in 1 cleanup.policy=compact
  topic out 1 cleanup.policy=compact
  topic back 1 cleanup.policy=compact
  printf '%s\n' 'a:{"v":1}' 'b:{"v":2}' | put "$in" -K:
  printf '%s\n' 'a:' 'b:null' | put "$in" -K: -Z
  printf '%s\n' 'c:' | put "$in" -K:
  local lengths='a 7
b 7
a -1
b 4
c 0'
  assert_equal "$(records "$in" '%k %S\n')" "$lengths"
  try 0 kstream-filter -i "$in" -o "$out" -e true
  assert_equal "$(records "$out" '%k %S\n')" "$lengths"

  try 0 kstream-filter -i "$in" -e -J true
  printf '%s\n' "$output" >envelopes
  assert_equal "$(jq -c '[.key, .payload, has("payload"), .value, has("value")]' envelopes)" \
'["a",null,false,{"v":1},true]
["b",null,false,{"v":2},true]
["a",null,true,null,false]
["b",null,false,null,true]
["c","",true,null,false]'
  try 0 kstream-filter --in envelope -i file:envelopes -o "$back" true
  whole "$in" >want
  whole "$back" | diff want -
}

@test "a map leaves a null payload null, makes JSON null of null, and --tombstone makes one" {
  topic in
  topic out
  printf '%s\n' 'a:{"v":null}' 'b:{"v":3}' | put "$in" -K:
  printf '%s\n' 'c:' | put "$in" -K: -Z
  try 0 kstream-map -i "$in" -o "$out" -e --tombstone '.v == 3' '.v'
  assert_equal "$(records "$out" '%k %S %s\n')" 'a 4 null
b -1 
c -1 '
}

@test "keys go where Java's producer would put them (JOIN-5)" {
  expect_partition() { # KEY PARTITIONS PARTITION
    topic out "$2"
    printf '{"key":"%s","value":1}\n' "$1" |
      kstream-filter --in envelope -i file:/dev/stdin -o "$out" -q true
    assert_equal "$(records "$out" '%p %k %s')" "$3 $1 1"
    unique+=x
  }
  expect_partition TT0124 15 10
  expect_partition fd7af248-ce5c-46a5-93d7-1c0c9005b99d 32 26
  expect_partition 354afe16-939a-4ea8-8e17-8bb0840b6886 10 4
  expect_partition f562ac3b-2224-4e25-a0ab-56094e10c239 10 5
  expect_partition alice 3 0
  expect_partition '' 4 1
  expect_partition '' 4 1
}

@test "--partitioner takes another one" {
  topic out 15
  echo '{"key":"TT0124","value":1}' >in
  try 0 kstream-filter --in envelope -i file:in -o "$out" --partitioner crc32 true
  assert_equal "$(records "$out" '%p')" 9
}

@test "records without a key are spread over the partitions" {
  topic in
  topic out 3
  numbers 1 100 | put "$in"
  try 0 kstream-filter -i "$in" -o "$out" -e -X out.sticky.partitioning.linger.ms=0 true
  assert_equal "$(records "$out" '%p\n' | sort -u | paste -sd' ')" '0 1 2'
}

@test "--partition mirrors the numbers, or computes them" {
  topic in 3
  topic out 3
  local p
  for p in 0 1 2; do printf 'same:{"p":%s}\n' "$p" | put "$in" -K: -p "$p"; done
  try 0 kstream-filter -i "$in" -o "$out" -e --partition '$partition' true
  assert_equal "$(records "$out" '%p %s\n' | sort)" '0 {"p":0}
1 {"p":1}
2 {"p":2}'
  unique+=x
  topic out 3
  try 0 kstream-map -i "$in" -o "$out" -e --partition '2 - .p' .
  assert_equal "$(records "$out" '%p %s\n' | sort)" '0 {"p":2}
1 {"p":1}
2 {"p":0}'
}

@test "a partition that the output does not have is a bad record" {
  topic in
  topic out 2
  numbers 1 3 | put "$in"
  try 5 kstream-filter -i "$in" -o "$out" -e --partition '.n' true
  assert_stderr_has "$in[0]@1"
  assert_equal "$(records "$out" '%p %s\n')" '1 {"n":1}'
}

@test "-k gives a key as the record is read, --set-key one as it is written" {
  topic in
  topic out 3
  printf '%s\n' '{"user":"alice","n":1}' '{"user":42}' '{"user":null}' '{"user":{"a":[1, 2]}}' | put "$in"
  try 0 kstream-filter -i "$in" -o "$out" -e -k .user true
  assert_equal "$(records "$out" '%K %k %s\n' | sort)" '-1  {"user":null}
11 {"a":[1,2]} {"user":{"a":[1, 2]}}
2 42 {"user":42}
5 alice {"user":"alice","n":1}'
  assert_equal "$(records "$out" '%p %k\n' | grep alice)" '0 alice'
  unique+=x
  topic out 3
  try 0 kstream-map -i "$in" -o "$out" -e --set-key '.user, $out | select(type == "string")' 'select(.n).n'
  assert_equal "$(records "$out" '%p %k %s\n')" '0 alice 1'
}

@test "map --to sends each record to the topic that it names" {
  topic in
  topic red
  topic blue
  printf '%s\n' '{"to":"red","n":1}' '{"to":"blue","n":2}' '{"to":"red","n":3}' | put "$in"
  try 0 kstream-map -i "$in" -e --to ".to + \"-$unique\"" .n
  assert_output ''
  assert_equal "$(values "$red")" '1
3'
  assert_equal "$(values "$blue")" 2
}

@test "map --to a topic that does not exist is a bad record, and the others go on" {
  topic in
  topic red
  topic dead
  printf '%s\n' '{"to":"red","n":1}' '{"to":"green","n":2}' '{"to":"red","n":3}' | put "$in"
  try 0 kstream-map -i "$in" -e --dead-letter "$dead" --to ".to + \"-$unique\"" .n
  assert_equal "$(values "$red")" '1
3'
  assert_equal "$(values "$dead")" '{"to":"green","n":2}'
  assert_equal "$(tail -n 1 <<<"$stderr")" '% kstream-map: 3 read, 2 written, 0 skipped, 1 dead letters'
}

@test "map --header adds to the headers" {
  topic in
  topic out
  echo '{"n":1}' | put "$in" -H a=1
  try 0 kstream-map -i "$in" -o "$out" -e --header 'm={n}' --header 'a="2"' --header 'was=$topic' .n
  assert_equal "$(records "$out" '%h %s')" "a=1,m={\"n\":1},a=2,was=$in 1"
}

@test "-f prints what a record of a topic has" {
  topic in
  printf '%s\n' 'k:{"n":1}' | put "$in" -K: -p 0 -H a=1
  try 0 kstream-filter -i "$in" -e -f '%t %p %o %k %s %h %{.n + 1}\n' true
  assert_output "$in 0 0 k {\"n\":1} a=1 2"
}
