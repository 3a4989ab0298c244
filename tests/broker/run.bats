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
