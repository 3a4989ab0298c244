#!/usr/bin/env bats
# kstream-inspect-state: rows taken out, put in and compared, on a cluster.
load helper

setup_app() {
  topic in 3
  topic out 1
  app=rows-$unique
  stage=(kstream-agg -q -i "$in" -o "$out" -G "$app" --state-dir "$PWD/state" --by .user --count
    -X session.timeout.ms=6000 --commit-interval 200ms)
}
count() { timeout 60 "${stage[@]}" -e "$@"; }
inspect() { kstream-inspect-state -G "$app" --state-dir "$PWD/state" "$@"; }
compare() { kstream-inspect-state --state-dir "$PWD/state" diff "$@"; }
table() { jq -Ssc 'map({(.key): .value.count}) | add'; }

@test "inspect: a dump is loaded into the changelog, and the stage goes on from it" {
  setup_app
  users 4 10 | put "$in"
  count
  inspect -q dump >dump
  assert_equal "$(jq -s 'map(.tasks) | unique' -c <dump)" '[3]'
  users 4 5 | put "$in"
  count
  assert_equal "$(inspect -q scan | table)" "$(all 4 15)"
  try 0 inspect load dump
  assert_equal "$(jq -s 'map(.puts) | add' <<<"$output")" 4
  assert_stderr_has 'nothing was changed: --execute does it'
  assert_equal "$(inspect -q scan | table)" "$(all 4 15)"
  try 0 inspect load dump --replace --execute
  assert_equal "$(jq -sc '[(map(.puts) | add), (map(.deletes) | add)]' <<<"$output")" '[4,0]'
  assert_stderr_has "the changelog of application $app is loaded"
  diff <(sort dump) <(inspect -q dump | sort)
  # The directory is older than its changelog until the stage starts.
  users 4 1 | put "$in"
  count
  assert_equal "$(inspect -q scan | table)" "$(all 4 11)"
  try 0 inspect -q verify
  # A host that has nothing of it starts from the same.
  rm -r state
  users 4 1 | put "$in"
  count
  assert_equal "$(inspect -q scan | table)" "$(all 4 12)"
}

@test "inspect: a dump is loaded under exactly-once, and again is nothing" {
  setup_app
  stage+=(--eos)
  users 4 10 | put "$in"
  count
  inspect -q dump | jq -c '.value.count = 100' >dump
  try 0 inspect -q load dump --execute
  try 0 inspect -q load dump --execute
  assert_equal "$(jq -sc '[(map(.puts) | add), (map(.same) | add)]' <<<"$output")" '[0,4]'
  users 4 1 | put "$in"
  count
  assert_equal "$(inspect -q scan | table)" "$(all 4 101)"
}

@test "inspect: load is refused while members are alive, and for other numbers of tasks" {
  setup_app
  users 4 10 | put "$in"
  start agg.out agg.err "${stage[@]}"
  has_counts() { [[ $(inspect scan 2>/dev/null | table) == "$(all 4 10)" ]]; }
  until_true has_counts
  inspect -q dump >dump
  try 8 inspect -q load dump --execute
  assert_output ''
  assert_stderr_has "application $app has 1 member: stop it first: "
  kill "$pid"
  ends 0 "$pid"
  try 8 inspect -q load <(jq -c '.tasks = 5' dump) --execute
  assert_stderr_has 'the rows are of a store with 5 tasks, and store agg has 3'
  try 8 env -u KSTREAM_BROKERS kstream-inspect-state -q -G "$app" --state-dir state load dump --execute
  assert_stderr_has 'store agg has a changelog, which must agree with it: give --brokers'
  try 0 inspect -q load dump --execute
}

@test "inspect: verify compares directory and changelog as of the directory's offset" {
  setup_app
  users 4 10 | put "$in"
  count
  try 0 inspect verify
  assert_equal "$(jq -sc '[(map(.rows) | add), (map(.differing + .superseded) | add)]' <<<"$output")" '[4,0]'
  # A store that is behind is compared with what it should have been.
  cp -r state old
  users 4 1 | put "$in"
  count
  rm -r state
  mv old state
  try 0 inspect -q verify
  assert_equal "$(jq -sc 'map(.differing) | add' <<<"$output")" 0
  # One that is not what its changelog says.
  printf '%s\n' '{"user":"u1"}' '{"user":"x"}' >other
  task=$(env -u KSTREAM_BROKERS kstream-inspect-state -q -G "$app" --state-dir state get u1 | jq .task)
  env -u KSTREAM_BROKERS kstream-agg -q -i other --by .user --count -G other --state-dir wrong >/dev/null
  rm -r "state/$app/agg/$task"
  cp -r wrong/other/agg/0 "state/$app/agg/$task"
  try 6 inspect -q verify
  assert_stderr_has 'it is of another incarnation of the application: a start would rebuild it'
  rm -r state
  try 6 inspect -q verify
  assert_stderr_has "application $app has no store with a changelog in "
}

@test "inspect: an application and its changelog are compared, and a dump with either" {
  setup_app
  users 4 10 | put "$in"
  count
  try 0 compare "app:$app" "changelog:$app"
  try 0 compare "state/$app" "changelog:$app"
  inspect -q dump >dump
  try 0 compare dump "changelog:$app"
  cp -r "state/$app" old
  users 4 1 | put "$in"
  count
  try 1 compare old "changelog:$app"
  assert_equal "$(jq -c '[.a.value.count, .b.value.count]' <<<"$output" | sort -u)" '[10,11]'
  assert_stderr_has "4 of 4 rows differ between old and changelog:$app"
}

@test "inspect: history tells all that the changelog has of a key" {
  setup_app
  for n in 1 2 3; do
    users 2 1 | put "$in"
    count
  done
  try 0 inspect history u1
  assert_equal "$(jq -c '[.key, .value.count]' <<<"$output")" '["u1",1]
["u1",2]
["u1",3]'
  assert_equal "$(jq -s 'map(.offset) == (map(.offset) | sort) and all(.written > 1700000000000)' <<<"$output")" true
  assert_stderr_has 'as far as compaction has left them'
  inspect -q dump | jq -c 'select(.key == "u1") | del(.value) + {payload: null}' >delete
  try 0 inspect -q load delete --execute
  try 0 inspect -q history u1
  assert_equal "$(tail -n 1 <<<"$output" | jq -c '[.key, .value, has("payload")]')" '["u1",null,true]'
  try 0 inspect -q history u1 --limit 1
  assert_equal "$(wc -l <<<"$output")" 1
  try 1 inspect -q history nobody
  assert_stderr_is 'kstream-inspect-state: error: the changelog has nothing of key nobody'
  try 0 inspect -q history u1 --pretty
  assert_line --index 0 --regexp '^offset +written +store +time +key +window +value$'
  assert_output --partial '(deleted)'
}
