#!/usr/bin/env bats
# Membership as time goes by: restarts of static members, partitions that are added, slow work, and
# very many partitions.
load helper

sorted_numbers() { tr -dc '0-9\n' | sort -n; }

# What the group has assigned, a line a member: "INSTANCE-OR-CLIENT: PARTITION...".
assigned() {
  admin members "$1" | jq -r '.members[] |
    "\(if .instance == "" then .client else .instance end): \([.partitions[][]] | sort | join(" "))"' | sort
}

# Every partition of COUNT is assigned, and to MEMBERS members in even shares.
is_shared() { # GROUP COUNT MEMBERS
  admin members "$1" | jq -e --argjson count "$2" --argjson members "$3" '
    .state == "Stable" and (.members | length == $members) and
    ([.members[].partitions[][]] | length == $count) and
    ([.members[] | [.partitions[][]] | length] | max - min <= 1)'
}

# static ID OUT: a member of $in's group that stays the same over restarts.
static() {
  start "$2" "err-$2" kstream-filter -i "$in" -G "$in" --instance-id "$1" --commit-interval 100ms \
    -X heartbeat.interval.ms=300 -f '%p %s\n' true
}

@test "--instance-id: a restart moves nothing, and the others never stop" {
  topic in 4
  static a out1
  local first=$pid before n=0 p how other
  static b out2
  until_true is_shared "$in" 4 2
  before=$(assigned "$in")
  assert_equal "$(cut -d: -f1 <<<"$before")" 'a-0
b-0'
  other=$pid
  start watched err "$kafka_tool" "$KSTREAM_BROKERS" members "$in" 50
  local watcher=$pid
  pid=$other
  round() { # a record into each partition
    for p in 0 1 2 3; do
      n=$((n + 1))
      numbers $n $n | put "$in" -p $p
    done
  }
  # The one that stays has its records of every round, whether the other is there or not.
  first_has_all() {
    local owned
    owned=$(sed -n 's/^a-0: //p' <<<"$before")
    has_lines out1 $((n / 4 * $(wc -w <<<"$owned")))
  }
  everything() { [[ $(cat out1 out2* | cut -d' ' -f2 | sort -u | wc -l) == "$n" ]]; }
  round
  until_true everything
  for how in TERM KILL; do
    kill -$how "$pid"
    wait "$pid" || [[ $how == KILL ]] || fail "a static member that was told to stop ended with $?"
    round
    until_true first_has_all
    assert_equal "$(assigned "$in")" "$before"
    static b "out2-$how"
    round
    until_true everything
    assert_equal "$(assigned "$in")" "$before"
  done
  kill "$watcher"
  # Nobody has seen anything else in between: the group was never even in a rebalance.
  assert_equal "$(jq -r .state watched | sort -u)" Stable
  assert_equal "$(jq -c '[.members[] | [.instance, .partitions]] | sort' watched | sort -u | wc -l)" 1
  kill "$first" "$pid"
  ends 0 "$first"
  ends 0 "$pid"
}

# Two topics of two partitions, merged, and a running stage over them.
grown_pair() {
  topic one 2
  topic two 2
  topic out
  numbers 1 5 | put "$one" -p 0
  numbers 6 10 | put "$one" -p 1
  numbers 11 15 | put "$two" -p 0
  numbers 16 20 | put "$two" -p 1
  start /dev/null err kstream-filter -i "$one" -i "$two" -o "$out" -G "$one" \
    --commit-interval 100ms -X topic.metadata.refresh.interval.ms=1000 true
  until_true has_records "$out" 20
}

stops_having_read_to() { # LAST
  until_true has_records "$out" "$1"
  kill "$pid"
  ends 0 "$pid"
  assert_equal "$(values "$out" | sorted_numbers)" "$(seq 1 "$1")"
  assert_equal "$(committed "$one" "$one")" "$(log_ends "$one" "$2")"
  assert_equal "$(committed "$one" "$two")" "$(log_ends "$two" "$3")"
}

