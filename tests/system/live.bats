#!/usr/bin/env bats
# A running tool: its status, pause and HTTP.
load helper

# Starts TOOL [ARGUMENT]... on a pipe that stays open, with --http; sets $pid and $url.
start() {
  rm -f pipe out err
  mkfifo pipe
  exec 7<>pipe
  local tool=$1
  shift
  "$tool" --http 0 "$@" <pipe >out 2>err 7>&- &
  pid=$!
  await err 'listening on'
  url=$(grep -o 'http:.*' err)
}

stop() {
  kill -TERM "$pid"
  wait "$pid"
}

# Waits until FILE holds PATTERN.
await() {
  for ((i = 0; i < 200; i++)); do
    grep -qs -- "$2" "$1" && return
    sleep 0.05
  done
  fail "no '$2' in $1: $(cat "$1")"
}

# Waits until GET PATH holds PATTERN.
await_path() {
  for ((i = 0; i < 200; i++)); do
    [[ $(curl -s "$url$1") == *$2* ]] && return
    sleep 0.05
  done
  fail "no '$2' in $1: $(curl -s "$url$1")"
}

code() { curl -s -o /dev/null -w '%{http_code}' "$@"; }

@test "USR1 prints a line of JSON, USR2 pauses and resumes" {
  start kstream-filter true
  echo '{"a":1}' >&7
  await out '"a":1'
  kill -USR1 "$pid"
  await err '"status":"kstream-filter"'
  run jq -c '[.status, .state, .paused, .read, .threads]' <(grep '"status"' err)
  assert_output '["kstream-filter","RUNNING",false,1,[{"thread":0,"state":"running"}]]'
  kill -USR2 "$pid"
  await err '^% paused$'
  echo '{"a":2}' >&7
  await_path /metrics 'kstream_thread_state{thread="0",state="paused"} 1'
  assert_equal "$(cat out)" '{"a":1}'
  kill -USR2 "$pid"
  await out '"a":2'
  await err '^% resumed$'
  stop
  assert_equal "$(tail -n 1 err)" '% kstream-filter: 2 read, 2 written, 0 skipped'
}

@test "a paused run does not come to its end, but a stop and --timeout end it" {
  for how in stop timeout; do
    start kstream-filter true --timeout "$([[ $how == stop ]] && echo 1h || echo 2s)"
    curl -s -X POST "$url/pause"
    echo '{"a":1}' >&7
    exec 7>&-
    await_path /metrics 'state="paused"} 1'
    local ended=0
    [[ $how == timeout ]] || kill -TERM "$pid"
    wait "$pid" || ended=$?
    assert_equal "$ended" "$([[ $how == stop ]] && echo 0 || echo 124)"
    assert_equal "$(cat out)" ''
  done
  start kstream-filter true
  curl -s -X POST "$url/pause"
  echo '{"a":1}' >&7
  exec 7>&-
  await_path /metrics 'state="paused"} 1'
  curl -s -X POST "$url/resume"
  wait "$pid"
  assert_equal "$(cat out)" '{"a":1}'
}

@test "a topology is told with its nodes, its run and its rows" {
  start kstream-agg -G live --state-dir state --by .u --count --commit-interval 10ms
  printf '{"u":"%s"}\n' ana ben ana >&7
  await_path /stores/agg/ana '"value":{"count":2}'
  run curl -s "$url/topology"
  assert_equal "$(jq -c '[.stage, [.nodes[].kind], .status.state, .status.paused, .status.read]' <<<"$output")" \
    '["kstream-agg",["source","aggregate","sink"],"RUNNING",false,3]'
  assert_equal "$(jq -c '[.status.stores[] | [.store, .task]]' <<<"$output")" '[["agg",0]]'
  run curl -s -H 'Accept: text/html,*/*' "$url/topology"
  assert_output --partial '<!doctype html>'
  refute_output --partial 'ana'
  assert_equal "$(curl -s "$url/stores/agg?prefix=b" | jq -c '[.store, .task, .key, .value]')" \
    '["agg",0,"ben",{"count":1}]'
  assert_equal "$(curl -s "$url/stores/agg?limit=1" | wc -l)" 1
  assert_equal "$(code "$url/stores/agg/eva")" 404
  assert_equal "$(code "$url/stores/agg?what=1")" 400
  assert_equal "$(curl -s "$url/health")" RUNNING
  assert_equal "$(code "$url/ready")" 200
  stop
}

