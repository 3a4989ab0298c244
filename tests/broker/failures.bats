#!/usr/bin/env bats
# What goes wrong with Kafka or in its records: the exit code, one line that says what to do, and no
# offset committed for what is not done.
load helper

@test "a broker that does not answer: exit 4 within a minute, one line, no output (CLI-2 2)" {
  SECONDS=0
  try 4 kstream-filter -b 127.0.0.1:1 -i anything -e true
  ((SECONDS <= 60)) || fail "it took $SECONDS s"
  assert_output ''
  assert_equal "$(grep -vc '^% ' <<<"$stderr")" 1
  assert_stderr_has 'kstream-filter: error: '
  assert_stderr_has '127.0.0.1:1'
}

@test "an output broker that does not answer: exit 4 within a minute, nothing committed" {
  topic in
  numbers 1 3 | put "$in"
  SECONDS=0
  try 4 kstream-filter -i "$in" --cluster far=127.0.0.1:1 -o far:there -e -G "$in" true
  ((SECONDS <= 60)) || fail "it took $SECONDS s"
  assert_equal "$(grep -vc '^% ' <<<"$stderr")" 1
  assert_equal "$(committed "$in" "$in")" -
}

@test "a topic that does not exist: exit 4 and a hint, and it is not made" {
  topic in
  numbers 1 3 | put "$in"
  try 4 kstream-filter -i "no-$in" -e true
  assert_output ''
  assert_error_is "kstream-filter: error: topic no-$in does not exist: create it, or check its name and -b"
  try 4 kstream-filter -i "$in" -o "no-$in" -e -G "$in" true
  assert_error_is "kstream-filter: error: topic no-$in does not exist: create it, or pass --create-output"
  assert_equal "$(committed "$in" "$in")" -
  run kcat -L -J -b "$KSTREAM_BROKERS"
  refute_output --partial "no-$in"
}

@test "--create-output makes missing outputs, and leaves those alone that are there" {
  topic in
  topic there 2
  topic dead 2
  numbers 1 3 | put "$in"
  try 0 kstream-filter -i "$in" -o "new-$in" --else "$there" --create-output 3 -e '.n > 1'
  assert_equal "$(values "new-$in" | sort)" "$(numbers 2 3)"
  assert_equal "$(values "$there")" "$(numbers 1 1)"
  partitions() { kcat -L -J -b "$KSTREAM_BROKERS" -t "$1" | jq '.topics[0].partitions | length'; }
  assert_equal "$(partitions "new-$in")" 3
  assert_equal "$(partitions "$there")" 2
  try 0 kstream-filter -i "$in" -o "new-$in" --create-output 5 -e '.n > 1'
  assert_equal "$(partitions "new-$in")" 3
}

# Three records for a topic that takes 1000 bytes a message; the second has 5000.
large_record() {
  topic in
  topic small 1 max.message.bytes=1000
  printf '{"n":1}\n{"n":2,"pad":"%05000d"}\n{"n":3}\n' 0 | put "$in"
}

@test "a record that is too large for the output: fail commits up to it (CLI-2 3)" {
  large_record
  try 5 kstream-filter -i "$in" -o "$small" -e -G "$in" true
  assert_error_is "$(printf 'kstream-filter: error: %s[0]@1: %s' "$in" \
    "a record of 5086 bytes is larger than topic $small takes: raise its max.message.bytes (1000)")"
  assert_equal "$(values "$small")" '{"n":1}'
  assert_equal "$(committed "$in" "$in")" 1
  # The next run meets it again.
  try 5 kstream-filter -i "$in" -o "$small" -e -G "$in" true
  assert_equal "$(values "$small")" '{"n":1}'
  assert_equal "$(committed "$in" "$in")" 1
}

@test "a record that is too large for the output: skip goes on and counts (CLI-2 3)" {
  large_record
  try 0 kstream-filter -i "$in" -o "$small" -e -G "$in" --on-error skip true
  assert_equal "$(tail -n 1 <<<"$stderr")" '% kstream-filter: 3 read, 2 written, 1 skipped'
  assert_stderr_has "$in[0]@1"
  assert_equal "$(values "$small")" '{"n":1}
{"n":3}'
  assert_equal "$(committed "$in" "$in")" 3
}

@test "a record that is too large for the output: dead letter keeps it whole (CLI-2 3)" {
  large_record
  topic dead
  try 0 kstream-filter -i "$in" -o "$small" -e -G "$in" --dead-letter "$dead" true
  assert_equal "$(tail -n 1 <<<"$stderr")" '% kstream-filter: 3 read, 2 written, 0 skipped, 1 dead letters'
  assert_equal "$(values "$small")" '{"n":1}
{"n":3}'
  values "$dead" | cmp - <(printf '{"n":2,"pad":"%05000d"}\n' 0)
  assert_equal "$(committed "$in" "$in")" 3
}

