#!/usr/bin/env bats
# kstream-run on a cluster: whole topologies, stages in several processes, and what is asked beforehand.
load helper

write_counts() {
  cat >counts.json <<EOF
{"nodes": {
  "in":     {"source": "$in"},
  "counts": {"from": "in", "aggregate": {"by": ".user", "count": true}},
  "out":    {"from": "counts", "sink": "$out"}}}
EOF
}

@test "run: two stages in one process" {
  topic in 2
  topic out
  write_counts
  printf '{"user":"%s"}\n' a b a c a | put "$in"
  kstream-run -q -G "run-$unique" -e counts.json
  assert_equal "$(values "$out" | sort | paste -sd' ')" \
    '{"key":"a","count":3} {"key":"b","count":1} {"key":"c","count":1}'
}

@test "run: each stage in a process of its own" {
  topic in 2
  topic out
  write_counts
  printf '{"user":"%s"}\n' a b a c a | put "$in"
  kstream-run -q -G "only-$unique" -e --create-output 2 --only in counts.json
  assert_equal "$(values "only-$unique-counts-repartition" | wc -l)" 5
  kstream-run -q -G "only-$unique" -e --only counts counts.json
  assert_equal "$(values "$out" | sort | paste -sd' ')" \
    '{"key":"a","count":3} {"key":"b","count":1} {"key":"c","count":1}'
}

@test "run: --check --online tells what is missing, and what there is to do" {
  topic in 3
  printf '{"user":"a"}\n' | put "$in"
  out=out-$unique
  write_counts
  run --separate-stderr kstream-run -G "online-$unique" --check --online counts.json
  assert_equal "$status" 4
  [[ $stderr == *"topic $out is missing: --create-output makes outputs that are"* ]]
  run --separate-stderr kstream-run -G "online-$unique" --check --online --create-output 1 counts.json
  assert_equal "$status" 0
  [[ $stderr == *"input topic $in: 3 partitions, 1 records"* ]]
  kstream-run --explain=json --online --create-output 1 -G "online-$unique" counts.json >plan
  assert_equal "$(jq -c '.topics[0] | [.partitions, .records]' plan)" '[3,1]'
}

@test "run: --check --online tells of topics that keep less than the topology looks back" {
  topic short 1 cleanup.policy=delete retention.ms=60000
  topic compacted 1 cleanup.policy=compact
  topic out
  cat >minutes.json <<END
{"nodes": {
  "in":      {"source": "\${IN}"},
  "minutes": {"from": "in", "aggregate": {"by": ".user", "count": true, "window": "tumbling:1m",
              "grace": "\${GRACE:-1ms}"}},
  "out":     {"from": "minutes", "sink": "$out"},
  "users":   {"table": "\${USERS}"}}}
END
  check() {
    run --separate-stderr kstream-run -G "history-$unique" --check --online minutes.json --set "$@"
    assert_equal "$status" 0
  }
  check IN="$short" --set USERS="$compacted"
  [[ $stderr == *"topic $short keeps records for 60000 ms (retention.ms), and 'minutes' looks 60001 ms back: "* ]]
  [[ $stderr != *"rows of 'users'"* ]]
  check IN="$short" --set USERS="$compacted" --set GRACE=0s
  [[ $stderr != *"'minutes' looks"* ]]
  check IN="$compacted" --set USERS="$short"
  [[ $stderr == *"topic $compacted is compacted, and 'minutes' looks 60001 ms back"* ]]
  [[ $stderr == *"topic $short has the rows of 'users', and its cleanup.policy=delete deletes each 60000 ms "* ]]
}

@test "run: --check --online tells of internal topics that were altered" {
  topic in
  topic out
  write_counts
  app=altered-$unique
  admin create-topic "$app-counts-repartition" 1 cleanup.policy=compact
  admin create-topic "$app-counts-changelog" 1 cleanup.policy=delete
  run --separate-stderr kstream-run -G "$app" --check --online counts.json
  assert_equal "$status" 4
  [[ $stderr == *"repartition topic $app-counts-repartition has cleanup.policy=compact and was made with delete"* ]]
  [[ $stderr == *"changelog $app-counts-changelog has cleanup.policy=delete and must have compact"* ]]
}
