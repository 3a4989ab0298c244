#!/usr/bin/env bats
# Members of a group: what is committed and when, stops and crashes, several processes and threads.
load helper

# Four partitions with N records {"n":1} ... spread by key; numbers are ids.
spread() {
  topic in 4
  numbers 1 "$1" | sed 's/.*:\(.*\)}/\1\t&/' | put "$in" -K$'\t'
}

sorted_numbers() { tr -dc '0-9\n' | sort -n; }

@test "two stages without an id each read all (REB-4 1)" {
  spread 400
  topic even
  topic odd
  start /dev/null err1 kstream-filter -i "$in" -o "$even" -e '.n % 2 == 0'
  start /dev/null err2 kstream-filter -i "$in" -o "$odd" -e '.n % 2 == 1'
  for pid in "${jobs_started[@]}"; do ends 0 "$pid"; done
  assert_equal "$(values "$even" | sorted_numbers)" "$(seq 2 2 400)"
  assert_equal "$(values "$odd" | sorted_numbers)" "$(seq 1 2 400)"
}

@test "SIGTERM commits and ends with 0; a restart goes on without loss or repeat" {
  spread 1000
  topic out
  start /dev/null err kstream-filter -i "$in" -o "$out" -G "$in" --commit-interval 1h true
  until_true has_records "$out" 1000
  assert_equal "$(committed "$in" "$in")" '- - - -'
  kill -TERM "$pid"
  ends 0 "$pid"
  assert_equal "$(cat err)" '% kstream-filter: 1000 read, 1000 written, 0 skipped'
  local ends
  ends=$(for p in 0 1 2 3; do log_end "$in" $p; done | paste -sd' ')
  assert_equal "$(committed "$in" "$in")" "$ends"
  numbers 1001 1100 | put "$in"
  start /dev/null err kstream-filter -i "$in" -o "$out" -G "$in" true
  until_true has_records "$out" 1100
  kill -TERM "$pid"
  ends 0 "$pid"
  assert_equal "$(values "$out" | sorted_numbers)" "$(seq 1 1100)"
}

@test "commits follow by themselves while a stage runs" {
  topic in
  topic out
  numbers 1 5 | put "$in"
  start /dev/null err kstream-filter -i "$in" -o "$out" -G "$in" --commit-interval 100ms '.n > 3'
  until_true is_committed "$in" "$in" 5
  numbers 6 7 | put "$in"
  until_true is_committed "$in" "$in" 7
  assert_equal "$(values "$out")" "$(numbers 4 7)"
  kill "$pid"
  ends 0 "$pid"
}

@test "what a reader of stdout did not take is not committed" {
  topic in
  yes '{"pad":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}' |
    head -n 20000 | put "$in"
  mkfifo pipe
  start pipe err kstream-filter -i "$in" -G "$in" --commit-interval 50ms true
  exec 7<pipe
  head -c 1 <&7 >byte
  exec 7<&-
  ends 0 "$pid"
  (($(committed "$in" "$in" | tr - 0) < 20000)) || fail 'all is committed'
}

@test "a commit waits for the acknowledgements of the output" {
  topic in
  topic out
  numbers 1 5 | put "$in"
  # What is written waits in the producer for so long that only the end sends it.
  start /dev/null err kstream-filter -i "$in" -o "$out" -G "$in" --commit-interval 50ms \
    -X out.linger.ms=20000 --stats 100ms true
  until_true holds err '"written":5'
  local stats
  stats=$(grep -c stats err)
  until_true has_lines err $((stats + 10)) # twenty commit intervals
  assert_equal "$(committed "$in" "$in")" -
  kill "$pid"
  ends 0 "$pid"
  assert_equal "$(values "$out")" "$(numbers 1 5)"
  assert_equal "$(committed "$in" "$in")" 5
}

@test "kill -9 loses nothing, under at-least-once (EOS-1)" {
  topic in 4
  topic out 4
  seq 1 20000 | put "$in"
  run_stage() {
    start /dev/null err kstream-filter -i "$in" -o "$out" -G "$in" --commit-interval 100ms \
      -X session.timeout.ms=1500 -X heartbeat.interval.ms=300 -X out.linger.ms=5 "$@" '. > 0'
  }
  local turn written
  for turn in 1 2 3 4 5; do
    # Records keep coming, so that every kill meets a stage at work.
    seq $((20000 + turn * 1000 - 999)) $((20000 + turn * 1000)) | put "$in"
    written=$(values "$out" | wc -l)
    run_stage
    until_true has_records "$out" $((written + RANDOM % 1000 + 1))
    kill -9 "$pid"
    wait "$pid" || true
  done
  run_stage -e
  ends 0 "$pid"
  values "$out" | sort -nu | cmp - <(seq 1 25000)
}

