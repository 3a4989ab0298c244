# Shared by the system tests: the tools on files, without a broker.
#
# Each test runs in an empty folder of its own with nothing of the caller's configuration. The tools
# are those of $KSTREAM_BIN, else those on PATH, else those of the dev build.
bats_require_minimum_version 1.5.0
bats_load_library bats-support
bats_load_library bats-assert

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck disable=SC2034  # read by the test files
BUILD=$ROOT/build/dev

setup() {
  if [[ -n ${KSTREAM_BIN:-} ]]; then
    PATH=$KSTREAM_BIN:$PATH
    BUILD=$(dirname "$KSTREAM_BIN")
  elif ! command -v kstream-filter >/dev/null; then
    PATH=$BUILD/bin:$PATH
  else
    BUILD=$(dirname "$(dirname "$(command -v kstream-filter)")")
  fi
  unset KSTREAM_BROKERS KSTREAM_CONFIG
  export HOME=$BATS_TEST_TMPDIR
  cd "$BATS_TEST_TMPDIR" || return
}

# try CODE COMMAND...: runs it with an empty stdin unless something is piped in, and checks the code.
# Then $output is stdout and $stderr is stderr, both without their last line end.
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

# piped TEXT COMMAND...: for `try`: TEXT, with the escapes of printf, is its stdin.
piped() {
  local text=$1
  shift
  printf "$text" | "$@"
}

# The whole of stderr.
assert_stderr_is() { assert_equal "$stderr" "$1"; }

# stderr is one line, and it holds TEXT.
assert_one_error() {
  assert_equal "$(wc -l <<<"$stderr")" 1
  assert_stderr_has "$1"
}

assert_stderr_has() {
  [[ $stderr == *"$1"* ]] || printf 'stderr: %s\ndoes not hold: %s\n' "$stderr" "$1" | fail
}

# The last line of stderr: what a run counts. NAME READ WRITTEN SKIPPED [DEAD]
assert_counts() {
  local want="% $1: $2 read, $3 written, $4 skipped"
  [[ -z ${5:-} ]] || want+=", $5 dead letters"
  assert_equal "$(grep '^% .* read, ' <<<"$stderr")" "$want"
}
