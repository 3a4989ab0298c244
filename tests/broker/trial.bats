#!/usr/bin/env bats
# Trials of state: trial.py, which says what happens and what must hold.
#
# A failed trial happens again, nearly, with its seed: KSTREAM_TRIAL_SEED=N ./dev test trial.
load helper

setup_file() { export BATS_TEST_TIMEOUT=400; }

trial() {
  need_kafka_tools  # its broker is one more from the same jars
  [[ -z ${KSTREAM_TRIAL_SEED:-} ]] || set -- --seed "$KSTREAM_TRIAL_SEED" "$@"
  run --separate-stderr "$ROOT/tests/broker/trial.py" --kafka-tool "$kafka_tool" "$@"
  sed 's/^/# /' <<<"$output" >&3
  ((status == 0)) || fail "$stderr"$'\n'"$output"  # what is wrong stands last
}

# The two have 30 moments together; more are for a night: trial.py --moments N.
@test "a trial of 15 moments under at-least-once: no count is below the truth" {
  trial --guarantee at-least-once --moments 15
}

@test "a trial of 15 moments under exactly-once: every count is the truth" {
  trial --guarantee exactly-once --moments 15
}
