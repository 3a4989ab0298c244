#!/usr/bin/env bats
# kstream-run: topologies from files, without a broker.
load helper

orders() {
  for i in 1 2 3 4 5; do
    printf '{"user":"u%d","amount":%d}\n' $((i % 2)) $((i * 50))
  done
}

write_sums() {
  cat >sums.json <<'EOF'
{"nodes": {
  "orders": {"source": "orders.ndjson"},
  "big":    {"from": "orders", "filter": ".amount > ${MIN:-60}"},
  "sums":   {"from": "big",
             "aggregate": {"by": ".user", "count": "n", "sum": {"total": ".amount"}}},
  "out":    {"from": "sums", "sink": "-"}}}
EOF
  orders >orders.ndjson
}

@test "a filter, an aggregate and a sink run on files" {
  write_sums
  try 0 kstream-run sums.json
  assert_output '{"key":"u0","n":2,"total":300}
{"key":"u1","n":2,"total":400}'
  assert_counts kstream-run 5 2 0
}

@test "the number of partitions changes no result" {
  write_sums
  try 0 kstream-run sums.json --partitions 3
  assert_equal "$(sort <<<"$output")" '{"key":"u0","n":2,"total":300}
{"key":"u1","n":2,"total":400}'
}

@test "variables: --set wins over the environment, and that over the default" {
  write_sums
  MIN=200 try 0 kstream-run sums.json
  assert_output '{"key":"u1","n":1,"total":250}'
  MIN=1 try 0 kstream-run sums.json --set MIN=200
  assert_output '{"key":"u1","n":1,"total":250}'
  try 2 kstream-run sums.json --set MN=200
  assert_stderr_is 'kstream-run: error: MN is set, and sums.json has no ${MN}'
}

@test "flags win over the file" {
  write_sums
  jq '.limit = 1' sums.json >limited.json
  try 0 kstream-run limited.json
  assert_counts kstream-run 5 1 0
  try 0 kstream-run limited.json -c 2 -J
  assert_output '{"key":"u0","value":{"key":"u0","n":2,"total":300}}
{"key":"u1","value":{"key":"u1","n":2,"total":400}}'
}

@test "a mistake is told with file, line and column" {
  printf '{"nodes": {\n  "in": {"source": "x"},\n  "f": {"from": "in", "filter": ".a >"}}}' >bad.json
  try 3 kstream-run bad.json
  assert_stderr_is 'kstream-run: error: bad.json:3:38: the expression ends too early'
  try 2 kstream-run missing.json
  assert_one_error 'missing.json: the file cannot be read'
  try 2 kstream-run
  assert_one_error 'FILE is missing'
}
