#!/usr/bin/env bats
# Where reading begins and where it ends: --from, --exit-at-end, --limit, --timeout.
load helper

# Five records in partition 0, none in 1, three in 2, and a writer that adds one after the other. (Each
# by a kcat of its own: it sends the lines of a pipe some hundred at once.)
start_busy_topic() {
  topic busy 3
  numbers 1 5 | put "$busy" -p 0
  numbers 101 103 | put "$busy" -p 2
  write_on 3>&- &
  jobs_started+=($!)
  until_true is_busy_up_to 105
}

write_on() {
  local n
  for ((n = 104; ; n++)); do
    numbers $n $n | put "$busy" -p 2
    sleep 0.05
  done
}

is_busy_up_to() { (($(log_end "$busy" 2) >= $1 - 100)); }

# The output of a run over the busy topic: those of partition 0, and in order without a gap those of
# partition 2, from FIRST to at least LEAST. Sets $last.
assert_busy_output() {
  local first=$1 least=$2
  last=$(tail -n 1 <<<"$(grep '1[0-9][0-9]\|[2-9][0-9][0-9]' <<<"$output" | tr -dc '0-9\n')")
  ((last >= least)) || fail "the last one is $last instead of $least or later: $output"
  assert_equal "$(grep -v '"n":.}' <<<"$output")" "$(numbers "$first" "$last")"
}

@test "-e ends on a busy topic with an empty partition, and shows all that was there (CLI-3)" {
  start_busy_topic
  try 0 timeout 60 kstream-filter -i "$busy" -e true
  assert_equal "$(grep '"n":.}' <<<"$output")" "$(numbers 1 5)"
  assert_busy_output 101 105
}

@test "-e with a group ends as well, and a second run starts after the last record (CLI-3)" {
  start_busy_topic
  try 0 timeout 60 kstream-filter -i "$busy" -e -G "$busy" true
  assert_equal "$(grep '"n":.}' <<<"$output")" "$(numbers 1 5)"
  assert_busy_output 101 105
  assert_equal "$(committed "$busy" "$busy")" "5 - $((last - 100))"
  until_true is_busy_up_to $((last + 2))
  try 0 timeout 60 kstream-filter -i "$busy" -e -G "$busy" true
  refute_line --regexp '"n":.}'
  assert_busy_output $((last + 1)) $((last + 2))
}

# A log with an aborted transaction inside and the marker of a committed one as its last entry.
transactional_topic() {
  topic in
  admin transact "$in" <<END
begin
put $in 0 "a"
commit
begin
put $in 0 "b1"
put $in 0 "b2"
abort
put $in 0 "c"
begin
put $in 0 "d"
commit
END
}

@test "-e passes what was aborted, and ends behind a marker (EOS-4)" {
  transactional_topic
  topic out
  try 0 timeout 60 kstream-filter -i "$in" -e true
  assert_output '"a"
"c"
"d"'
  try 0 timeout 60 kstream-filter -i "$in" -o "$out" -e -G "$in" true
  assert_equal "$(values "$out")" '"a"
"c"
"d"'
  assert_equal "$(committed "$in" "$in")" "$(log_end "$in" 0)"
  try 0 timeout 60 kstream-filter -i "$in" -e -G "$in" true
  assert_output ''
  assert_stderr_is '% kstream-filter: 0 read, 0 written, 0 skipped'
}

@test "read_uncommitted shows what was aborted, when asked for (EOS-4)" {
  transactional_topic
  try 0 kstream-filter -i "$in" -e -X isolation.level=read_uncommitted true
  assert_output '"a"
"b1"
"b2"
"c"
"d"'
}

# Holds a transaction with the records "t1" and "t2" open on the topic $in; `say` goes on with it.
open_transaction() {
  mkfifo script
  admin transact "$in" <script >replies 3>&- &
  jobs_started+=($!)
  exec 8>script
  said=0
  say begin
  say "put $in 0 \"t1\""
  say "put $in 0 \"t2\""
}

say() {
  echo "$1" >&8
  said=$((said + 1))
  until_true has_lines replies "$said"
}

@test "-e waits below an open transaction, says so, and shows it when it is committed (EOS-4)" {
  topic in
  numbers 1 1 | put "$in"
  open_transaction
  start out err kstream-filter -i "$in" -e true
  start grouped grouped-err kstream-filter -i "$in" -e -G "$in" true
  for err in err grouped-err; do
    until_true holds $err "$in[0]: waiting at offset 1 for an open transaction to end"
  done
  assert_equal "$(cat out)" '{"n":1}'
  say commit
  for pid in "${jobs_started[@]:1}"; do ends 0 "$pid"; done
  for out in out grouped; do
    assert_equal "$(cat $out)" '{"n":1}
"t1"
"t2"'
  done
  assert_equal "$(grep -c waiting err)" 1
  assert_equal "$(committed "$in" "$in")" 3
}

