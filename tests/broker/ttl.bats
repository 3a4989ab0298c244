#!/usr/bin/env bats
# kstream-agg --ttl on topics: rows end in the output's table, the store and the changelog, whatever ends
# the process.
load helper

# setup_living [PARTITIONS]: counts by user, of rows that live for 10 s.
setup_living() {
  topic in "${1:-1}"
  topic out 1
  app=ttl-$unique
  stage=(kstream-agg -q -i "$in" -G "$app" --state-dir "$PWD/state" --timestamp .t --count --ttl 10s --emit change
    -X session.timeout.ms=6000 --commit-interval 200ms)
}
count() { timeout 60 "${stage[@]}" -o "$out" -e "$@"; }
# at USER@MS...: records.
at() {
  local record
  for record; do printf '%s|{"t":%s}\n' "${record%@*}" "${record#*@}"; done | put "$in" -K '|'
}
# The table that a topic is, and the keys that it has.
table() { records "$1" '%k %S %s\n' | awk '$2 < 0 {delete t[$1]; next} {t[$1] = $3} END {for (k in t) print k, t[k]}' | sort; }
keys() { table "$1" | cut -d' ' -f1 | paste -sd' '; }

@test "ttl: rows end in output, store and changelog" {
  setup_living
  at a@1000 b@2000
  count
  assert_equal "$(keys "$out")" 'a b'
  at a@10999 c@12000
  count
  assert_equal "$(keys "$out")" 'a c'
  # b goes once the time that ended it is committed.
  at c@12001
  count
  assert_equal "$(keys "$app-agg-changelog")" 'a c'
  try 0 kstream-inspect-state -q -G "$app" --state-dir state scan
  assert_equal "$(jq -r '[.key, .value.count] | join("=")' <<<"$output" | sort | paste -sd' ')" 'a=2 c=2'
  # Which is so on a host that has nothing yet, and with another --ttl at once.
  rm -r state
  at d@12500
  count --ttl 1s
  assert_equal "$(keys "$out")" 'c d'
}

# Times go on, and come back a little.
lines() { for ((i = $1; i < $2; i++)); do echo "k$((i * i % 41))|{\"t\":$((1000 + i * 250 + i * 7919 % 2500))}"; done; }

# killed OPTION...: at moments that are none in particular; then to the end. The undisturbed run goes to $whole.
killed() {
  local turn
  topic whole 1
  lines 0 600 | put "$in" -K '|'
  for turn in 1 2 3; do
    start log err "${stage[@]}" -o "$out" "$@"
    until_true has_records "$out" $((turn * 150 + RANDOM % 100))
    kill -9 "$pid"
    wait "$pid" || true
  done
  count "$@"
  # What has ended is deleted with the next commit.
  at k0@153000
  count "$@"
  timeout 60 kstream-agg -q -i "$in" -o "$whole" -G "$app-whole" --state-dir whole --timestamp .t --count --ttl 10s -e
}

@test "ttl: killed at random moments, the table is that of an undisturbed run (exactly-once)" {
  setup_living
  killed --eos
  assert_equal "$(table "$out")" "$(table "$whole")"
  assert_equal "$(keys "$app-agg-changelog")" "$(keys "$out")"
}

@test "ttl: killed at random moments, rows that ended stay away (at-least-once)" {
  setup_living
  killed
  assert_equal "$(keys "$out")" "$(keys "$whole")"
  assert_equal "$(keys "$app-agg-changelog")" "$(keys "$out")"
}
