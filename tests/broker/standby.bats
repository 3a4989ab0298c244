#!/usr/bin/env bats
# Standbys on a broker: the instance that runs a task is killed, and another that kept its store warm
# goes on, with the right counts, and sooner than one that has to restore it.
load helper

# $KSTREAM_STANDBY_KEYS: how many rows there are to restore.
keys=${KSTREAM_STANDBY_KEYS:-300000}

# member NAME [OPTION...]: an instance that counts the records of each key, with a directory of its
# own; what it says has the time.
member() {
  start "$1.out" "$1.err" kstream-agg -i "$in" -o "$out" -G "$in" --count --state-dir "$1" --log json -v \
    --commit-interval 200ms -X session.timeout.ms=6000 -X heartbeat.interval.ms=500 "${@:2}"
}

# counted FROM TO: a record of each key of that range.
counted() { seq -f 'key%.0f:{}' "$1" "$2" | put "$in" -K: -X partitioner=murmur2_random; }

# What a read_committed reader finds.
committed_rows() { records "$out" '%s\n' -X isolation.level=read_committed; }
has_rows() { (($(committed_rows | wc -l) >= $1)); }

# The last count of each key is $1 for the first $2 keys, and 1 for the others.
has_counts() {
  committed_rows | jq -r '"\(.key) \(.count)"' |
    awk -v twice="$2" -v count="$1" -v all="$keys" '
      { last[$1] = $2; rows++ }
      END {
        for (i = 1; i <= all; i++) if (last["key" i] != (i <= twice ? count : 1)) wrong++
        exit wrong > 0
      }'
}

is_all_committed() { # all that is in $in
  [[ $(committed "$in" "$in") == "$(log_ends "$in" 2)" ]]
}

has_tasks() { # MEMBERS: so many of the group have tasks
  admin members "$in" | jq -e --argjson n "$1" \
    '.state == "Stable" and ([.members[] | select([.partitions[][]] | length > 0)] | length == $n)'
}

# standing_by DIR: of its stores, whether each was last kept warm for another instance.
standing_by() { kstream-inspect-state -G "$in" --state-dir "$1" ls | jq .standby | sort | paste -sd' '; }

# resume_ms ERR: from the assignment that followed the death to the moment when all tasks ran.
resume_ms() {
  jq -s 'map(select(.message | test("^thread 0: (rebalancing|running)$")) | .at = (.ts | .[:19] + "Z" | fromdate) * 1000 + (.ts | .[20:23] | tonumber))
    | (map(select(.message | endswith("running")))[-1].at) - (map(select(.message | endswith("rebalancing")))[-1].at)' "$1"
}

# The task of the first instance is warm in the second, and the other way round.
task_of() { jq -r .message "$1.err" | sed -n 's/^thread 0: tasks .*(now \([0-9_]*\))$/\1/p' | tail -n 1; }
are_warm() {
  holds "$2.err" "task $(task_of "$1") is warm: " && holds "$1.err" "task $(task_of "$2") is warm: "
}

# takes_over NAME FILE [OPTION...]: two instances share the tasks; one is killed, and the other has
# all of them, with a record more of 1000 keys. Its time to resume, ms, goes to FILE.
takes_over() {
  local name=$1 file=$2 unique=$unique-$1
  topic in 2
  topic out 2
  counted 1 "$keys"
  member "$name-a" "${@:3}"
  local first=$pid
  until_true has_rows "$keys"
  until_true is_all_committed
  member "$name-b" "${@:3}"
  local second=$pid
  until_true has_tasks 2
  [[ $name != warm* ]] || until_true are_warm "$name-a" "$name-b"
  kill -9 "$first"
  wait "$first" || true
  counted 1 1000
  until_true has_rows $((keys + 1000))
  until_true is_all_committed
  has_counts 2 1000
  assert_equal "$(committed_rows | wc -l)" $((keys + 1000))
  resume_ms "$name-b.err" >"$file"
  kill "$second"
  ends 0 "$second"
}

@test "a killed instance's task goes on from a warm store, with exact counts" {
  local guarantee
  for guarantee in at-least-once exactly-once; do
    takes_over "warm-$guarantee" warm --guarantee "$guarantee" --standby 1
    # The one that was killed stood by for the other's task; the other runs both.
    assert_equal "$(standing_by "warm-$guarantee-a")" 'false true'
    assert_equal "$(standing_by "warm-$guarantee-b")" 'false false'
    holds "warm-$guarantee-b.err" ' stands by here: store agg from offset '
    takes_over "cold-$guarantee" cold --guarantee "$guarantee"
    echo "# $guarantee, half of $keys keys: resumed after $(<warm) ms with a standby, $(<cold) ms without" >&3
  done
}

# Under exactly-once, whatever was under way when the process died.
@test "killed in the middle of counting, again and again, the standby counts each record once" {
  topic in 2
  topic out 2
  local turn pids=()
  for turn in 0 1; do
    member "m$turn" --eos --standby all
    pids[turn]=$pid
  done
  until_true has_tasks 2
  for turn in 0 1 2 3; do
    counted 1 2000
    until_true has_rows $((turn * 2000 + RANDOM % 1000 + 1))
    kill -9 "${pids[turn % 2]}"
    wait "${pids[turn % 2]}" || true
    member "m$((turn % 2))" --eos --standby all
    pids[turn % 2]=$pid
    until_true has_rows $(((turn + 1) * 2000))
    until_true has_tasks 2
  done
  keys=2000 has_counts 4 2000
  assert_equal "$(committed_rows | wc -l)" 8000
}

@test "--standby where nobody could stand by is refused before anything is read" {
  topic in
  try 2 kstream-agg -i "$in" --count --standby 1
  assert_error_is "kstream-agg: error: --standby needs a topic to read and --app: its instances are those that stand by for one another"
  try 2 kstream-filter -i "$in" -G "$in" --standby all true
  assert_error_is "kstream-filter: error: --standby: this topology keeps no state that could be kept warm"
  try 2 kstream-agg -i "$in" -G "$in" --count --standby many
  assert_error_is "kstream-agg: error: --standby: 'many' is neither all nor a number of instances, 0 to 1000"
}
