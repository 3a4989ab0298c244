#!/usr/bin/env bats
# The directory in which a member keeps its identity: one process at a time, whatever its end.
load helper

# member OUT ERR [OPTION...]: a member of $in's group with an identity that is kept here.
member() {
  start "$1" "$2" kstream-filter -i "$in" -G "$in" --instance-id auto --state-dir state \
    --commit-interval 100ms -X session.timeout.ms=6000 "${@:3}" true
}

instance() { cat "state/$in/.instance"; }
shows_instance() { admin members "$in" | jq -e --arg id "$(instance)-0" '.members[].instance == $id'; }

@test "--instance-id auto: the id is kept, and is the one that the group sees" {
  topic in
  numbers 1 3 | put "$in"
  member out err
  until_true has_lines out 3
  until_true shows_instance
  local id
  id=$(instance)
  [[ $id =~ ^[0-9a-f]{16}$ ]] || fail "$id"
  kill "$pid"
  ends 0 "$pid"
  numbers 4 6 | put "$in"
  member again err
  until_true has_lines again 3
  assert_equal "$(instance)" "$id"
  shows_instance
  assert_equal "$(jq -s 'map(.n)' -c out again)" '[1,2,3,4,5,6]'
  kill "$pid"
  ends 0 "$pid"
}

@test "a directory in use: a second process says so at once, waits, and ends with 6" {
  topic in
  numbers 1 3 | put "$in"
  member out err
  until_true has_lines out 3
  local first=$pid
  member second err2
  until_true holds err2 "state directory state/$in is in use by process $first: waiting up to 20 s"
  ends 6 "$pid"
  holds err2 "error: state directory state/$in is in use by process $first: stop it, or give this one another with --state-dir"
  numbers 4 13 | put "$in"
  until_true has_lines out 13
  assert_equal "$(jq -s 'map(.n) == [range(1; 14)]' out)" true
  [[ ! -s second ]]

  # One that waits takes over from one that ends, and so does one from a process that was killed.
  member third err3
  local third=$pid
  until_true holds err3 'is in use by'
  kill "$first"
  ends 0 "$first"
  numbers 14 14 | put "$in"
  until_true has_lines third 1
  kill -9 "$third"
  wait "$third" || true
  member fourth err4
  numbers 15 15 | put "$in"
  until_true holds fourth '{"n":15}'
  run grep -F 'is in use' err4
  assert_output ''
  kill "$pid"
  ends 0 "$pid"
}

@test "a directory that nobody can write to, and names that are none: nothing is joined" {
  topic in
  touch file
  try 6 kstream-filter -i "$in" -G "$in" --instance-id auto --state-dir file/below true
  assert_stderr_has "state directory file/below/$in: cannot be made: Not a directory: give another with --state-dir"
  try 2 kstream-filter -i "$in" -G .. --instance-id auto --state-dir state true
  assert_stderr_has "application '..' needs a name of letters, digits, '.', '_' and '-'"
  assert [ ! -e state ]
  assert_equal "$(admin members "$in" | jq '.members | length')" 0
}