@test "-e below an open transaction that is aborted ends without it" {
  topic in
  open_transaction
  start out err kstream-filter -i "$in" -e true
  until_true holds err 'waiting at offset 0 for an open transaction to end'
  say abort
  ends 0 "$pid"
  assert_equal "$(cat out)" ''
}

# Ten records in each of two partitions, "PARTITION-NUMBER"; the timestamp is NUMBER * 1000.
timed_topic() {
  topic in 2
  local p n
  for n in {1..10}; do
    for p in 0 1; do
      printf '{"partition":%d,"ts":%d000,"key":null,"value":"%d-%d"}\n' "$p" "$n" "$p" "$n"
    done
  done >in
  kstream-filter --in envelope -i file:in -o "$in" -q --partition '$partition' true
}

@test "--from: every form" {
  timed_topic
  from() { # SPEC WANTED
    try 0 kstream-filter -i "$in" -e --from "$1" true
    assert_equal "$1: $(sort -t- -k1.2,1.2n -k2n <<<"$output" | tr -d '"' | paste -sd' ')" "$1: $2"
  }
  all="$(echo 0-{1..10} 1-{1..10})"
  from beginning "$all"
  from end ''
  from 8 '0-9 0-10 1-9 1-10'
  from 10 ''
  from 99 ''
  from -1 '0-10 1-10'
  from -2 '0-9 0-10 1-9 1-10'
  from -99 "$all"
  from @9000 '0-9 0-10 1-9 1-10'
  from @8001 '0-9 0-10 1-9 1-10'
  from @10001 ''
  from @1970-01-01T00:00:09Z '0-9 0-10 1-9 1-10'
  from @-1h ''
  from @-365000d "$all"
  from @2000:4000 '0-2 0-3 1-2 1-3'
  from @1970-01-01T00:00:02Z:1970-01-01T00:00:04Z '0-2 0-3 1-2 1-3'
}

@test "--from @T1:T2 ends by itself, without -e" {
  timed_topic
  try 0 timeout 60 kstream-filter -i "$in" --from @2000:3000 true
  assert_equal "$(sort <<<"$output")" '"0-2"
"1-2"'
  # T2 may lie behind the last record: then the end is that of the log.
  try 0 timeout 60 kstream-filter -i "$in" --from @10000:20000 true
  assert_equal "$(sort <<<"$output")" '"0-10"
"1-10"'
}

@test "--from with a group counts only where there is no commit" {
  topic in 2
  numbers 1 5 | put "$in" -p 0
  numbers 11 15 | put "$in" -p 1
  admin commit-offset "$in" "$in" 0 3
  try 0 kstream-filter -i "$in" -e -G "$in" --from -1 true
  assert_equal "$(sort <<<"$output")" '{"n":15}
{"n":4}
{"n":5}'
  assert_equal "$(committed "$in" "$in")" '5 5'
}

@test "--from end with a group: what comes after the first run is read by the second" {
  topic in
  numbers 1 5 | put "$in"
  try 0 kstream-filter -i "$in" -e -G "$in" --from end true
  assert_output ''
  numbers 6 7 | put "$in"
  try 0 kstream-filter -i "$in" -e -G "$in" --from end true
  assert_output "$(numbers 6 7)"
}

@test "--from: what is none is a mistake of usage" {
  topic in
  local spec
  for spec in soon @soon @2000:1000 --5 5x ''; do
    try 2 kstream-filter -i "$in" -e --from="$spec" true
    assert_output ''
    assert_stderr_has '--from'
  done
}

@test "-c ends after so many records, and the next run goes on behind them" {
  topic in
  numbers 1 10 | put "$in"
  try 0 kstream-filter -i "$in" -G "$in" -c 3 '.n % 2 == 0'
  assert_output '{"n":2}
{"n":4}
{"n":6}'
  assert_equal "$(committed "$in" "$in")" 6
  try 0 kstream-filter -i "$in" -G "$in" -e true
  assert_output "$(numbers 7 10)"
}

@test "--timeout ends a run that waits, with 124, after a commit" {
  topic in
  topic out
  numbers 1 3 | put "$in"
  try 124 kstream-filter -i "$in" -o "$out" -G "$in" --timeout 10s true
  assert_error_is 'kstream-filter: error: the time given by --timeout is over'
  assert_equal "$(values "$out")" "$(numbers 1 3)"
  assert_equal "$(committed "$in" "$in")" 3
}

@test "a reader that goes away is a normal end (CLI-2 5)" {
  topic in
  seq 1 100000 | put "$in"
  try 0 timeout 60 bash -c 'kstream-filter -i "$0" true | head -n 1; exit ${PIPESTATUS[0]}' "$in"
  assert_output 1
  refute_regex "$stderr" error
}
