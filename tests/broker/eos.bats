#!/usr/bin/env bats
# Exactly-once on a broker: whatever happens to processes, a read_committed reader has every record once.
load helper

short=(-X session.timeout.ms=3000 -X heartbeat.interval.ms=300)

# filter OUT-TOPIC STATE [OPTION...]: passes on what is in $in, in small transactions.
filter() {
  start log "err-$2" kstream-filter -i "$in" -o "$1" -G "$in" --eos --commit-interval 50ms --state-dir "$2" \
    "${short[@]}" "${@:3}" true
}

counter() { # STATE [OPTION...]
  echo kstream-agg -i "$in" -o "$out" -G "$app" --by .user --count --eos --commit-interval 50ms --state-dir \
    "$PWD/$1" "${short[@]}" "${@:2}"
}

# committed_values TOPIC, of a reader of what is committed.
committed_values() { values "$1" -X isolation.level=read_committed; }
has_committed() { (($(committed_values "$1" | wc -l) >= $2)); }

# The rows of each user rise, to COUNT.
all_counted() { # USERS COUNT
  committed_values "$out" | jq -cs --argjson n "$1" --argjson count "$2" '
    group_by(.key) | length == $n and all(.[]; map(.count) | . == unique and last == $count)' | grep -qx true
}

is_shared_by() { # GROUP MEMBERS
  admin members "$1" | jq -e --argjson members "$2" \
    '.state == "Stable" and ([.members[] | select([.partitions[][]] | length > 0)] | length == $members)'
}

# What a restore of the changelog into an empty directory has, after one record more of each user.
restores_to() { # USERS COUNT
  users "$1" 1 | put "$in"
  # shellcheck disable=SC2046
  timeout 60 $(counter empty -e)
  assert_equal "$(committed_values "$out" | jq -Ssc 'reduce .[] as $row ({}; .[$row.key] = $row.count)')" \
    "$(all "$1" $(($2 + 1)))"
}

@test "eos: killed at random moments, every record is there once (EOS-1)" {
  topic in 3
  topic out 2
  local turn before
  for turn in 1 2 3 4 5; do
    numbers $((turn * 1000 - 999)) $((turn * 1000)) | put "$in"
    before=$(committed_values "$out" | wc -l)
    filter "$out" state
    until_true has_committed "$out" $((before + RANDOM % 300 + 1))
    kill -9 "$pid"
    wait "$pid" || true
  done
  timeout 60 kstream-filter -i "$in" -o "$out" -G "$in" --eos --state-dir state "${short[@]}" -e true
  committed_values "$out" | tr -dc '0-9\n' | sort -n >got
  seq 5000 | diff - got
}

@test "eos: a chain of two stages passes every record on once, through kills of both" {
  topic in 3
  topic middle 2
  topic out 1
  numbers 1 4000 | put "$in"
  second() {
    start log err2 kstream-map -i "$middle" -o "$out" -G "$middle" --eos --commit-interval 50ms --state-dir state2 \
      "${short[@]}" .n
  }
  local turn one two
  for turn in 1 2 3; do
    filter "$middle" state
    one=$pid
    second
    two=$pid
    sleep "0.$((RANDOM % 7 + 3))"
    kill -9 "$one" "$two"
    wait "$one" "$two" || true
  done
  timeout 60 kstream-filter -i "$in" -o "$middle" -G "$in" --eos --state-dir state "${short[@]}" -e true
  timeout 60 kstream-map -i "$middle" -o "$out" -G "$middle" --eos --state-dir state2 "${short[@]}" -e .n
  committed_values "$out" | sort -n >got
  seq 4000 | diff - got
}

@test "eos: kstream-agg killed at random moments counts as if it had not been (EOS-1)" {
  topic in 3
  topic out 1
  app=agg-$unique
  local turn before
  for turn in 1 2 3 4 5; do
    users 10 20 | put "$in"
    before=$(committed_values "$out" | wc -l)
    # shellcheck disable=SC2046
    start log err $(counter state)
    # At work: what came since the last kill brings ten new rows at least.
    until_true has_committed "$out" $((before + RANDOM % 10 + 1))
    kill -9 "$pid"
    wait "$pid" || true
  done
  # shellcheck disable=SC2046
  timeout 60 $(counter state -e)
  all_counted 10 100
  restores_to 10 100
}

@test "eos: a process that was stopped for longer than its session changes nothing when it wakes" {
  topic in 4
  topic out 1
  app=agg-$unique
  users 10 20 | put "$in"
  # shellcheck disable=SC2046
  start log1 err1 $(counter one)
  local first=$pid
  until_true all_counted 10 20
  # shellcheck disable=SC2046
  start log2 err2 $(counter two)
  local second=$pid
  until_true is_shared_by "$app" 2
  users 10 20 | put "$in"
  kill -STOP "$first"
  users 10 20 | put "$in"
  # The other has all of the tasks.
  until_true all_counted 10 60
  kill -CONT "$first"
  users 10 20 | put "$in"
  until_true all_counted 10 80
  kill "$first" "$second"
  ends 0 "$first"
  ends 0 "$second"
  all_counted 10 80
  restores_to 10 80
}

@test "eos: a process that was stopped for longer than a transaction goes on by itself" {
  topic in
  topic out
  numbers 1 1000 | put "$in"
  filter "$out" state -X session.timeout.ms=30000 -X out.transaction.timeout.ms=1000
  until_true has_committed "$out" 1000
  numbers 1001 1500 | put "$in"
  kill -STOP "$pid"
  sleep 4 # the broker looks every second
  kill -CONT "$pid"
  numbers 1501 2000 | put "$in"
  until_true has_committed "$out" 2000
  kill "$pid"
  ends 0 "$pid"
  committed_values "$out" | tr -dc '0-9\n' | sort -n >got
  seq 2000 | diff - got
}

@test "eos: a copy of a state directory fences one of its two users, with exit code 7" {
  topic in 2
  topic out
  numbers 1 100 | put "$in"
  filter "$out" state
  local first=$pid
  until_true has_committed "$out" 100
  cp -r state copy
  filter "$out" copy
  local second=$pid
  has_ended() { ! kill -0 "$1" 2>/dev/null; }
  until_true has_committed "$out" 100
  until_true is_shared_by "$in" 2
  numbers 101 150 | put "$in" -p 0
  numbers 151 200 | put "$in" -p 1
  until_true has_ended "$first"
  ends 7 "$first"
  holds err-state 'another producer has taken transactional.id'
  until_true has_committed "$out" 200
  kill "$second"
  ends 0 "$second"
  committed_values "$out" | tr -dc '0-9\n' | sort -n >got
  seq 200 | diff - got
}

@test "eos: dead letters are committed with the rest" {
  topic in
  topic out
  topic bad
  printf '%s\n' '{"n":1}' '{"n":"x"}' '{"n":3}' | put "$in"
  timeout 60 kstream-map -i "$in" -o "$out" --dead-letter "$bad" -G "$in" --eos --state-dir state -e '.n + 1'
  assert_equal "$(committed_values "$out" | paste -sd' ')" '2 4'
  assert_equal "$(committed_values "$bad")" '{"n":"x"}'
}
