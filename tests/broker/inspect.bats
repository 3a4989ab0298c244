#!/usr/bin/env bats
# kstream-inspect-state on a cluster: looking into a stage while it runs and after, and resets.
load helper

setup_app() {
  topic in 3
  topic out 1
  app=insp-$unique
  # Counts what is in the topic by user.
  stage=(kstream-agg -q -i "$in" -o "$out" -G "$app" --state-dir "$PWD/state" --by .user --count
    -X session.timeout.ms=6000 --commit-interval 200ms)
}

# count [OPTION...]: to the end of the topic.
count() { timeout 60 "${stage[@]}" -e "$@"; }

inspect() { kstream-inspect-state -G "$app" --state-dir "$PWD/state" "$@"; }
local_only() { env -u KSTREAM_BROKERS kstream-inspect-state -G "$app" --state-dir "$PWD/state" "$@"; }
# Counts by user, of rows.
table() { jq -Ssc 'map({(.key): .value.count}) | add'; }
has_counts() { [[ $(inspect scan 2>/dev/null | table) == "$(all "$1" "$2")" ]]; }
# Those that are called after a beginning, but for manifests.
topics() {
  kcat -L -b "$KSTREAM_BROKERS" -J | jq -r '.topics[].topic' | grep -F -- "$1" | grep -v 'kstream$' | sort |
    paste -sd' '
}
steps() { jq -r '[.step, .topic, .partition, .to] | map(select(. != null)) | join(" ")'; }

@test "inspect: a stage is looked into while it runs, with and without brokers" {
  setup_app
  users 5 20 | put "$in"
  start agg.out agg.err "${stage[@]}"
  until_true has_counts 5 20
  try 0 inspect get u3
  assert_equal "$(jq -c '[.store, .key, .value]' <<<"$output")" '["agg","u3",{"count":20}]'
  assert_stderr_has 'as of changelog offset '
  # The directory alone is as of the last flush, and says so; the owner is shown.
  try 0 local_only ls
  assert_equal "$(jq -r .locked_by <<<"$output" | sort -u)" "process $(cat "state/$app/.lock")"
  try 0 local_only scan
  kill "$pid"
  ends 0 "$pid"
  # A clean stop flushes.
  try 0 local_only scan
  assert_equal "$(table <<<"$output")" "$(all 5 20)"
  assert_stderr_has '% agg[0]: as of changelog offset '
  try 0 local_only ls
  assert_equal "$(jq -r .locked_by <<<"$output" | sort -u)" null
  assert_equal "$(jq -r .incarnation <<<"$output" | sort -u | wc -l)" 1
}

@test "inspect: the tail of the changelog is laid over an old directory, and --from-changelog needs none" {
  setup_app
  users 5 2 | put "$in"
  count
  cp -r state old
  users 6 1 | put "$in"
  count
  rm -r state
  mv old state
  assert_equal "$(local_only scan 2>/dev/null | table)" "$(all 5 2)"
  want='{"u0":3,"u1":3,"u2":3,"u3":3,"u4":3,"u5":1}'
  assert_equal "$(inspect scan 2>/dev/null | table)" "$want"
  try 0 inspect get u5
  try 1 local_only get u5
  # Nor does anything else with brokers: what is not here is read from its changelog.
  rm -r state
  try 6 local_only scan
  try 0 inspect scan
  assert_equal "$(table <<<"$output")" "$want"
  try 0 inspect scan --from-changelog
  assert_equal "$(table <<<"$output")" "$want"
  try 0 inspect get u5 --from-changelog
  assert_equal "$(jq .value.count <<<"$output")" 1
  try 0 inspect stats --from-changelog
  assert_equal "$(jq -s 'map(.rows) | add' <<<"$output")" 6
  try 1 inspect get nobody --from-changelog
  assert [ ! -e "state/$app" ]
}