@test "a dead letter that its topic does not take ends the stage with the record not done" {
  large_record
  topic dead 1 max.message.bytes=1000
  try 5 kstream-filter -i "$in" -o "$small" -e -G "$in" --dead-letter "$dead" true
  assert_equal "$(committed "$in" "$in")" 1
  assert_equal "$(values "$dead")" ''
}

# Offsets 0 to 4; 2 is no JSON, 3 is empty. $last ends with a bad one.
bad_topics() {
  topic in
  topic last
  topic out
  printf '%s\n' 'k1:{"n":1}' 'k2:{"n":2}' 'k3:{"n":' 'k4:' 'k5:{"n":5}' | put "$in" -K: -H h=1 -H h -H h=2
  printf '%s\n' 'k1:{"n":1}' 'k2:{"n":' | put "$last" -K:
}

header() { # NUMBER NAME: a header of the dead letter of that number
  records "$dead" '%h\n' | sed -n "$1p" | grep -oP "(^|,)kstream.error.$2=\K[^,]*"
}

@test "bad records: dead letters have the key, headers and bytes, and say where and why (BAD-1)" {
  bad_topics
  topic dead
  try 0 kstream-filter -i "$in" -o "$out" -e -G "$in" --dead-letter "$dead" '.n > 0'
  assert_equal "$(tail -n 1 <<<"$stderr")" '% kstream-filter: 5 read, 3 written, 0 skipped, 2 dead letters'
  assert_equal "$(values "$out")" '{"n":1}
{"n":2}
{"n":5}'
  assert_equal "$(records "$dead" '%k %S %s\n')" 'k3 5 {"n":
k4 0 '
  assert_equal "$(records "$dead" '%h\n' | grep -c '^h=1,h=NULL,h=2,kstream\.error\.reason=')" 2
  local i
  for i in 1 2; do
    [[ -n $(header $i reason) ]]
    assert_equal "$(header $i topic) $(header $i partition) $(header $i offset)" "$in 0 $((i + 1))"
    assert_equal "$(header $i timestamp)" "$(records "$in" '%T\n' | sed -n "$((i + 2))p")"
  done
  assert_equal "$(committed "$in" "$in")" 5

  try 0 kstream-filter -i "$last" -e --dead-letter "$dead" '.n > 0'
  assert_output '{"n":1}'
  assert_equal "$(header 3 topic) $(header 3 offset)" "$last 1"
}

@test "bad records: fail commits what came before, and meets the same record again (BAD-1)" {
  bad_topics
  local turn
  for turn in 1 2; do
    try 5 kstream-filter -i "$in" -o "$out" -e -G "$in" '.n > 0'
    [[ $stderr == *"kstream-filter: error: $in[0]@2: "* ]] || fail "$stderr"
    assert_equal "$(grep -vc '^% ' <<<"$stderr")" 1
    assert_equal "$(values "$out")" '{"n":1}
{"n":2}'
    assert_equal "$(committed "$in" "$in")" 2
  done
  # Asked to, it goes on.
  try 0 kstream-filter -i "$in" -o "$out" -e -G "$in" --on-error skip '.n > 0'
  assert_equal "$(values "$out" | tail -n 1)" '{"n":5}'
  assert_equal "$(committed "$in" "$in")" 5
  try 5 kstream-filter -i "$last" -e '.n > 0'
  assert_output '{"n":1}'
}

@test "bad records: one that is bad already as it is read, with a key expression" {
  bad_topics
  topic other
  numbers 11 12 | put "$other"
  local more
  for more in '' "-i $other"; do
    # shellcheck disable=SC2086  # two words or none
    try 0 kstream-filter -i "$in" $more -e -k .n --on-error skip -f '%k\n' true
    assert_equal "$(grep '^.$' <<<"$output")" '1
2
5'
    # shellcheck disable=SC2086
    try 5 kstream-filter -i "$in" $more -e -k .n -f '%k\n' true
    assert_equal "$(grep '^.$' <<<"$output")" '1
2'
    assert_stderr_has "kstream-filter: error: $in[0]@2: "
  done
}

@test "--max-errors ends a run over a topic, and what it had skipped stays skipped" {
  topic in
  printf '%s\n' 1 x 2 x 3 x 4 | put "$in"
  try 5 kstream-filter -i "$in" -e -G "$in" --on-error skip --max-errors 2 true
  assert_output '1
2
3'
  assert_equal "$(committed "$in" "$in")" 5
}

# A group that has committed 50 of 100 records; those before 75 are gone.
old_commit() {
  topic in
  numbers 0 99 | put "$in"
  admin commit-offset "$in" "$in" 0 50
  admin delete-records "$in" 0 75
}

