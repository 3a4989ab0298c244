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

# --- kinds ---

@test "branches, a merge and a topic in between" {
  orders >orders.ndjson
  cat >t.json <<'EOF'
{"nodes": {
  "in":    {"source": "orders.ndjson", "key": ".user"},
  "fork":  {"from": "in", "branch": [{"name": "odd", "when": ".user == \"u1\""}, {"name": "even"}]},
  "plus":  {"from": "odd", "map-values": ".amount"},
  "minus": {"from": "even", "map-values": "-.amount"},
  "both":  {"merge": ["plus", "minus"]},
  "via":   {"from": "both", "through": "middle"},
  "shown": {"from": "via", "peek": "$key"},
  "out":   {"from": "shown", "sink": "-"}}}
EOF
  try 0 kstream-run t.json
  assert_output '50
-100
150
-200
250'
  assert_stderr_has '% shown: "u1"'
  try 0 kstream-run t.json --partitions 4 -q
  assert_equal "$(sort -n <<<"$output" | paste -sd' ')" '-200 -100 50 150 250'
}

@test "records that are too late come out by a name of their own" {
  printf '{"t":%d}\n' 1 20000 2 30000 >in
  cat >t.json <<'EOF'
{"nodes": {
  "in":   {"source": "in", "timestamp": ".t"},
  "n":    {"from": "in", "aggregate": {"by": "\"all\"", "count": true, "window": "tumbling:10s",
           "late": "late"}},
  "rows": {"from": "n", "map-values": ".window_start"},
  "out":  {"from": "rows", "sink": "-"},
  "rest": {"from": "late", "sink": "late.ndjson"}}}
EOF
  try 0 kstream-run t.json
  assert_output '0
20000
30000'
  assert_equal "$(cat late.ndjson)" '{"t":2}'
}

@test "a join, with what is late by a name of its own" {
  printf '{"u":"%s","t":%d}\n' a 1000 b 30000 a 2000 >left
  printf '{"u":"%s","t":%d,"r":1}\n' a 900 b 60000 >right
  cat >t.json <<'EOF'
{"nodes": {
  "l":    {"source": "left", "timestamp": ".t"},
  "r":    {"source": "right", "timestamp": ".t"},
  "both": {"join": {"left": "l", "right": "r", "left-key": ".u", "right-key": ".u", "type": "left",
           "within": "1s", "prior": true, "value": "[$key, $left.t, $right.t]", "late": "late"}},
  "out":  {"from": "both", "sink": "-"},
  "rest": {"from": "late", "sink": "late.ndjson"}}}
EOF
  try 0 kstream-run t.json
  assert_line '["a",1000,900]'
  assert_line '["b",30000,null]'
  sed -i 's/"prior": true/"latest": true/' t.json
  try 3 kstream-run t.json
  assert_one_error "'latest' needs 'prior'"
}

@test "every kind of node is in the schema, and every field of it" {
  printf '{"nodes":{"a":{}}}' >none.json
  try 3 kstream-run none.json
  kinds=$(sed 's/.*give it one of //; s/, /\n/g' <<<"$stderr" | sort)
  schema=$ROOT/share/kstream/schema/topology.schema.json
  jq -r '."$defs".node.properties | keys[]' "$schema" | sort >fields
  assert_equal "$(comm -23 <(echo "$kinds") fields)" ''
  # What is asked of a node of each kind that has no fields of its own is what it takes.
  while read -r kind; do
    printf '{"nodes":{"s":{"source":"x"},"a":{"from":"s","%s":"."%s,"no such field":1}}}' "$kind" \
      "$([[ $kind == sink ]] && echo ',"partition":"$partition"')" >a.json
    try 3 kstream-run a.json
    [[ $stderr == *': it takes '* ]] || continue
    assert_equal "$(comm -23 <(sed 's/.*: it takes //; s/, /\n/g' <<<"$stderr" | sort) fields)" ''
  done <<<"$kinds"
  # And of what stands in a node with state.
  local -A sound=([aggregate]='"count":true' [join]='"left":"s","right":"s","within":"1s"'
    [unique]='"by":".","within":"1s"')
  for kind in "${!sound[@]}"; do
    from=$([[ $kind == join ]] || echo '"from":"s",')
    printf '{"nodes":{"s":{"source":"x"},"a":{%s"%s":{%s,"~":1}}}}' "$from" "$kind" "${sound[$kind]}" >a.json
    try 3 kstream-run a.json
    assert_stderr_has "the $kind of 'a' has no field '~': it takes "
    jq -r --arg kind "$kind" '."$defs"[$kind].properties | keys[]' "$schema" | sort >fields
    assert_equal "$(sed 's/.*: it takes //; s/, /\n/g' <<<"$stderr" | sort)" "$(cat fields)"
  done
}