@test "inspect: reset touches no neighbour whose name begins alike (OPS-1)" {
  topic orders 2
  app=bill-$unique
  admin create-topic "$app-raw-changelog" 1
  echo '{"user":"u1"}' | put "$app-raw-changelog"
  echo '{"user":"u1"}' | put "$orders"
  timeout 60 kstream-agg -q -i "$orders" -i "$app-raw-changelog" -o file:out -G "$app" --state-dir state \
    --by .user --count --store cnt -e
  timeout 60 kstream-agg -q -i "$orders" -o file:eu.out -G "$app-eu" --state-dir state --count --store cnt -k .user -e
  assert_equal "$(topics "$app-")" \
    "$app-cnt-changelog $app-cnt-repartition $app-eu-cnt-changelog $app-eu-cnt-repartition $app-raw-changelog"
  reset() { kstream-inspect-state -G "$app" --state-dir state reset --to-earliest "$@"; }
  deleted() { jq -r 'select(.step == "delete-topic").topic' | sort | paste -sd' '; }
  try 0 reset
  assert_equal "$(deleted <<<"$output")" "$app-cnt-changelog $app-cnt-repartition"
  refute_output --partial "$app-eu"
  assert_stderr_has 'nothing was changed: --execute does it'
  assert_equal "$(topics "$app-cnt")" "$app-cnt-changelog $app-cnt-repartition"
  try 0 reset --execute
  assert_equal "$(deleted <<<"$output")" "$app-cnt-changelog $app-cnt-repartition"
  assert_equal "$(topics "$app-")" "$app-eu-cnt-changelog $app-eu-cnt-repartition $app-raw-changelog"
  try 0 env -u KSTREAM_BROKERS kstream-inspect-state -G "$app-eu" --state-dir state get u1
  # One that does not exist is none.
  app=bill-${unique%?}
  try 4 reset --execute
  assert_output ''
  assert_stderr_has "there is no application $app"
}

@test "inspect: reset is refused while members are alive, and then counts are made anew" {
  setup_app
  users 4 10 | put "$in"
  start agg.out agg.err "${stage[@]}"
  until_true has_counts 4 10
  try 8 inspect reset --to-earliest --execute
  assert_output ''
  assert_stderr_has "application $app has 1 member: stop it first: "
  kill "$pid"
  ends 0 "$pid"
  cp -r state elsewhere # another host's
  try 0 inspect reset --to-earliest
  cp <(steps <<<"$output" | sort) plan
  grep -qx "new-incarnation $app.kstream" plan
  assert_equal "$(grep -c "^set-offset $in [0-2] 0$" plan)" 3
  has_counts 4 10
  try 0 inspect reset --to-earliest --execute
  diff plan <(steps <<<"$output" | sort)
  assert_equal "$(committed "$app" "$in")" '0 0 0'
  try 6 inspect scan
  # The stale directory of the other host is not taken up again.
  rm -r state
  mv elsewhere state
  try 0 local_only scan
  count
  assert_equal "$(inspect scan 2>/dev/null | table)" "$(all 4 10)"
  assert_equal "$(local_only scan 2>/dev/null | table)" "$(all 4 10)"
}

@test "inspect: after a reset another number of partitions is no trouble, and --to-latest forgets all" {
  setup_app
  users 4 10 | put "$in"
  count
  admin add-partitions "$in" 5
  try 0 inspect reset --to-latest --execute
  users 4 3 | put "$in"
  count
  assert_equal "$(inspect scan 2>/dev/null | table)" "$(all 4 3)"
}

@test "inspect: a reset that was cut short is finished by the next, and nothing starts in between" {
  setup_app
  users 4 10 | put "$in"
  count
  # What has been done when it ends after its first step.
  admin delete-topic "$app-agg-changelog"
  try 6 count
  assert_stderr_has "changelog $app-agg-changelog is gone"
  try 0 inspect reset --to-earliest --execute
  count
  assert_equal "$(inspect scan 2>/dev/null | table)" "$(all 4 10)"
}

@test "inspect: --backup copies the changelogs first, in a form that can be written again" {
  setup_app
  users 4 10 | put "$in"
  count
  values "$app-agg-changelog" | sort >before
  try 0 inspect reset --to-earliest --backup copies
  assert [ ! -e copies ]
  try 0 inspect reset --to-earliest --backup copies --execute
  file=copies/$app-agg-changelog.ndjson
  jq -c .value "$file" | sort | diff before -
  topic again 3
  kstream-filter -q --in envelope -i "file:$file" -o "$again" --partition '$partition' true
  values "$again" | sort | diff before -
  # It is not overwritten.
  count
  try 8 inspect reset --to-earliest --backup copies --execute
  assert_stderr_has "$file is there already"
  has_counts 4 10
}

