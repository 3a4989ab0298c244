#!/usr/bin/env bats
# Several inputs: patterns, topics merged by timestamp, clusters.
load helper

# timed TOPIC PARTITION TIMESTAMP...: a record for each, its value "TOPIC PARTITION TIMESTAMP".
timed() {
  local t
  for t in "${@:3}"; do
    printf '{"partition":%d,"ts":%d,"key":null,"value":"%s %d %d"}\n' "$2" "$t" "${1%%-*}" "$2" "$t"
  done | kstream-filter --in envelope -i file:/dev/stdin -o "$1" -q --partition '$partition' true
}

@test "several topics are merged by timestamp, partition by partition; ties in the order given" {
  topic left 2
  topic right 2
  timed "$left" 0 1000 3000 5000 5000
  timed "$right" 0 500 3000 4000 9000
  timed "$left" 1 20
  timed "$right" 1 30 10 # the time of a task does not go back for a late one
  try 0 kstream-filter -i "$left" -i "$right" -e true
  assert_equal "$(grep ' 0 ' <<<"$output")" '"right 0 500"
"left 0 1000"
"left 0 3000"
"right 0 3000"
"right 0 4000"
"left 0 5000"
"left 0 5000"
"right 0 9000"'
  assert_equal "$(grep ' 1 ' <<<"$output")" '"left 1 20"
"right 1 30"
"right 1 10"'
  # With a group, the other one first at equal times, and an offset committed for each.
  try 0 kstream-filter -i "$right" -i "$left" -e -G "$left" true
  assert_equal "$(grep ' 0 3000' <<<"$output")" '"right 0 3000"
"left 0 3000"'
  assert_equal "$(committed "$left" "$left") $(committed "$left" "$right")" '4 1 4 2'
}

@test "topics with different numbers of partitions: none is left out" {
  topic wide 3
  topic narrow
  numbers 0 0 | put "$wide" -p 0
  numbers 1 1 | put "$wide" -p 1
  numbers 2 2 | put "$wide" -p 2
  numbers 3 3 | put "$narrow"
  try 0 kstream-filter -i "$narrow" -i "$wide" -e true
  assert_equal "$(sort <<<"$output")" "$(numbers 0 3)"
  try 0 kstream-filter -i "$narrow" -i "$wide" -e -G "$wide" true
  assert_equal "$(sort <<<"$output")" "$(numbers 0 3)"
  assert_equal "$(committed "$wide" "$wide") $(committed "$wide" "$narrow")" '1 1 1 1'
}

@test "a merged input waits for the slower topic, and goes on when it is at its end" {
  topic left
  topic right
  timed "$left" 0 1000 2000
  start out err kstream-filter -i "$left" -i "$right" true
  until_true has_lines out 2
  timed "$right" 0 1500
  until_true has_lines out 3
  kill "$pid"
  ends 0 "$pid"
  assert_equal "$(cat out)" '"left 0 1000"
"left 0 2000"
"right 0 1500"'
}

@test "a ^pattern reads every topic that it matches, and no other" {
  local prefix=p$RANDOM$RANDOM name
  for name in one two; do
    admin create-topic "$prefix-$name" 2
    echo "\"$name\"" | put "$prefix-$name" -p 1
  done
  admin create-topic "x-$prefix-one" 1
  echo '"other"' | put "x-$prefix-one"
  try 0 kstream-filter -i "^$prefix-" -e true
  assert_equal "$(sort <<<"$output")" '"one"
"two"'
  try 0 kstream-filter -i "^$prefix-t" -e -f '%t %s\n' true
  assert_output "$prefix-two \"two\""
  try 0 kstream-filter -i "^$prefix-" -e -G "$prefix" true
  assert_equal "$(sort <<<"$output")" '"one"
"two"'
  assert_equal "$(committed "$prefix" "$prefix-one") $(committed "$prefix" "$prefix-two")" '- 1 - 1'
  try 0 kstream-filter -i "^$prefix-" -e -G "$prefix" true
  assert_output ''
  try 4 kstream-filter -i "^no-$prefix-" -e true
  assert_stderr_has "^no-$prefix-"
  try 2 kstream-filter -i '^(' -e true
}

@test "a second cluster, to read from and to write to" {
  topic in
  topic out
  numbers 1 3 | put "$in"
  try 0 kstream-filter -b "$KSTREAM_BROKERS" --cluster far="$KSTREAM_BROKERS" -i "$in" -o "far:$out" -e -G "$in" '.n > 1'
  assert_equal "$(values "$out")" "$(numbers 2 3)"
  assert_equal "$(committed "$in" "$in")" 3
  echo "bootstrap.servers=$KSTREAM_BROKERS" >far.conf
  try 0 env -u KSTREAM_BROKERS kstream-filter --cluster far=far.conf -i "far:$in" -e '.n > 2'
  assert_output '{"n":3}'
  # Inputs of both in one stage.
  try 0 kstream-filter --cluster far=far.conf -i "far:$in" -i "$out" -e -f '<%{$cluster}>\n' true
  assert_equal "$(sort <<<"$output" | uniq -c | tr -s ' ' | paste -sd,)" ' 2 <>, 3 <far>'
  try 2 kstream-filter -i "near:$in" -e true
  assert_stderr_has "near"
}

@test "brokers: the flag, the environment and a file of properties" {
  topic in
  numbers 1 1 | put "$in"
  echo "bootstrap.servers=$KSTREAM_BROKERS" >conf
  try 0 env -u KSTREAM_BROKERS kstream-filter -F conf -i "$in" -e true
  assert_output '{"n":1}'
  try 0 env KSTREAM_BROKERS=127.0.0.1:1 kstream-filter -b "$KSTREAM_BROKERS" -i "$in" -e true
  assert_output '{"n":1}'
  try 0 env -u KSTREAM_BROKERS KSTREAM_CONFIG=conf kstream-filter -i "$in" -e true
  assert_output '{"n":1}'
}

@test "with brokers, file: still says a file and topic: a topic" {
  topic out
  numbers 1 2 >"$out"
  try 0 kstream-filter -i "file:$out" -o "topic:$out" '.n > 1'
  assert_equal "$(values "$out")" '{"n":2}'
  try 0 kstream-filter -i "topic:$out" -o file:copy -e true
  assert_equal "$(cat copy)" '{"n":2}'
}

@test "a file and a topic in one stage, without a group" {
  topic in
  numbers 1 2 | put "$in"
  numbers 3 4 >some
  try 0 kstream-filter -i "$in" -i file:some -e true
  assert_equal "$(sort <<<"$output")" "$(numbers 1 4)"
  try 2 kstream-filter -i "$in" -i file:some -G "$in" -e true
  assert_stderr_has '--app with files and topics'
}
