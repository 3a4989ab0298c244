#!/usr/bin/env bats
# kstream-filter --unique-by on topics: through repartition topics, restarts and kills.
load helper

# setup_unique EXPR [PARTITIONS]
setup_unique() {
  topic in "${2:-1}"
  topic out 1
  app=once-$unique
  stage=(kstream-filter -q -i "$in" -o "$out" -G "$app" --state-dir "$PWD/state" --timestamp .t --unique-by "$1"
    --within 10s -X session.timeout.ms=6000 --commit-interval 200ms)
}

# Keys come again after a while, times go on and come back a little.
lines() {
  local i
  for ((i = $1; i < $2; i++)); do
    echo "k$((i * i % 41))|{\"n\":$i,\"id\":$((i * 31 % 97)),\"t\":$((1000 + i * 250 + i * 7919 % 5000))}"
  done
}

# killed OPTION...: at moments that are none in particular, before all of the 209 that are kept; then to
# the end.
killed() {
  local turn
  lines 0 600 | put "$in" -K '|'
  for turn in 1 2 3; do
    start log err "${stage[@]}" "$@" true
    until_true has_records "$out" $((turn * 50 + RANDOM % 50))
    kill -9 "$pid"
    wait "$pid" || true
  done
  timeout 60 "${stage[@]}" "$@" -e true
}

# What is kept of the same records in a file.
undisturbed() {
  lines 0 600 | cut -d'|' -f2- |
    kstream-filter -q --timestamp .t -k '.n * .n % 41 | "k\(.)"' --unique-by "$1" --within 10s true
}

@test "unique: killed at random moments, what is kept is that of an undisturbed run (exactly-once)" {
  setup_unique '$key'
  killed --eos
  assert_equal "$(values "$out")" "$(undisturbed '$key')"
}

@test "unique: killed at random moments, nothing is lost, and only what is read again comes twice (at-least-once)" {
  setup_unique '$key'
  killed
  assert_equal "$(values "$out" | sort -u)" "$(undisturbed '$key' | sort)"
}

@test "unique: by another key than the record's, over partitions" {
  setup_unique .id 3
  lines 0 600 | put "$in" -K '|'
  timeout 60 "${stage[@]}" --grace 1h -e true
  values "$out" >kept
  # Whichever of them came first, no two are near to each other, and nothing else is missing.
  lines 0 600 | cut -d'|' -f2- >all
  jq -sc 'group_by(.id)[] | sort_by(.t) | . as $r | range(1; length) | select($r[.].t - $r[. - 1].t <= 10000)' kept >near
  assert_equal "$(cat near)" ''
  jq -nc --slurpfile kept kept 'inputs | . as $one |
    select(all($kept[]; .id != $one.id or ((.t - $one.t) | fabs) > 10000))' all >missing
  assert_equal "$(cat missing)" ''
  # Each under its own key.
  records "$out" '%k %s\n' | sed 's/^k//' | jq -Rr 'split(" ") as [$k, $v] | select(($v | fromjson | .n * .n % 41) != ($k | tonumber))' >other
  assert_equal "$(cat other)" ''
}
