#!/usr/bin/env bats
# kstream-agg on topics: state that survives restarts, lost directories and kills.
load helper

# setup_state [PARTITIONS]
setup_state() {
  topic in "${1:-3}"
  topic out 1
  app=agg-$unique
  # Counts what comes in by user.
  counter=(kstream-agg -i "$in" -o "$out" -G "$app" --state-dir "$PWD/state" --by .user --count
    -X session.timeout.ms=1500 -X heartbeat.interval.ms=300)
}

# count [OPTION...]: what is in the topic, to its end.
count() { timeout 60 "${counter[@]}" -e "$@"; }

# The last row of each user, by user.
table() {
  kcat -C -q -e -b "$KSTREAM_BROKERS" -t "$out" | jq -Ssc 'reduce .[] as $row ({}; .[$row.key] = $row.count)'
}

holds_table() { [[ $(table) == "$1" ]]; }

policy() {
  kafka_tools kafka.admin.ConfigCommand --entity-type topics --entity-name "$app-agg-changelog" --alter \
    --add-config "cleanup.policy=$1"
}

@test "agg: counts go on over restarts, and over a lost state directory (REST-1)" {
  setup_state
  users 7 20 | put "$in"
  count
  assert_equal "$(table)" "$(all 7 20)"
  users 7 20 | put "$in"
  count
  assert_equal "$(table)" "$(all 7 40)"
  rm -r state
  users 7 1 | put "$in"
  count
  assert_equal "$(table)" "$(all 7 41)"
  # A changelog is plain: kcat reads it.
  run kcat -C -q -e -b "$KSTREAM_BROKERS" -t "$app-agg-changelog" -f '%k %s\n'
  assert_line 'u3 {"count":41}'
}

@test "agg: a store of one user, whose other changelog partitions are empty, is restored (REST-1)" {
  setup_state
  users 1 3 | put "$in"
  count
  rm -r state
  users 1 1 | put "$in"
  count
  assert_equal "$(table)" '{"u0":4}'
}

@test "agg: a changelog whose records were deleted has nothing to restore (REST-1)" {
  need_kafka_tools
  setup_state
  users 1 3 | put "$in"
  count
  local p
  kcat -C -q -e -b "$KSTREAM_BROKERS" -t "$app-agg-changelog" -f '%p\n' | sort -u >partitions
  assert_equal "$(wc -l <partitions)" 1
  read -r p <partitions
  # Brokers delete records only where age may delete them too.
  policy '[compact,delete]'
  admin delete-records "$app-agg-changelog" "$p" 1
  policy compact
  rm -r state
  users 1 1 | put "$in"
  count
  assert_equal "$(table)" '{"u0":1}'
}

@test "agg: killed at random moments, no count is below the truth, and restores agree (EOS-1)" {
  setup_state
  local turn written
  for turn in 1 2 3; do
    users 10 20 | put "$in"
    written=$(values "$out" | wc -l)
    start log err "${counter[@]}" --commit-interval 50ms
    # At work: what came since the last kill brings ten new rows at least.
    until_true has_records "$out" $((written + RANDOM % 10 + 1))
    kill -9 "$pid"
    wait "$pid" || true
  done
  count
  table >with-state
  jq -e 'length == 10 and all(.[]; . >= 60)' with-state
  rm -r state
  users 10 1 | put "$in"
  count
  assert_equal "$(table)" "$(jq -Sc 'map_values(. + 1)' with-state)"
}

@test "agg: state without committed offsets stops, with what to do" {
  need_kafka_tools
  setup_state
  users 2 2 | put "$in"
  count
  consumer_groups --delete --group "$app"
  try 6 count
  assert_stderr_has 'has no committed offsets'
  assert_equal "$(table)" "$(all 2 2)"
}

@test "agg: one directory has one owner, and a killed owner leaves it free (STATE-3)" {
  setup_state
  users 2 2 | put "$in"
  start log err "${counter[@]}" --commit-interval 100ms
  until_true has_records "$out" 2
  kill -9 "$pid"
  wait "$pid" || true
  users 2 1 | put "$in"
  count
  assert_equal "$(table)" "$(all 2 3)"
}

@test "agg: repartitioned keys are counted by the task that Java's partitioner gives them (JOIN-5)" {
  local turn key partitions task
  while IFS=, read -r key partitions task; do
    turn=$((${turn:-0} + 1))
    unique=$unique-$turn
    setup_state "$partitions"
    echo "{\"user\":\"$key\"}" | put "$in"
    count
    # A task's changelog partition has its number, and the task that of its repartition partition.
    assert_equal "$(kcat -C -q -e -b "$KSTREAM_BROKERS" -t "$app-agg-changelog" -f '%p/%k')" "$task/$key"
  done <<'END'
TT0124,15,10
fd7af248-ce5c-46a5-93d7-1c0c9005b99d,32,26
354afe16-939a-4ea8-8e17-8bb0840b6886,10,4
f562ac3b-2224-4e25-a0ab-56094e10c239,10,5
alice,3,0
,4,1
END
}

# changelog_deleted GUARANTEE: under a running stage.
changelog_deleted() {
  setup_state 1
  users 4 10 | put "$in"
  start rows err "${counter[@]}" --guarantee "$1" --commit-interval 200ms
  until_true holds_table "$(all 4 10)"
  admin delete-topic "$app-agg-changelog"
  users 4 10 | put "$in"
  ends 6 "$pid"
  holds err "changelog $app-agg-changelog is gone, and with it state of application $app"
}

@test "agg: a changelog that is deleted under a running stage ends it with 6" {
  changelog_deleted at-least-once
}

@test "agg: a changelog that is deleted under a running stage ends it with 6, exactly once" {
  changelog_deleted exactly-once
}

# changes N: rows of a table of N people, who change teams or leave.
changes() {
  local i
  for ((i = 0; i < $1; i++)); do
    if ((RANDOM % 4 == 0)); then
      printf 'p%d:\n' $((RANDOM % 20))
    else
      printf 'p%d:{"team":"t%d","n":%d}\n' $((RANDOM % 20)) $((RANDOM % 3)) $((RANDOM % 100))
    fi
  done
}

# What the rows of a topic say of each team that has any.
teams() {
  kcat -C -q -e -b "$KSTREAM_BROKERS" -t "$1" -J | jq -Ssc 'reduce .[] as $r ({}; .[$r.key] = $r.payload) |
    [.[] | select(. != null) | fromjson] | group_by(.team) |
    map({(.[0].team): [length, (map(.n) | add)]}) | add // {}'
}

@test "agg: --table, killed at random moments under exactly-once, has each row once (EOS-1)" {
  topic in 3
  topic out 1
  app=agg-$unique
  local turn written
  local counter=(kstream-agg -i "$in" -o "$out" -G "$app" --state-dir "$PWD/state" --table --by .team
    --count --sum .n --eos -X session.timeout.ms=1500 -X heartbeat.interval.ms=300)
  for turn in 1 2 3; do
    changes 100 | put "$in" -Z -K: -X partitioner=murmur2_random
    written=$(values "$out" | wc -l)
    start log err "${counter[@]}" --commit-interval 100ms
    until_true has_records "$out" $((written + 1))
    kill -9 "$pid"
    wait "$pid" || true
  done
  timeout 100 "${counter[@]}" -e
  assert_equal "$(kcat -C -q -e -b "$KSTREAM_BROKERS" -t "$out" -X isolation.level=read_committed |
    jq -Ssc 'reduce .[] as $row ({}; .[$row.key] = [$row.count, $row.sum]) | map_values(select(.[0] > 0))')" \
    "$(teams "$in")"
}
