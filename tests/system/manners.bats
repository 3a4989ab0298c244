#!/usr/bin/env bats
# The tools among other programs: exit codes, signals, pipes, messages.
load helper

# Waits until FILE holds something.
await() {
  for ((i = 0; i < 200; i++)); do
    [[ -s $1 ]] && return
    sleep 0.05
  done
  fail "nothing came into $1"
}

# Starts kstream-filter on an input that stays open, with one record through; sets $pid.
start_idle() {
  # What an earlier run left must not look like this one's: a signal would come before its handler.
  rm -f pipe out err
  mkfifo pipe
  exec 7<>pipe
  kstream-filter "$@" true <pipe >out 2>err 7>&- &
  pid=$!
  echo '{"a":1}' >&7
  await out
}

@test "a full disk is told, with exit 5 (CLI-2 1)" {
  seq 1 1000 >in
  run --separate-stderr bash -c 'kstream-filter true <in >/dev/full'
  assert_equal "$status" 5
  assert_equal "$(grep -c 'kstream-filter: error: .*No space left on device' <<<"$stderr")" 1
  run --separate-stderr bash -c 'echo 1 | kstream-filter -o /dev/full true'
  assert_equal "$status" 5
  run --separate-stderr bash -c 'kstream-filter --print-spec .a >/dev/full'
  assert_equal "$status" 5
}

@test "a reader that goes away is a normal end (CLI-2 5)" {
  seq 1 100000 >in
  run --separate-stderr bash -c 'kstream-filter true <in | head -n 1; exit ${PIPESTATUS[0]}'
  assert_equal "$status" 0
  assert_output 1
  refute_regex "$stderr" error
  run --separate-stderr bash -c 'yes 1 | timeout 10 kstream-filter true | head -n 1; exit ${PIPESTATUS[1]}'
  assert_equal "$status" 0
  assert_output 1
}

@test "a stdout that is closed from the start is an error, and no file takes its place" {
  echo 1 >in
  run --separate-stderr bash -c 'kstream-filter -i in true >&-'
  assert_equal "$status" 5
  assert_stderr_has 'kstream-filter: error: '
}

@test "SIGTERM and SIGINT on an idle input: finish and exit 0" {
  start_idle
  kill -TERM "$pid"
  wait "$pid"
  assert_equal "$(cat out)" '{"a":1}'
  assert_equal "$(cat err)" '% kstream-filter: 1 read, 1 written, 0 skipped'
  # A background job of a shell without job control ignores SIGINT unless it asks for it.
  start_idle
  kill -INT "$pid"
  wait "$pid"
}

@test "timeout(1), which signals twice, is a normal end too" {
  mkfifo pipe
  exec 7<>pipe
  echo 1 >&7
  try 0 timeout --preserve-status 1 kstream-filter true <pipe
  assert_output 1
  assert_stderr_is '% kstream-filter: 1 read, 1 written, 0 skipped'
}

# The output is a pipe that nobody reads, so that a first signal cannot end the run.
second_signal() {  # SIGNAL CODE
  mkfifo full
  exec 8<>full
  yes '{"a":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}' | head -n 1000000 >in
  kstream-filter -i in true >&8 2>err 8>&- &
  pid=$!
  head -c 1 <&8 >byte  # it runs, and soon it waits
  kill "-$1" "$pid"
  for ((i = 0; i < 200; i++)); do
    kill "-$1" "$pid" 2>/dev/null || break
    sleep 0.05
  done
  code=0
  wait "$pid" || code=$?
  assert_equal "$code" "$2"
  exec 8>&-
}

@test "a second SIGTERM ends at once with 143" { second_signal TERM 143; }

@test "a second SIGINT ends at once with 130" { second_signal INT 130; }

# Starts kstream-map on a record whose expression never ends, after one that passes; sets $pid.
start_endless() {
  mkfifo pipe
  exec 7<>pipe
  kstream-map "$@" 'if . == 0 then . else last(range(1e12)) end' <pipe >out 2>err 7>&- &
  pid=$!
  echo 0 >&7
  await out
  echo 1 >&7
  compute
}

# Waits until $pid has used another 0.2 s of processor time.
compute() {
  local used from=''
  for ((i = 0; i < 400; i++)); do
    used=$(sed 's/.*) //' "/proc/$pid/stat" | cut -d ' ' -f 12)
    : "${from:=$used}"
    ((used < from + $(getconf CLK_TCK) / 5)) || return 0
    sleep 0.05
  done
  fail 'it does not compute'
}

@test "an expression that never ends: a signal waits, a second one ends at once" {
  start_endless
  kill -TERM "$pid"
  compute  # it goes on
  kill -TERM "$pid"
  code=0
  wait "$pid" || code=$?
  assert_equal "$code" 143
  assert_equal "$(cat out)" 0
}

