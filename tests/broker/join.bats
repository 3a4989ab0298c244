#!/usr/bin/env bats
# kstream-join on topics: restarts, ends, kills, and keys that lie elsewhere.
load helper

# setup_join [LEFT-PARTITIONS [RIGHT-PARTITIONS]]
setup_join() {
  topic left "${1:-1}"
  topic right "${2:-${1:-1}}"
  topic out 1
  app=join-$unique
  joiner=(kstream-join -l "$left" -r "$right" -o "$out" -G "$app" --state-dir "$PWD/state"
    --timestamp .t --within 10s --commit-interval 100ms --value '[$key, $left.t, $right.t]'
    -X session.timeout.ms=1500 -X heartbeat.interval.ms=300)
}

# at TOPIC RECORD...: "key@ms", by key, as Java's producer places them.
at() {
  local record topic=$1
  shift
  for record; do printf '%s|{"t":%s}\n' "${record%@*}" "${record#*@}"; done |
    put "$topic" -K '|' -X topic.partitioner=murmur2
}

join_all() { timeout 60 "${joiner[@]}" -e "$@"; }
results() { values "$out" | paste -sd' '; }

@test "join: a restart goes on with what waits, under both guarantees" {
  for guarantee in at-least-once exactly-once; do
    setup_join 2
    at "$left" a@1000 b@2000
    try 0 join_all --guarantee $guarantee --type left
    assert_stderr_has '--close-at-end closes them'
    assert_equal "$(results)" ''
    at "$right" a@9000 c@30000
    at "$left" c@30000 a@30000 b@30000
    rm -rf state
    try 0 join_all --guarantee $guarantee --type left --close-at-end
    assert_equal "$(values "$out" | sort | paste -sd' ')" \
      '["a",1000,9000] ["a",30000,null] ["b",2000,null] ["b",30000,null] ["c",30000,30000]'
    unique=$unique-2
  done
}

@test "join: a side with another key, or other partitions, is repartitioned; else it is refused" {
  setup_join 2 5
  at "$right" a@1000 b@1000 c@1000 d@1000
  printf '%s\n' '{"k":"a","t":1}' '{"k":"b","t":2}' '{"k":"c","t":3}' '{"k":"d","t":4}' | put "$left"
  try 4 join_all
  assert_stderr_has 'equal keys would not meet'
  try 0 join_all --left-key .k
  assert_equal "$(values "$out" | sort | paste -sd' ')" '["a",1,1000] ["b",2,1000] ["c",3,1000] ["d",4,1000]'
  # The same without an application.
  try 0 timeout 60 kstream-join -l "$left" -r "$right" --left-key .k --timestamp .t --within 10s -e
  assert_equal "$(wc -l <<<"$output")" 4
}

@test "join: a key that murmur2 would put elsewhere is told, and --left-key mends it (JOIN-5)" {
  setup_join 10
  local key=354afe16-939a-4ea8-8e17-8bb0840b6886
  echo "$key|{\"t\":1000}" | put "$right" -K '|' -p 4
  echo "$key|{\"t\":2000}" | put "$left" -K '|' -p 9
  try 0 join_all
  assert_equal "$(results)" ''
  assert_stderr_has "$left[9]@0: key $key is not in the partition that murmur2 chooses, 4 of 10"
  assert_stderr_has 'nothing matched'
  unique=$unique-2
  app=join-$unique
  try 0 join_all -G "$app" --left-key '$key'
  assert_equal "$(results)" "[\"$key\",2000,1000]"
}

@test "join: killed at random moments, the pairs are those of an undisturbed run (exactly-once)" {
  setup_join 2
  topic whole 1
  local i turn
  # lines SEED: records of 9 keys, out of order by up to 2.5 s.
  lines() {
    for ((i = 0; i < 500; i++)); do echo "k$((i * $1 % 9))|{\"t\":$((5000 + i * 300 + i * 7919 % 2500))}"; done |
      put "$2" -K '|' -X topic.partitioner=murmur2
  }
  lines 5 "$left"
  lines 7 "$right"
  local undisturbed=("${joiner[@]/#"$out"/"$whole"}") how=(--type outer --within 1s --grace 3s)
  timeout 60 "${undisturbed[@]}" -G "$app-whole" --state-dir "$PWD/whole" "${how[@]}" -e
  for turn in 1 2 3; do
    start log err "${joiner[@]}" --eos "${how[@]}"
    until_true has_records "$out" $((turn * 60 + RANDOM % 30))
    kill -9 "$pid"
    wait "$pid" || true
  done
  join_all --eos "${how[@]}"
  assert [ "$(values "$whole" | wc -l)" -gt 500 ]
  assert_equal "$(values "$out" | sort | md5sum)" "$(values "$whole" | sort | md5sum)"
}

# rows TOPIC RECORD...: as at, and -KEY deletes the row.
rows() {
  local topic=$1 record
  shift
  for record; do
    if [[ $record == -* ]]; then
      printf '%s|\n' "${record:1:1}" | put "$topic" -K '|' -Z -X topic.partitioner=murmur2
    else
      printf '%s|{"t":%s}\n' "${record%@*}" "${record#*@}" |
        put "$topic" -K '|' -X topic.partitioner=murmur2
    fi
  done
}

@test "join: of tables, a restart goes on with the rows, under both guarantees" {
  for guarantee in at-least-once exactly-once; do
    setup_join 2
    tables() {
      timeout 60 kstream-join -l "$left" -r "$right" -o "$out" -G "$app" --state-dir "$PWD/state" -e \
        --tables --guarantee $guarantee --value '[$key, $left.t, $right.t]'
    }
    rows "$left" a@1 b@2
    rows "$right" a@3
    try 0 tables
    rm -rf state
    rows "$right" b@4
    rows "$left" -a
    try 0 tables
    assert_equal "$(kcat -b "$KSTREAM_BROKERS" -C -t "$out" -e -q -f '%k %s\n' | sort | paste -sd'|')" \
      'a |a ["a",1,3]|b ["b",2,4]'
    unique=$unique-2
  done
}

@test "join: a table by another key is repartitioned, and deleted under the key it had" {
  setup_join 2 3
  with_table() {
    timeout 60 kstream-join -l "$left" -r "$right" -o "$out" -G "$app" --state-dir "$PWD/state" -e \
      --timestamp '.t // 0' --table --type left --value '[$key, $left.t, $right.t]' "$@"
  }
  rows "$right" a@5
  try 4 with_table
  assert_stderr_has 'equal keys would not meet'
  try 0 with_table --right-key .t --left-key '$key'
  rows "$left" 5@10
  try 0 with_table --right-key .t --left-key '$key'
  rows "$right" a@6
  try 0 with_table --right-key .t --left-key '$key'
  rows "$left" 5@20 6@20
  try 0 with_table --right-key .t --left-key '$key'
  assert_equal "$(values "$out" | sort | paste -sd' ')" \
    '["5",10,5] ["5",20,null] ["6",20,6]'
}
