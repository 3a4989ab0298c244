#!/usr/bin/env bats
# kstream-agg --window on topics: windows over restarts, ends, silence and kills.
load helper

# setup_windows [PARTITIONS]
setup_windows() {
  topic in "${1:-1}"
  topic out 1
  app=win-$unique
  counter=(kstream-agg -i "$in" -o "$out" -G "$app" --state-dir "$PWD/state" --timestamp .t
    --window tumbling:10s --count --commit-interval 100ms
    -X session.timeout.ms=1500 -X heartbeat.interval.ms=300)
}

# at RECORD...: "group@ms", by group.
at() {
  local record
  for record; do printf '%s|{"t":%s}\n' "${record%@*}" "${record#*@}"; done | put "$in" -K '|'
}

count() { timeout 60 "${counter[@]}" -e "$@"; }

# Rows as group[start,end)=count, in the order of the topic.
rows() { values "$out" | jq -r '"\(.key)[\(.window_start),\(.window_end))=\(.count)"' | paste -sd' '; }

@test "windows: a final row comes once, when stream time passes its window (WIN-5)" {
  setup_windows
  start log err "${counter[@]}"
  at A@1000 A@2000 A@11000
  until_true has_records "$out" 1
  at A@12000 A@19999
  until_true is_committed "$app" "$in" 5
  assert_equal "$(rows)" 'A[0,10000)=2'
  at A@20000
  until_true has_records "$out" 2
  kill -TERM "$pid"
  ends 0 "$pid"
  assert_equal "$(rows)" 'A[0,10000)=2 A[10000,20000)=3'
}

@test "windows: at -e open ones stay and are told, and the next run goes on with them" {
  for guarantee in at-least-once exactly-once; do
    setup_windows
    at a@1000 b@2000 a@11000
    try 0 count --guarantee $guarantee
    assert_stderr_has 'agg: 1 window stays open: --close-at-end closes it'
    assert_equal "$(rows)" 'a[0,10000)=1 b[0,10000)=1'
    at a@3000 b@12000 a@20000
    try 0 count --guarantee $guarantee
    assert_stderr_has 'agg: 1 came late'
    assert_equal "$(rows)" 'a[0,10000)=1 b[0,10000)=1 a[10000,20000)=1 b[10000,20000)=1'
    unique=$unique-2
  done
}

@test "windows: --close-at-end closes them for good" {
  setup_windows
  at a@1000
  try 0 count --close-at-end
  assert_equal "$(rows)" 'a[0,10000)=1'
  at a@2000
  try 0 count --close-at-end
  assert_stderr_has 'agg: 1 came late'
  at a@10000
  count
  assert_equal "$(rows)" 'a[0,10000)=1'
  # With nothing more to read, too.
  try 0 count --close-at-end
  assert_equal "$(rows)" 'a[0,10000)=1 a[10000,20000)=1'
  # Rows of what is closed are deleted from the changelog, too.
  run records "$app-agg-changelog" '%S\n'
  assert_line -- -1
}

@test "windows: without an application the end of a topic closes them" {
  setup_windows
  at a@1000 b@15000
  try 0 timeout 60 kstream-agg -i "$in" -e --timestamp .t --window tumbling:10s --count -o -
  assert_output '{"key":"a","window_start":0,"window_end":10000,"count":1}
{"key":"b","window_start":10000,"window_end":20000,"count":1}'
}

@test "windows: --idle-advance lets the last window of a quiet topic come out" {
  setup_windows
  at a@1000
  start log err "${counter[@]}" --window tumbling:2s --idle-advance 500ms
  until_true has_records "$out" 1
  kill -TERM "$pid"
  ends 0 "$pid"
  assert_equal "$(rows)" 'a[0,2000)=1'
}

@test "windows: --late goes to a topic, also exactly-once" {
  setup_windows
  topic late 1
  at a@15000 b@1000
  try 0 count --late "$late" --eos
  assert_equal "$(records "$late" '%k %s %T\n')" 'b {"t":1000} 1000'
}

@test "windows: updates are a table by group and start, and its rows leave the store" {
  setup_windows
  at a@1000 b@2000
  count --emit update
  at a@3000 a@11000
  count --emit update
  at a@12000
  count --emit update
  assert_equal "$(records "$out" '%k %s\n' | jq -rc 'select(type == "array")' | sort | uniq -c | awk '{print $1, $2}')" \
    '2 ["a",0]
2 ["a",10000]
1 ["b",0]'
  # The tombstones of a and b of the first window.
  assert_equal "$(records "$app-agg-changelog" '%S\n' | grep -c -- -1)" 2
}

@test "windows: killed at random moments, the rows are those of an undisturbed run (exactly-once)" {
  setup_windows 2
  topic whole 1
  local i turn
  lines() { for ((i = $1; i < $2; i++)); do echo "k$((i % 7))|{\"t\":$((i * 300 + i * 7919 % 2500))}"; done; }
  lines 0 600 | put "$in" -K '|'
  local undisturbed=("${counter[@]/#"$out"/"$whole"}")
  timeout 60 "${undisturbed[@]}" -G "$app-whole" --state-dir "$PWD/whole" --grace 1s -e
  for turn in 1 2 3; do
    start log err "${counter[@]}" --eos --grace 1s
    until_true has_records "$out" $((turn * 20 + RANDOM % 10))
    kill -9 "$pid"
    wait "$pid" || true
  done
  count --eos --grace 1s
  assert_equal "$(values "$out" | sort | md5sum)" "$(values "$whole" | sort | md5sum)"
}