@test "an expression that never ends: --timeout ends it" {
  start_endless --timeout 1s
  code=0
  wait "$pid" || code=$?
  assert_equal "$code" 124
  assert_equal "$(cat out)" 0
  assert_equal "$(cat err)" "kstream-map: error: the time given by --timeout is over, and 2s later \
one record's expression had not ended, or an output had not taken what was made: nothing of it is committed"
}

@test "an output that nobody reads: --timeout ends it" {
  mkfifo full
  exec 8<>full
  run --separate-stderr bash -c 'yes 1 | kstream-filter --timeout 100ms true >full; exit ${PIPESTATUS[1]}' 8>&-
  assert_equal "$status" 124
  assert_one_error 'an output had not taken what was made'
}

@test "-h and -V go to stderr, exit 0; help fits 80 columns" {
  for tool in kstream-filter kstream-map; do
    try 0 $tool -h
    assert_output ''
    assert_stderr_has "Usage: $tool [OPTION]... EXPR"
    assert_equal "$(awk 'length > 80' <<<"$stderr")" ''
    try 0 $tool --version
    assert_output ''
    [[ $stderr =~ ^$tool\ [0-9]+\.[0-9]+\.[0-9]+ ]]
  done
}

@test "-q leaves errors only; --log json makes every message an object" {
  try 0 piped '1\n' kstream-filter -q true
  assert_stderr_is ''
  try 5 piped 'x\n' kstream-filter -q .a
  assert_one_error 'kstream-filter: error: '
  try 5 piped '1\nx\n' kstream-filter --log json true
  echo "$stderr" >log
  assert_equal "$(jq -r .level log)" 'info
error'
  try 2 kstream-filter --log json --limit x .a
  jq -e '.level == "error"' <<<"$stderr"
}

@test "--stats: a JSON line of counts, at the end too" {
  try 0 piped '1\n2\n' kstream-filter --stats 1h '. > 1'
  assert_equal "$(grep '^{' <<<"$stderr" | jq -c '[.stats, .read, .written, .skipped, .dead_letters]')" \
    '["kstream-filter",2,1,0,0]'
}

@test "--progress: on shows a live line, auto none where stderr is no terminal" {
  start_idle --progress on
  for ((i = 0; i < 100; i++)); do
    grep -q 'records/s' err && break
    sleep 0.1
  done
  kill -TERM "$pid"
  wait "$pid"
  grep -q '% kstream-filter: 1 read, 1 written, .*records/s' err
  assert_equal "$(tail -n 1 err | sed 's/.*\x1b\[K//')" '% kstream-filter: 1 read, 1 written, 0 skipped'
}

# Starts a broker that takes connections and never answers; sets $address. It ends by itself.
start_silent() {
  rm -f silent
  python3 -c '
import signal, socket
signal.alarm(60)
server, asked = socket.create_server(("127.0.0.1", 0)), []
print("127.0.0.1:%d" % server.getsockname()[1], flush=True)
while True:
    asked.append(server.accept()[0])
    asked[-1].recv(1)
    print("asked", flush=True)
' >silent 3>&- &
  silent=$!
  await silent
  address=$(head -n 1 silent)
}

# Waits until somebody has asked the silent broker something.
await_question() {
  for ((i = 0; i < 200; i++)); do
    ! grep -q asked silent || return 0
    sleep 0.05
  done
  fail 'nobody asked'
}

@test "a first signal before a broker has answered is a normal end, as later" {
  for group in '' '-G app'; do
    start_silent
    # shellcheck disable=SC2086  # two words or none
    kstream-filter -b "$address" -i orders $group true >out 2>err 3>&- &
    pid=$!
    await_question
    kill -TERM "$pid"
    wait "$pid"
    kill "$silent"
    assert_equal "$(cat out)" ''
    assert_equal "$(sed 's/while asking for .*, and/and/' err)" "% stopped and $address had not answered
% kstream-filter: 0 read, 0 written, 0 skipped"
  done
}

@test "--timeout before a broker has answered: 124" {
  start_silent
  try 124 kstream-filter -b "$address" -i orders --timeout 200ms true
  kill "$silent"
  assert_stderr_has "stopped while asking for metadata, and $address had not answered"
  assert_stderr_has 'kstream-filter: error: the time given by --timeout is over'
}

@test "an unreachable broker: exit 4 within a minute, nothing on stdout (CLI-2 2)" {
  try 4 timeout 70 kstream-filter -b 127.0.0.1:1 -i orders -e true
  assert_output ''
  assert_stderr_has '127.0.0.1:1'
}

@test "manners: an output that cannot be opened is told, and ends with 5" {
  echo 1 >in
  try 5 kstream-filter -i in -o no/such/out true
  assert_stderr_has 'cannot write no/such/out: No such file or directory'
  try 5 kstream-filter -i in -o out --dead-letter no/such/letters --on-error dead-letter true
  assert_stderr_has 'cannot write no/such/letters: No such file or directory'
}