# --- what it shows ---

@test "explain: nodes, stages, tasks, and what stands in the way of exactly-once" {
  write_sums
  try 0 kstream-run --explain sums.json
  assert_line 'topology sums.json'
  assert_line '  filter  big  from orders'
  assert_line '    sum total: .amount'
  assert_line 'stage 0: orders, big, sums, out'
  assert_line '  tasks: 1'
  assert_line '  stores: sums'
  assert_line 'not exactly-once: there is no application: --app'
  assert_stderr_is ''
  try 0 kstream-run --explain -b 127.0.0.1:1 -G app sums.json
  assert_line 'stage 0: orders, big, sums-group, sums-sink'
  assert_line '  tasks: one for each partition of topic orders.ndjson'
  assert_line 'stage 1: sums-source, sums, out'
  assert_line '  tasks: as many as stage 0 has'
  assert_line 'internal topic: app-sums-repartition (repartition)'
  assert_line 'internal topic: app-sums-changelog (changelog)'
}

@test "explain: json and dot" {
  write_sums
  kstream-run --explain=json -b 127.0.0.1:1 -G app sums.json >plan
  assert_equal "$(jq -c '[.topology, .app, .stages[1].after, .stages[1].stores]' plan)" \
    '["sums.json","app",[0],["sums"]]'
  try 0 kstream-run --explain=dot sums.json
  assert_line --index 0 'digraph "sums.json" {'
  assert_line '  "big" -> "sums"'
}

@test "explain: why two runs may differ" {
  cat >t.json <<'EOF'
{"nodes": {"in": {"source": "-", "timestamp": "wallclock"},
           "m":  {"from": "in", "map-values": "now"}, "out": {"from": "m", "sink": "-"}}}
EOF
  try 0 kstream-run --explain t.json
  assert_line "two runs may differ: 'in' goes by the wall clock"
  assert_line "two runs may differ: 'map-values' of 'm' reads a clock"
}

@test "check: nothing is run" {
  write_sums
  try 0 kstream-run --check sums.json
  assert_output ''
  assert_stderr_is '% sums.json: nothing is wrong: 4 nodes, 1 stages'
  try 2 kstream-run --check sums.json --max-errors 3
  try 2 kstream-run --online sums.json
  assert_one_error '--online is for --check and --explain'
}

@test "only: one stage, which meets the others in topics" {
  write_sums
  try 0 kstream-run --explain=json -b 127.0.0.1:1 -G app --only sums sums.json
  assert_equal "$(jq -c '[.app, .stages[].nodes]' <<<"$output")" \
    '["app.sums-source",["sums-source","sums","out"]]'
  try 0 kstream-run --explain=json -b 127.0.0.1:1 -G app --only big sums.json
  assert_equal "$(jq -c '[.app, .stages[].nodes]' <<<"$output")" \
    '["app.orders",["orders","big","sums-group","sums-sink"]]'
  try 2 kstream-run -b 127.0.0.1:1 --only sums sums.json
  assert_one_error '--only needs --app'
  try 2 kstream-run -b 127.0.0.1:1 -G app --only bgi sums.json
  assert_one_error 'sums.json has no such node: did you mean big?'
}

# --- examples ---

@test "examples: what they make of the files beside them" {
  examples=$ROOT/share/kstream/examples
  try 0 kstream-run "$examples/word-count.json" --set MESSAGES="$examples/messages.ndjson" --set COUNTS=-
  assert_line '{"key":"the","count":3}'
  try 0 kstream-run "$examples/revenue.json" --set ORDERS="$examples/orders.ndjson" --set REVENUE=-
  assert_equal "$(jq -s 'map(.orders) | add' <<<"$output")" \
    "$(jq -s 'map(select(.status == "paid")) | length' "$examples/orders.ndjson")"
  try 0 kstream-run "$examples/sessions.json" --set ORDERS="$examples/orders.ndjson" --set SESSIONS=-
  assert_equal "$(jq -s 'all(.orders == (.skus | length) and .orders > 1)' <<<"$output")" true
  try 0 kstream-run "$examples/fraud.json" --set ORDERS="$examples/orders.ndjson" --set SUSPECTS=-
  assert_equal "$(jq -s 'length > 0 and all(.large > 200 and .after_ms > 0)' <<<"$output")" true
  try 0 kstream-run "$examples/enrichment.json" --set ORDERS="$examples/orders.ndjson" \
    --set USERS="$examples/users.ndjson" --set ENRICHED=- --set UNKNOWN=unknown.ndjson
  assert_equal "$(jq -rs 'map(select(.user == "ana").country) | join(" ")' <<<"$output")" 'ES PT'
  assert_equal "$(jq -r .user unknown.ndjson)" hana
}
