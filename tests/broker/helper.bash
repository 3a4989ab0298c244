# Shared by the broker tests: the tools against a real Kafka, whose records kcat writes and reads and
# whose transactions, deletions and commits kafka_tool makes.
#
# $KSTREAM_BROKERS names the cluster (`./dev test` sets it). Every test makes topics and groups with
# names of its own, so that files can run side by side and again on the same broker. The tools are
# those of $KSTREAM_BIN, else those on PATH, else those of the dev build.
bats_require_minimum_version 1.5.0
bats_load_library bats-support
bats_load_library bats-assert

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
BUILD=$ROOT/build/dev

setup() {
  [[ -n ${KSTREAM_BROKERS:-} ]] || fail 'KSTREAM_BROKERS is not set: run ./dev test, or start a broker with ./dev broker start and export the address that it prints'
  if [[ -n ${KSTREAM_BIN:-} ]]; then
    PATH=$KSTREAM_BIN:$PATH
  elif ! command -v kstream-filter >/dev/null; then
    PATH=$BUILD/bin:$PATH
  fi
  local beside
  beside=$(dirname "$(dirname "$(command -v kstream-filter)")")/tests/broker/kafka_tool
  kafka_tool=$BUILD/tests/broker/kafka_tool
  [[ ! -x $beside ]] || kafka_tool=$beside
  unset KSTREAM_CONFIG
  export HOME=$BATS_TEST_TMPDIR
  cd "$BATS_TEST_TMPDIR" || return
  unique=$$-$BATS_TEST_NUMBER-$RANDOM$RANDOM
  jobs_started=()
}

teardown() {
  local pid
  for pid in "${jobs_started[@]}"; do kill -9 "$pid" 2>/dev/null || true; done
  for pid in "${jobs_started[@]}"; do wait "$pid" || true; done
}

admin() { "$kafka_tool" "$KSTREAM_BROKERS" "$@"; }

# topic VAR [PARTITIONS [PROPERTY=VALUE...]]: makes a topic with a name of its own, into $VAR.
topic() {
  local partitions=${2:-1}
  printf -v "$1" '%s' "$1-$unique"
  admin create-topic "${!1}" "$partitions" "${@:3}"
}

# put TOPIC [KCAT-OPTION...]: the lines of stdin become records.
put() { kcat -P -q -b "$KSTREAM_BROKERS" -t "$1" "${@:2}"; }

# records TOPIC FORMAT [KCAT-OPTION...]: everything committed in the topic, as kcat formats it; each
# partition in its order.
records() { kcat -C -q -e -b "$KSTREAM_BROKERS" -t "$1" -o beginning -f "$2" "${@:3}"; }

values() { records "$1" '%s\n'; }

# committed GROUP TOPIC: the offsets of the partitions, "-" for none, with blanks between.
committed() { admin committed "$1" "$2" | paste -sd' '; }

# log_end TOPIC PARTITION: the offset behind everything, markers of transactions too.
log_end() { kcat -Q -b "$KSTREAM_BROKERS" -t "$1:$2:-1" | grep -o '[0-9]*$'; }

# log_ends TOPIC PARTITIONS: those of the first so many partitions, with blanks between.
log_ends() {
  local p
  for ((p = 0; p < $2; p++)); do log_end "$1" $p; done | paste -sd' '
}

# kafka_tools CLASS OPTION...: one of Kafka's own tools, of the same release as the test broker.
need_kafka_tools() {
  [[ -d $ROOT/build/broker/libs ]] || skip "Kafka's own tools come with ./dev broker start"
}
kafka_tools() {
  java -XX:TieredStopAtLevel=1 -cp "$ROOT/build/broker/libs/*" -Dorg.slf4j.simpleLogger.defaultLogLevel=error \
    "$1" --bootstrap-server "$KSTREAM_BROKERS" "${@:2}"
}
consumer_groups() {
  kafka_tools org.apache.kafka.tools.consumer.group.ConsumerGroupCommand "$@"
}

# try CODE COMMAND...: runs it and checks the code. Then $output is stdout and $stderr is stderr,
# both without their last line end.
try() {
  local code=$1
  shift
  run --separate-stderr "$@"
  # shellcheck disable=SC2154  # set by run
  if [[ $status != "$code" ]]; then
    printf 'exit code %s instead of %s\nstdout: %s\nstderr: %s\n' \
      "$status" "$code" "${output:0:2000}" "${stderr:0:2000}" | fail
  fi
}

assert_stderr_is() { assert_equal "$stderr" "$1"; }

# The errors on stderr, which leaves out lines of information.
assert_error_is() { assert_equal "$(grep -v '^% ' <<<"$stderr")" "$1"; }

assert_stderr_has() {
  [[ $stderr == *"$1"* ]] || printf 'stderr: %s\ndoes not hold: %s\n' "$stderr" "$1" | fail
}

# start OUT ERR COMMAND...: in the background; sets $pid.
start() {
  "${@:3}" >"$1" 2>"$2" 3>&- </dev/null &
  pid=$!
  jobs_started+=("$pid")
}

# ends CODE PID: waits for a command that `start` began and checks how it ended.
ends() {
  local code=0
  wait "$2" || code=$?
  assert_equal "$code" "$1"
}

# until_true COMMAND...: runs it again and again until it succeeds; fails after 60 s.
until_true() {
  local deadline=$((SECONDS + 60))
  until "$@" >/dev/null 2>&1; do
    ((SECONDS < deadline)) || fail "this never came true: $*"
    sleep 0.05
  done
}

holds() { grep -qF -- "$2" "$1"; }          # FILE TEXT
has_lines() { (($(wc -l <"$1") >= $2)); }    # FILE COUNT
has_records() { (($(values "$1" | wc -l) >= $2)); }  # TOPIC COUNT
is_committed() { [[ $(committed "$1" "$2") == "$3" ]]; }  # GROUP TOPIC OFFSETS

# numbers FROM TO: {"n":FROM} ... {"n":TO}, a line each.
numbers() { seq -f '{"n":%.0f}' "$1" "$2"; }

# users N TIMES: N users, each as often.
users() { for ((i = 0; i < $1 * $2; i++)); do echo "{\"user\":\"u$((i % $1))\",\"id\":$i}"; done; }

# all N COUNT: the counts of N users who have each as many, by user.
all() { jq -Snc --argjson n "$1" --argjson count "$2" '[range($n) | {("u\(.)"): $count}] | add'; }