@test "inspect: a reset is undone with its backup and what it printed, and counts go on" {
  setup_app
  users 5 10 | put "$in"
  count
  inspect reset --to-earliest --backup copies --execute >steps
  try 6 inspect scan
  # As share/doc/kstream/reset.md has it.
  jq -r 'select(.step == "set-offset") | "\(.topic),\(.partition),\(.from // 0)"' steps >positions
  try 0 inspect reset --from-file positions --execute
  count --limit 0
  for file in copies/*-changelog.ndjson; do
    topic=$(basename "$file" .ndjson)
    kstream-filter -q --in envelope -i "file:$file" -o "$topic" --partition '$partition' true
  done
  users 5 1 | put "$in"
  count --from beginning
  has_counts 5 11
  users 5 1 | put "$in"
  count
  has_counts 5 12
  assert_equal "$(values "$out" | jq -Sc '{(.key): .count}' | tail -n 5 | jq -Ssc add)" "$(all 5 12)"
}

@test "inspect: offsets of a plain stage are set in Kafka's words" {
  topic in
  numbers 1 10 | put "$in"
  app=plain-$unique
  kstream-filter -q -i "$in" -G "$app" -o file:out -e true
  at() {
    try 0 kstream-inspect-state -q -G "$app" --state-dir state reset "$@" --execute
    committed "$app" "$in"
  }
  assert_equal "$(at --to-offset 4)" 4
  assert_equal "$(at --shift-by -3)" 1
  assert_equal "$(at --shift-by=2)" 3
  assert_equal "$(at --to-latest)" 10
  assert_equal "$(at --to-earliest)" 0
  assert_equal "$(at --by-duration 1h)" 0
  assert_equal "$(at --to-datetime 2100-01-01T00:00:00Z)" 10
  echo "$in,0,7" >offsets
  assert_equal "$(at --from-file offsets)" 7
  kstream-filter -q -i "$in" -G "$app" -o file:rest -e true
  assert_equal "$(wc -l <rest)" 3
}

@test "inspect: a static member that was stopped is told with its count-down" {
  topic in
  numbers 1 3 | put "$in"
  app=static-$unique
  start out err kstream-filter -i "$in" -G "$app" --instance-id host-7 -X session.timeout.ms=6000 true
  until_true has_lines out 3
  kill "$pid"
  ends 0 "$pid"
  reset() {
    kstream-inspect-state -G "$app" --state-dir state -X session.timeout.ms=6000 reset --to-earliest --execute
  }
  try 8 reset
  assert_stderr_has 'host-7'
  assert_stderr_has 'try again in 6 s at most'
  until_true reset
  assert_equal "$(committed "$app" "$in")" 0
}

@test "inspect: without a manifest nothing is guessed: topics are adopted by name" {
  topic in
  numbers 1 3 | put "$in"
  app=old-$unique
  kstream-filter -q -i "$in" -G "$app" -o file:out -e true
  admin create-topic "$app-a-changelog" 1
  admin create-topic "$app-b-changelog" 1
  try 8 kstream-inspect-state -G "$app" --state-dir state reset --to-earliest --execute
  assert_stderr_has "look like its own: $app-a-changelog, $app-b-changelog"
  try 0 kstream-inspect-state -G "$app" --state-dir state reset --to-earliest --adopt "$app-a-changelog" --execute
  assert_equal "$(topics "$app-")" "$app-b-changelog"
  assert_equal "$(committed "$app" "$in")" 0
}

# The block marked `console broker`: commands after "$ ", and their stdout. Its names are made our own.
@test "inspect: the session of the README" {
  sed -n '/^```console broker$/,/^```$/p' "$ROOT/README.md" | grep -v '^```' |
    sed "s/\bshop\b/shop-$unique/g" >session
  assert [ "$(grep -c '^\$ ' session)" -ge 6 ]
  cd "$ROOT"
  local line expected='' command=''
  check() {
    [[ -n $command ]] || return 0
    run --separate-stderr bash -o pipefail -c "$command" </dev/null
    [[ $status == 0 ]] || fail "$command: ended with $status: $stderr"
    assert_equal "$output" "${expected%$'\n'}"
  }
  while IFS= read -r line; do
    if [[ $line == '$ '* ]]; then
      check
      command=${line#'$ '} expected=''
    else
      expected+=$line$'\n'
    fi
  done <"$BATS_TEST_TMPDIR/session"
  check
}