@test "new partitions of both inputs of a running stage are read from their beginning" {
  grown_pair
  admin add-partitions "$one" 4
  admin add-partitions "$two" 4
  numbers 21 25 | put "$one" -p 2
  numbers 26 30 | put "$two" -p 2
  numbers 31 35 | put "$one" -p 3
  numbers 36 40 | put "$two" -p 3
  stops_having_read_to 40 4 4
}

@test "new partitions of the first input alone" {
  grown_pair
  admin add-partitions "$one" 3
  numbers 21 25 | put "$one" -p 2
  stops_having_read_to 25 3 2
}

@test "new partitions of the second input alone" {
  grown_pair
  admin add-partitions "$two" 3
  numbers 21 25 | put "$two" -p 2
  stops_having_read_to 25 2 3
}

# Some 20 ms of work in libjq for each record, on a machine of today.
slow='.n as $n | reduce range(0; 30000) as $i ($n; . + 1) | . > 0'

@test "slow work: no member is put out while it gets on, and it shares with one that joins" {
  topic in 4
  numbers 1 4000 | put "$in" -X partitioner=random -X sticky.partitioning.linger.ms=0
  slow_member() { # OUT CLIENT
    start "$1" "$1.err" kstream-filter -i "$in" -G "$in" --commit-interval 200ms -f '%p %s\n' \
      -X client.id="$2" -X session.timeout.ms=6000 -X max.poll.interval.ms=6000 \
      -X heartbeat.interval.ms=300 "$slow"
  }
  slow_member out1 one
  local first=$pid member lines
  until_true is_shared "$in" 4 1
  member=$(admin members "$in" | jq -r '.members[0].id')
  SECONDS=0
  # For longer than both limits.
  while ((SECONDS < 9)); do
    sleep 0.5
    assert_equal "$(admin members "$in" | jq -r '[.state, .members[].id] | join(" ")')" "Stable $member"
  done
  lines=$(wc -l <out1)
  ((lines > 0 && lines < 2000)) || fail "$lines of 4000 records are done after 9 s"
  slow_member out2 two
  until_true is_shared "$in" 4 2
  until_true has_lines out2 1
  # It did not wait until all was done that the first had fetched, which is all there is.
  (($(wc -l <out1) < lines + 1000)) || fail "the first did $(wc -l <out1) before the second had any"
  assert_equal "$(admin members "$in" | jq -r '.members[] | select(.client | startswith("one")).id')" "$member"
  SECONDS=0
  kill "$first" "$pid"
  ends 0 "$first"
  ends 0 "$pid"
  ((SECONDS <= 20)) || fail "it took $SECONDS s to stop"
  # What they have committed is what they have written, and each record was read once.
  assert_equal "$(cat out1 out2 | sort | uniq -d)" ''
  assert_equal "$(committed "$in" "$in" | tr -d - | tr ' ' '\n' | awk '{ sum += $1 } END { print sum }')" \
    "$(cat out1 out2 | wc -l)"
}

# member OUT ERR OPTION...: of $in's group with a session of 1.5 s, or another; sets $pid.
member() {
  start "$1" "$2" kstream-filter -i "$in" -o "$out" -G "$in" --commit-interval 100ms \
    -X session.timeout.ms=1500 -X heartbeat.interval.ms=300 "${@:3}" true
}

@test "a process that was stopped for longer than its session throws away what it had begun and joins again" {
  topic in 2
  topic out
  # What it writes waits in its producer for so long that the stop comes before it goes out.
  member /dev/null err1 -X out.linger.ms=900 --stats 50ms
  local first=$pid
  until_true is_shared "$in" 2 1
  numbers 1 10 | put "$in" -p 0
  until_true holds err1 '"written":10'
  kill -STOP "$first"
  member /dev/null err2
  until_true is_shared "$in" 2 1
  numbers 11 20 | put "$in" -p 1
  everything() { [[ $(values "$out" | sort -u | wc -l) == "$1" ]]; }
  until_true everything 20
  local before
  before=$(log_end "$out" 0)
  kill -CONT "$first"
  until_true holds err1 'thread 0 stood still for '
  until_true is_shared "$in" 2 2
  assert_equal "$(log_end "$out" 0)" "$before"
  assert_equal "$(grep -c 'longer than its session: its tasks have moved, it joins again$' err1)" 1
  numbers 21 30 | put "$in" -p 0
  numbers 31 40 | put "$in" -p 1
  until_true everything 40
  kill "$first" "$pid"
  ends 0 "$first"
  ends 0 "$pid"
  assert_equal "$(values "$out" | sorted_numbers | uniq)" "$(seq 1 40)"
}

