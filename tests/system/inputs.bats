#!/usr/bin/env bats
# Several inputs, time, keys and partitions on files.
load helper

@test "inputs: several are merged by timestamp, ties in the order given" {
  printf '{"ts":1,"f":"a"}\n{"ts":3,"f":"a"}\n{"ts":5,"f":"a"}\n' >a
  printf '{"ts":2,"f":"b"}\n{"ts":3,"f":"b"}\n{"ts":4,"f":"b"}\n' >b
  try 0 kstream-filter -i a -i b --timestamp .ts -f '%{.ts}%{.f} ' true
  assert_output '1a 2b 3a 3b 4b 5a '
  try 0 kstream-filter -i b -i a --timestamp .ts -f '%{.ts}%{.f} ' true
  assert_output '1a 2b 3b 3a 4b 5a '
}

@test "inputs: without times they follow one another in the order given" {
  printf '1\n2\n' >a
  printf '3\n4\n' >b
  try 0 kstream-filter -i a -i b true
  assert_output '1
2
3
4'
}

@test "timestamp: units and RFC 3339" {
  try 0 piped '{"t":1700000000}\n' kstream-filter --timestamp .t --timestamp-unit s -f %T true
  assert_output 1700000000000
  try 0 piped '{"t":1700000000123456}\n' kstream-filter --timestamp .t --timestamp-unit us -f %T true
  assert_output 1700000000123
  try 0 piped '{"t":"2023-11-14T23:13:20.123+01:00"}\n' kstream-filter --timestamp .t -f %T true
  assert_output 1700000000123
}

@test "timestamp: a record without a valid one is a bad record" {
  printf '{"t":1}\n{"t":"yesterday"}\n{"t":3}\n' >in
  try 5 kstream-filter -i in --timestamp .t true
  assert_output '{"t":1}'
  assert_stderr_has 'in:2'
  try 0 kstream-filter -i in --timestamp .t --on-error skip true
  assert_output '{"t":1}
{"t":3}'
  assert_counts kstream-filter 3 2 1
}

@test "partitions: a file is spread by key, as Java would (JOIN-5)" {
  # murmur2 puts these keys there in topics of that size
  check() {
    try 0 piped "{\"k\":\"$1\"}\n" kstream-filter -k .k --partitions "$2" -f %p true
    assert_output "$3"
  }
  check TT0124 15 10
  check fd7af248-ce5c-46a5-93d7-1c0c9005b99d 32 26
  check 354afe16-939a-4ea8-8e17-8bb0840b6886 10 4
  check f562ac3b-2224-4e25-a0ab-56094e10c239 10 5
  check alice 3 0
  check '' 4 1
}

@test "inputs: a file that does not exist" {
  run --separate-stderr kstream-filter -i nowhere.ndjson true
  assert_equal "$status" 2
  assert_output ''
  assert_stderr_has 'nowhere.ndjson'
  assert_stderr_has 'No such file'
}

@test "inputs: a folder is no file" {
  mkdir d
  run --separate-stderr kstream-filter -i d true
  assert [ "$status" -ne 0 ]
  assert [ "$status" -lt 100 ]
  assert_stderr_has 'd'
}

@test "timeout: the time given ends the run with 124, and what was done is written" {
  mkfifo pipe
  exec 7<>pipe  # keeps the pipe open, so that the input does not end
  echo 1 >&7
  try 124 kstream-filter --timeout 1s true <pipe
  assert_output 1
  assert_stderr_has 'kstream-filter: error: '
}

@test "while input is idle every result so far is out" {
  mkfifo pipe
  : >out
  kstream-filter true <pipe >out 2>err &
  exec 7>pipe
  echo '{"a":1}' >&7
  for ((i = 0; i < 100 && $(wc -c <out) == 0; i++)); do sleep 0.1; done
  assert_equal "$(cat out)" '{"a":1}'
  exec 7>&-
  wait $!
}

@test "groupers make tasks of files as they do of topics" {
  printf '%s\n' '{"t":1}' '{"t":3}' >a
  printf '%s\n' '{"t":2}' >b
  for grouper in default single by-topic; do
    try 0 kstream-map -i a -i b --timestamp .t --grouper "$grouper" .t
    assert_output $'1\n2\n3'
  done
  # Each of the two tasks reads all of b.
  try 0 kstream-map -i a -i b --partitions 2 --grouper broadcast:b .t
  assert_equal "$(sort <<<"$output")" $'1\n2\n2\n3'
  try 2 kstream-map -i a -i b --grouper broadcast:c .t
  assert_stderr_is 'kstream-map: error: --grouper broadcast:c: no such input; the inputs are a, b'
}
