#!/usr/bin/env bats
# --explain, --print-spec and --dry-run.
load helper

@test "explain: which engine runs what" {
  try 0 kstream-filter --explain -k '.u | test("x")' '.amount > 100' </dev/null
  assert_line --partial 'filter: .amount > 100'
  assert_line --partial 'runs compiled'
  assert_line --partial 'key: .u | test("x")'
  assert_line '      runs in libjq (numbers print as jq prints them): test at 1:6'
  assert_stderr_is ''
  # A condition prints nothing: what is kept stays as it is.
  try 0 kstream-filter --explain '.u | test("x")' </dev/null
  assert_line '      runs in libjq: test at 1:6'
}

@test "explain: json" {
  kstream-map --explain=json -G app --set-key .u 'now' >plan
  assert_equal "$(jq -r '.app, .nodes[1].kind, .nodes[1].expressions[1].name' plan)" 'app
map
set-key'
  assert_equal "$(jq '.nodes[1].expressions[0].deterministic' plan)" false
  assert_equal "$(jq '.nodes[1].expressions[1].deterministic' plan)" true
}

@test "explain: dot" {
  try 0 kstream-filter --explain=dot --else x '.a == "q"'
  assert_line --index 0 'digraph "kstream-filter" {'
  assert_line --partial '"filter" -> "else"'
  assert_line --partial '\"q\"'
}

@test "explain: topics that would be created" {
  try 0 kstream-filter -b 127.0.0.1:1 -i in -o out --create-output 6:3 --explain .a
  assert_line 'topic to create if missing: out (6 partitions, replication factor 3)'
}

@test "explain: tasks, the grouper and what is made for them" {
  local kafka="kstream-filter -b 127.0.0.1:1 --cluster eu=127.0.0.2:1"
  try 0 $kafka -G g -i a --explain .a
  assert_line 'tasks: one for each partition of the input'
  assert_line 'grouper: default'
  refute_output --partial 'internal topic'
  try 0 $kafka -G g -i a -i b --explain .a
  assert_line 'tasks: one for each partition number of the inputs'
  assert_line 'internal topic: g.kstream (manifest)'
  refute_output --partial g.tasks
  try 0 $kafka -G g -i '^a' -i b --grouper by-topic --explain .a
  assert_line 'tasks: one for each topic of the inputs'
  assert_line 'grouper: by-topic'
  assert_line 'internal topic: g.tasks (tasks)'
  try 0 $kafka -G g -i a -i b --grouper single --explain .a
  assert_line 'tasks: 1'
  try 0 $kafka -G g -i a -i b --grouper broadcast:b --explain .a
  assert_line 'tasks: one for each partition of the other inputs; each reads all of b'
  try 0 $kafka -G g -i a -i eu:a --explain .a
  assert_line 'internal topic: g.tasks (tasks, where an input elsewhere has more partitions than those at home)'
  # Without a group nothing is made.
  try 0 $kafka -i a -i b --grouper single --explain .a
  refute_output --partial 'internal topic'
  try 0 kstream-filter -G g -i a -i b --partitions 4 --explain .a
  assert_line 'tasks: 4'
  refute_output --partial 'internal topic'
}

@test "explain: tasks and internal topics as json and dot" {
  kstream-filter -b 127.0.0.1:1 -G g -i '^a' --grouper single --explain=json .a >plan
  assert_equal "$(jq -c '[.tasks, .grouper, .internal_topics]' plan)" \
    '["1","single",[{"topic":"g.kstream","kind":"manifest","certain":true},{"topic":"g.tasks","kind":"tasks","certain":true}]]'
  try 0 kstream-filter -b 127.0.0.1:1 -G g -i '^a' --grouper single --explain=dot .a
  assert_line '  label="tasks: 1\ngrouper: single\ninternal topic: g.kstream (manifest)\ninternal topic: g.tasks (tasks)"'
}

@test "print-spec: how records are grouped and awaited" {
  kstream-filter -b 127.0.0.1:1 -G g -i a -i b --grouper single --max-idle 2s --max-skew 1h --print-spec .a >spec
  assert_equal "$(jq -c '[.grouper, ."max-idle", ."max-skew"]' spec)" '["single","2000ms","3600000ms"]'
}

@test "print-spec: the topology file that equals the command" {
  kstream-filter -i orders.ndjson -G g --key .user --timestamp .ts --on-error skip --print-spec '.amount > 100' >spec
  cat >want <<'END'
{
  "app": "g",
  "on-error": "skip",
  "nodes": {
    "in": {
      "source": "file:orders.ndjson",
      "key": ".user",
      "timestamp": ".ts"
    },
    "filter": {
      "from": "in",
      "filter": ".amount > 100"
    },
    "out": {
      "from": "filter",
      "sink": "-"
    }
  }
}
END
  diff want spec
}

@test "print-spec: JsonLogic is an object, in its own spelling; jq is a string" {
  kstream-filter --print-spec '{"==":[{"var":"id"},9007199254740993.0]}' >spec
  run cat spec
  assert_line --partial '"filter": {"==":[{"var":"id"},9007199254740993.0]}'
  kstream-map --print-spec '{"n":0}' >spec
  run jq -c .nodes.map spec
  assert_output '{"from":"in","flat-map":"{\"n\":0}"}'
}

@test "print-spec: --else is a second filter" {
  kstream-filter -b 127.0.0.1:1 -i a -o b --else c --print-spec .x >spec
  run jq -c '.nodes | .filter, .["filter-rest"], .out, .else' spec
  assert_output '{"from":"in","filter":".x"}
{"from":"in","filter-not":".x"}
{"from":"filter","sink":"topic:b"}
{"from":"filter-rest","sink":"topic:c"}'
}

@test "print-spec: neither brokers nor properties are in it" {
  kstream-filter -b secret-host:1 -X sasl.password=hunter2 -i a -o b --print-spec .x >spec
  run cat spec
  refute_output --partial secret-host
  refute_output --partial hunter2
}

@test "dry-run: everything but writing" {
  printf '%s\n' 1 2 3 >in
  try 0 kstream-filter -i in -o out -n '. > 1'
  assert_output ''
  assert [ ! -s out ]
  assert_stderr_has '3 read'
  echo x >>in
  try 5 kstream-filter -i in -o out -n '. > 1'
}