@test "a commit before the start of the log stops the stage, with the numbers (OPS-4)" {
  old_commit
  try 4 kstream-filter -i "$in" -e -G "$in" true
  assert_output ''
  assert_error_is "kstream-filter: error: $in[0]: committed 50, log starts at 75, 25 records gone: say where to go on with --from, such as --from beginning"
  assert_equal "$(committed "$in" "$in")" 50
}

@test "a commit before the start of the log: --from says where to go on (OPS-4)" {
  old_commit
  try 0 kstream-filter -i "$in" -e -G "$in" --from beginning true
  assert_output "$(numbers 75 99)"
  assert_stderr_has "$in[0]: committed 50, log starts at 75, 25 records gone: going on at 75"
  assert_equal "$(committed "$in" "$in")" 100
  # A run without a group has no commit to lose.
  try 0 kstream-filter -i "$in" -e true
  assert_output "$(numbers 75 99)"
}

@test "a commit behind the end of the log stops the stage, with the numbers (OPS-4)" {
  topic in
  numbers 0 99 | put "$in"
  admin commit-offset "$in" "$in" 0 150
  try 4 kstream-filter -i "$in" -e -G "$in" true
  assert_output ''
  assert_error_is "kstream-filter: error: $in[0]: committed 150, log ends at 100: the topic was made anew: say where to go on with --from, such as --from beginning"
  assert_equal "$(committed "$in" "$in")" 150
  try 0 kstream-filter -i "$in" -e -G "$in" --from beginning true
  assert_output "$(numbers 0 99)"
  assert_stderr_has "$in[0]: committed 150, log ends at 100: the topic was made anew: going on at 0"
  assert_equal "$(committed "$in" "$in")" 100
}

@test "a commit at the end of the log, and one at its start, are in order" {
  topic in
  numbers 0 99 | put "$in"
  admin delete-records "$in" 0 75
  admin commit-offset "$in" "$in" 0 100
  try 0 kstream-filter -i "$in" -e -G "$in" true
  assert_output ''
  admin commit-offset "$in" "$in" 0 75
  try 0 kstream-filter -i "$in" -e -G "$in" true
  assert_output "$(numbers 75 99)"
}

@test "a log of which everything was deleted ends at once" {
  topic in
  numbers 0 9 | put "$in"
  admin delete-records "$in" 0 10
  try 0 kstream-filter -i "$in" -e true
  assert_output ''
  try 0 kstream-filter -i "$in" -e -G "$in" true
  assert_output ''
}

@test "an input that is deleted while it is read ends the stage with 4" {
  topic in
  numbers 1 3 | put "$in"
  start out err kstream-filter -i "$in" -X topic.metadata.refresh.interval.ms=200 true
  until_true has_lines out 3
  admin delete-topic "$in"
  ends 4 "$pid"
  assert_equal "$(grep -vc '^% ' err)" 1
  holds err "$in"
}

@test "an input that is deleted and made again while it is read is no reason not to end" {
  local turn
  for turn in 1 2 3; do
    topic "again$turn"
    local -n in="again$turn"
    numbers 1 3 | put "$in"
    start out err kstream-filter -i "$in" -X topic.metadata.refresh.interval.ms=2000 true
    until_true has_lines out 3
    admin delete-topic "$in"
    admin create-topic "$in" 1
    sleep 1
    kill "$pid" 2>/dev/null || true
    SECONDS=0
    wait "$pid" || true
    ((SECONDS < 60)) || fail "it took $SECONDS s to end"
  done
}

@test "a mistaken property is a mistake of usage, with its name" {
  topic in
  try 2 kstream-filter -i "$in" -e -X no.such.property=1 true
  assert_stderr_has no.such.property
}

@test "an output that is also an input is refused, by name and by pattern" {
  topic in
  try 2 kstream-filter -i "$in" -o "$in" -e true
  try 2 kstream-filter -i "^in-$unique" -o "$in" -e true
  assert_stderr_has "$in"
}

@test "an output that is an input by another name of its cluster is refused" {
  topic in
  numbers 1 2 | put "$in"
  stage() { kstream-map --cluster x="$KSTREAM_BROKERS" --cluster y="$KSTREAM_BROKERS" -e "$@" .; }
  try 2 stage -i "$in" -o "x:$in"
  assert_stderr_has "output x:$in is matched by input $in: it would read what it writes (cluster x is the home cluster)"
  try 2 stage -i "x:$in" -o "$in" -G "$in"
  try 2 stage -i "x:^in-$unique" -o "y:$in"
  assert_stderr_has '(clusters y and x are one)'
  try 2 stage -i "$in" -o "out-$unique" --dead-letter "x:$in"
  # Known only when the first record comes.
  try 8 stage -i "x:$in" --to "\"$in\""
  assert_stderr_has "$in, which is an input"
  assert_equal "$(values "$in")" "$(numbers 1 2)"
}
