#!/usr/bin/env bats
# Bad records: found, told, counted, and harmful to nothing else.
load helper

bad_file() { printf '%s\n' '{"n":1}' '{"n":2}' '{"n":' '{"n":5}'; }

@test "bad record: fail is the default: what came before it is written, exit 5, file and line" {
  bad_file >in
  try 5 kstream-filter -i in '.n > 0'
  assert_output '{"n":1}
{"n":2}'
  assert_stderr_has 'kstream-filter: error: in:3: '
  assert_counts kstream-filter 3 2 0
}

@test "bad record: skip" {
  bad_file >in
  try 0 kstream-filter -i in --on-error skip '.n > 0'
  assert_output '{"n":1}
{"n":2}
{"n":5}'
  assert_counts kstream-filter 4 3 1
}

@test "bad record: dead letters keep the bytes and say where and why (BAD-1)" {
  cat >in <<'END'
{"topic":"t","partition":1,"offset":0,"key":"k1","value":{"n":1}}
{"topic":"t","partition":1,"offset":1,"tstype":"create","ts":7,"headers":["h","x"],"key":"k2","payload":"{\"n\":"}
{"topic":"t","partition":1,"offset":2,"key":"k3","payload":""}
{"topic":"t","partition":1,"offset":3,"key":"k4","value":{"n":5}}
{"topic":"t","partition":1,"offset":4,"key":"k5","payload":"{"}
END
  try 0 kstream-filter --in envelope -i in --dead-letter dead '.n > 0'
  assert_output '{"n":1}
{"n":5}'
  assert_counts kstream-filter 5 2 0 3
  run cat dead
  assert_equal "${#lines[@]}" 3
  assert_line --index 0 --partial '"key":"k2","payload":"{\"n\":"'
  assert_line --index 0 --partial '"headers":["h","x","kstream.error.reason","'
  assert_line --index 0 --partial '"kstream.error.topic","t","kstream.error.partition","1","kstream.error.offset","1","kstream.error.timestamp","7"]'
  assert_line --index 1 --partial '"key":"k3","payload":""'
  assert_line --index 1 --partial '"kstream.error.offset","2"'
  assert_line --index 2 --partial '"key":"k5","payload":"{"'
  # The last record being bad changes nothing, and dead letters can be read again.
  try 0 kstream-filter --in envelope -i dead -f '%k %{$headers["kstream.error.offset"]}\n' true
  assert_output 'k2 1
k3 2
k5 4'
}

@test "bad record: a dead letter of a plain file says which file and line" {
  printf '%s\n' '{"n":1}' '' '{"n":' >in
  try 0 kstream-filter -i in --dead-letter dead '.n > 0'
  assert_output '{"n":1}'
  run cat dead
  assert_equal "${#lines[@]}" 1
  assert_output --partial '"payload":"{\"n\":"'
  assert_output --partial '"kstream.error.topic","in"'
  assert_output --partial '"kstream.error.offset","2"'
}

@test "bad record: an expression that fails, under fail and under skip (CLI-2 4)" {
  printf '%s\n' '{"a":1}' '{"a":"x"}' '{"a":3}' >in
  try 5 kstream-map -i in '.a * 2 | . + 1'
  assert_output 3
  assert_stderr_has 'kstream-map: error: in:2: '
  try 0 kstream-map -i in --on-error skip '.a * 2 | . + 1'
  assert_output '3
7'
  assert_counts kstream-map 3 2 1
}

@test "bad record: --max-errors" {
  printf '%s\n' 1 x 2 x 3 x 4 >in
  try 0 kstream-filter -i in --on-error skip --max-errors 3 '. > 0'
  assert_output '1
2
3
4'
  try 5 kstream-filter -i in --on-error skip --max-errors 1 '. > 0'
  assert_output '1
2'
  assert_stderr_has '--max-errors'
}

@test "bad record: two values on a line, in either engine" {
  printf '%s\n' 1 '2 3' '{"a":1}{"a":2}' 4 >in
  try 0 kstream-filter -i in --on-error skip 'true or .'
  assert_output '1
4'
  assert_counts kstream-filter 4 2 2
  try 0 kstream-filter -i in --on-error skip 'reduce . as $x (true; .)'
  assert_output '1
4'
}

@test "bad record: nothing invalid is ever printed, though no expression reads it" {
  printf '%s\n' 1 '{"a":' '{"a":NaN}' '"\xff"' '"\ud800"' 2 >in
  try 0 kstream-filter -i in --on-error skip true
  assert_output '1
2'
  assert_counts kstream-filter 6 2 4
}

@test "bad record: binary garbage" {
  head -c 200000 /dev/urandom >in
  try 0 kstream-filter -i in --on-error skip '.a == 1'
  run --separate-stderr kstream-filter -i in '.a == 1'
  assert_equal "$status" 5
  assert_stderr_has 'kstream-filter: error: in:'
}

@test "a message cannot be forged by the data it quotes" {
  printf '"a\x1b[2J\n' >in
  try 5 kstream-filter -i in .a
  refute [ "$(LC_ALL=C tr -dc '\033' <<<"$stderr" | wc -c)" -gt 0 ]
}

@test "bad record: 100 000 levels of nesting" {
  (head -c 100000 /dev/zero | tr '\0' '[' && head -c 100000 /dev/zero | tr '\0' ']' && echo && echo '[1]') >in
  try 0 kstream-filter -i in --on-error skip '.[0] == 1'
  assert_output '[1]'
  assert_counts kstream-filter 2 1 1
  try 0 kstream-filter -i in --on-error skip 'reduce .[0] as $x (true; . and $x == 1)'
  assert_output '[1]'
  try 5 kstream-filter -i in true
  assert_stderr_has 'in:1'
}

@test "an expression of 100 000 levels is refused, not a crash" {
  deep=$(head -c 50000 /dev/zero | tr '\0' '(').$(head -c 50000 /dev/zero | tr '\0' ')')
  run --separate-stderr kstream-filter "$deep" </dev/null
  assert_equal "$status" 3
  deep=$(yes '{"!":[' | head -n 10000)1$(yes ']}' | head -n 10000)
  run --separate-stderr kstream-filter "$deep" </dev/null
  assert_equal "$status" 3
}

@test "a string of 20 MB passes, byte for byte" {
  (printf '{"s":"' && head -c 20000000 /dev/zero | tr '\0' x && printf '"}\n{"s":"y"}\n') >in
  kstream-filter -i in '.s | length > 0' >out 2>err
  cmp in out
  kstream-map -i in '.s | length' >out 2>err
  assert_equal "$(cat out)" '20000000
1'
}