@test "a record that takes longer than the session is no stop" {
  topic in 1
  topic out
  numbers 1 3 | put "$in"
  # Some seconds of work in libjq for each record.
  start /dev/null err kstream-filter -i "$in" -o "$out" -G "$in" -e -X session.timeout.ms=1500 \
    -X heartbeat.interval.ms=300 '.n as $n | reduce range(0; 4000000) as $i ($n; . + 1) | . > 0'
  ends 0 "$pid"
  assert_equal "$(values "$out")" "$(numbers 1 3)"
  assert_equal "$(grep -v librdkafka err)" '% kstream-filter: 3 read, 3 written, 0 skipped'
}

@test "SIGTERM while the group waits for a member that was killed ends with 0" {
  topic in 4
  topic out
  # Long enough to meet the rebalance while it waits.
  local first second third session=session.timeout.ms=6000
  member /dev/null err1 -X $session
  first=$pid
  member /dev/null err2 -X $session
  second=$pid
  until_true is_shared "$in" 4 2
  numbers 1 100 | put "$in" -X partitioner=random -X sticky.partitioning.linger.ms=0
  kill -9 "$second"
  member /dev/null err3 -X $session  # its join begins a rebalance, which waits for the dead one
  third=$pid
  rebalances() { [[ $(admin members "$in" | jq -r .state) == PreparingRebalance ]]; }
  until_true rebalances
  SECONDS=0
  kill -TERM "$first"
  ends 0 "$first"
  ((SECONDS <= 20)) || fail "it took $SECONDS s to stop"
  everything() { [[ $(values "$out" | sort -u | wc -l) == 100 ]]; }
  until_true everything
  kill "$third"
  ends 0 "$third"
}

@test "two processes with one --instance-id: the first ends with 7, and the second goes on" {
  topic in 2
  topic out
  member /dev/null err1 --instance-id same
  local first=$pid
  until_true is_shared "$in" 2 1
  member /dev/null err2 --instance-id same
  ends 7 "$first"
  grep -qF 'another member has the same group.instance.id' err1 || fail "$(cat err1)"
  numbers 1 10 | put "$in"
  until_true has_records "$out" 10
  kill "$pid"
  ends 0 "$pid"
}

@test "1000 partitions in one process" {
  topic in 1000
  topic out
  seq 0 1999 | sed 's/.*/{"n":&}/' >numbers
  try 0 kstream-filter -i file:numbers -o "$in" --partition '.n % 1000' -q true
  run_measured() {
    python3 - "$@" <<'END'
import resource, subprocess, sys, time
start = time.monotonic()
code = subprocess.run(sys.argv[1:]).returncode
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
print(f'{time.monotonic() - start:.1f} {peak}')
sys.exit(code)
END
  }
  local group=many-$unique seconds megabytes
  try 0 run_measured kstream-filter -i "$in" -o "$out" -G "$group" -e true
  read -r seconds megabytes <<<"$output"
  echo "# 1000 partitions, 2000 records: $seconds s, $megabytes MB at most" >&3
  assert_equal "$(values "$out" | sorted_numbers)" "$(seq 0 1999)"
  assert_equal "$(committed "$group" "$in" | tr ' ' '\n' | sort | uniq -c | tr -s ' ')" ' 1000 2'
  # 27 MB were measured; fetched records may take 64 MB more.
  ((megabytes < 128)) || fail "it took $megabytes MB"
  admin delete-topic "$in"
}