@test "two processes of one group share the partitions, and none is lost on the way" {
  spread 2000
  start out1 err1 kstream-filter -i "$in" -G "$in" --commit-interval 100ms -f '%p %s\n' true
  local first=$pid n=2000 p
  until_true has_lines out1 2000
  start out2 err2 kstream-filter -i "$in" -G "$in" --commit-interval 100ms -f '%p %s\n' true
  one_more_each() {
    for p in 0 1 2 3; do
      n=$((n + 1))
      numbers $n $n | put "$in" -p $p
    done
  }
  # Records go on coming until the second has had some: then it has partitions of its own.
  one_more_for_the_second() { [[ -s out2 ]] || { one_more_each && false; }; }
  until_true one_more_for_the_second
  everything() { [[ $(cat out1 out2 | cut -d' ' -f2 | sort -u | wc -l) == "$n" ]]; }
  until_true everything
  # What one of them leaves, the other takes over.
  kill "$first"
  ends 0 "$first"
  one_more_each
  until_true everything
  assert_equal "$(cut -d' ' -f1 out2 | sort -u | paste -sd' ')" '0 1 2 3'
  kill "$pid"
  ends 0 "$pid"
  assert_equal "$(cat out1 out2 | cut -d' ' -f2 | sorted_numbers | uniq)" "$(seq 1 $n)"
}

@test "two processes with -e share the partitions, and both end" {
  spread 2000
  start out1 err1 kstream-filter -i "$in" -G "$in" -e true
  start out2 err2 kstream-filter -i "$in" -G "$in" -e true
  for pid in "${jobs_started[@]}"; do ends 0 "$pid"; done
  assert_equal "$(cat out1 out2 | sorted_numbers)" "$(seq 1 2000)"
}

@test "-j 2 gives what -j 1 gives, with a group and without" {
  spread 2000
  try 0 kstream-filter -i "$in" -e -j 2 true
  assert_equal "$(sorted_numbers <<<"$output")" "$(seq 1 2000)"
  try 0 kstream-filter -i "$in" -e -j 2 -G "$in" true
  assert_equal "$(sorted_numbers <<<"$output")" "$(seq 1 2000)"
  try 0 kstream-filter -i "$in" -e -G "$in" true
  assert_output ''
}

@test "more members than partitions: the spare one waits, and ends at the end" {
  topic in
  numbers 1 100 | put "$in"
  try 0 timeout 60 kstream-filter -i "$in" -e -j 3 -G "$in" true
  assert_output "$(numbers 1 100)"
}

@test "--dry-run reads, counts, writes nothing and commits nothing" {
  topic in
  topic out
  topic dead
  printf '%s\n' 1 x 3 | put "$in"
  try 0 kstream-filter -i "$in" -o "$out" -e -G "$in" --dry-run --dead-letter "$dead" '. > 0'
  assert_equal "$(tail -n 1 <<<"$stderr")" '% kstream-filter: 3 read, 2 written, 0 skipped, 1 dead letters'
  assert_equal "$(values "$out")$(values "$dead")" ''
  assert_equal "$(committed "$in" "$in")" -
  try 0 kstream-filter -i "$in" -o "new-$in" --create-output 1 -e --dry-run --on-error skip true
  run kcat -L -J -b "$KSTREAM_BROKERS"
  refute_output --partial "new-$in"
}

@test "without an id nothing is committed, and each run begins anew" {
  topic in
  numbers 1 3 | put "$in"
  local turn
  for turn in 1 2; do
    try 0 kstream-filter -i "$in" -e true
    assert_output "$(numbers 1 3)"
  done
}

@test "--instance-id: a restart is the same member again and goes on at once" {
  topic in
  local turn
  for turn in 1 2; do
    numbers $turn $turn | put "$in"
    try 0 timeout 40 kstream-filter -i "$in" -e -G "$in" --instance-id one true
    assert_output "$(numbers $turn $turn)"
  done
}

@test "--instance-id: the threads of a run that has an end do not wait for each other's sessions" {
  topic in 2
  numbers 1 20 | put "$in"
  local turn
  for turn in 1 2 3; do
    try 0 timeout 40 kstream-filter -i "$in" -e -G "$in-$turn" --instance-id two -j 2 true
  done
}

@test "a partition that comes later is read from its beginning" {
  topic in
  topic out
  numbers 1 1 | put "$in"
  start /dev/null err kstream-filter -i "$in" -o "$out" -G "$in" \
    -X topic.metadata.refresh.interval.ms=200 true
  until_true has_records "$out" 1
  admin add-partitions "$in" 2
  numbers 2 2 | put "$in" -p 1
  until_true has_records "$out" 2
  kill "$pid"
  ends 0 "$pid"
  assert_equal "$(values "$out")" "$(numbers 1 2)"
  assert_equal "$(committed "$in" "$in")" '1 1'
}