@test "kstream-run tells the topology of its file" {
  cat >t.json <<'END'
{"nodes": {
  "in":  {"source": "-"},
  "big": {"from": "in", "filter": ".a > 1"},
  "out": {"from": "big", "sink": "-"}}}
END
  start kstream-run t.json
  run curl -s "$url/topology"
  assert_equal "$(jq -c '[.topology, [.nodes[].name], [.stages[].nodes]]' <<<"$output")" \
    '["t.json",["in","big","out"],[["in","big","out"]]]'
  stop
}

@test "strangers get nothing, and harm nothing" {
  start kstream-filter true
  assert_equal "$(code -H 'Host: evil.example' "$url/metrics")" 403
  assert_equal "$(code -H 'Origin: http://evil.example' -X POST "$url/pause")" 403
  assert_equal "$(code "$url/pause")" 405
  assert_equal "$(code "$url/../../etc/passwd" --path-as-is)" 404
  assert_equal "$(code -H "X: $(printf 'x%.0s' {1..9000})" "$url/health")" 400
  assert_equal "$(code -X POST --data-binary @"$BUILD/bin/kstream-filter" "$url/resume")" 200
  head -c 100000 /dev/urandom | timeout 5 bash -c "cat >/dev/tcp/127.0.0.1/${url##*:}" || true
  echo '{"a":1}' >&7
  await out '"a":1'
  stop
}

@test "others reach it only with a token" {
  try 2 piped '' kstream-filter --http 0.0.0.0:0 true
  assert_stderr_is 'kstream-filter: error: --http: 0.0.0.0 is not loopback, so others reach it: give a token that they have to show'
  try 2 piped '' kstream-filter --http here true
  assert_one_error "'here' is not PORT or HOST:PORT"
  try 2 piped '' kstream-filter --token secret true
  assert_one_error '--token is for --http'
  start kstream-filter --http 127.0.0.1:0 --token secret true
  assert_equal "$(code "$url/metrics")" 401
  assert_equal "$(code -H 'Authorization: Bearer secret' "$url/metrics")" 200
  assert_equal "$(code "$url/health")" 200
  # One port is for one process.
  try 2 piped '' kstream-filter --http "${url#http://}" true
  assert_one_error 'Address already in use'
  stop
  KSTREAM_TOKEN=secret start kstream-filter true
  assert_equal "$(code "$url/metrics")" 401
  stop
}

@test "kstream-inspect-state asks a running process" {
  start kstream-agg -G live --state-dir state --by .u --count --commit-interval 10ms
  printf '{"u":"%s"}\n' ana ben ana >&7
  await_path /stores/agg/ana '"value":{"count":2}'
  await_path /stores/agg/ben '"value":{"count":1}'
  local from=${url#http://}
  try 0 kstream-inspect-state --from-http "$from" ls
  assert_output '{"store":"agg","task":0,"offset":0}'
  try 0 kstream-inspect-state --from-http "$from" get ana
  assert_equal "$(jq -c '[.store, .task, .key, .value]' <<<"$output")" '["agg",0,"ana",{"count":2}]'
  assert_stderr_is '% agg[0]: as of changelog offset 0'
  assert_equal "$output" "$(curl -s "$url/stores/agg/ana")"
  try 0 kstream-inspect-state --from-http "$from" scan
  assert_equal "$(jq -r .key <<<"$output" | xargs)" 'ana ben'
  try 0 kstream-inspect-state --from-http "$from" --limit 1 scan
  assert_equal "$(jq -r .key <<<"$output" | xargs)" 'ana'
  try 0 kstream-inspect-state --from-http "$from" stats
  assert_equal "$(jq -c '[.store, .rows]' <<<"$output")" '["agg",2]'
  try 1 kstream-inspect-state --from-http "$from" get eva
  try 2 kstream-inspect-state --from-http "$from" dump
  assert_one_error '--from-http says nothing to dump'
  stop
  try 4 kstream-inspect-state --from-http "$from" ls
  assert_one_error 'does not answer'
}

@test "windows are told over HTTP as from files" {
  start kstream-agg -G live --state-dir state --by .u --count --window tumbling:10s --grace 1m --timestamp .t --commit-interval 10ms
  printf '{"u":"ana","t":%s}\n' 1000 2000 11000 >&7
  await_path '/stores/agg?at-window=11000' '"window_start":10000,"window_end":20000'
  assert_equal "$(curl -s "$url/stores/agg/ana" | jq -c '[.key, .value.count, .window_start]' | xargs)" \
    '[ana,2,0] [ana,1,10000]'
  try 0 kstream-inspect-state -q --from-http "${url#http://}" --at-window 1000 scan
  assert_equal "$(jq -c '[.key, .value.count, .window_end]' <<<"$output")" '["ana",2,10000]'
  stop
}
