#!/usr/bin/env bats
# kstream-join on files. The tables of share/doc/kstream/joins.md, row by row.
load helper

# sides LEFT... -- RIGHT...: the files left and right, of records "key@ms".
sides() {
  local file=left record
  : >left >right
  for record; do
    if [[ $record == -- ]]; then
      file=right
    else
      printf '{"k":"%s","t":%s}\n' "${record%@*}" "${record#*@}" >>$file
    fi
  done
}

# joined OPTION...: results of these files as key:left-right@time, a side that is missing as -.
joined() {
  local -
  set -o pipefail
  kstream-join -l left -r right --key .k --timestamp .t -f '%k %T %s\n' "$@" |
    sed -E 's/^([^ ]*) ([0-9]+) /\1 \2 /; s/\{"k":"[^"]*","t":([0-9]+)\}/\1/g
            s/^([^ ]*) ([0-9]+) \{"left":([^,]*),"right":([^}]*)\}/\1:\3-\4@\2/; s/null//g' |
    paste -sd' '
}

@test "join: edges are within, and each pair counts (JOIN-2)" {
  sides k1@10000 k2@10000 k3@10000 k4@10000 k5@20000 k5@20100 k6@10000 -- \
    k1@15000 k2@15001 k3@5000 k4@4999 k5@20000 k5@20001 k5@20002 k6@10000
  try 0 joined --within 5s --grace 60s
  assert_output "k1:10000-15000@15000 k3:10000-5000@10000 \
k5:20000-20000@20000 k5:20000-20001@20001 k5:20000-20002@20002 \
k5:20100-20000@20100 k5:20100-20001@20100 k5:20100-20002@20100 k6:10000-10000@10000"
  assert_stderr_is '% kstream-join: 15 read, 9 written, 0 skipped'
  try 0 joined --after 5s --grace 60s
  assert_output "k1:10000-15000@15000 k5:20000-20000@20000 k5:20000-20001@20001 \
k5:20000-20002@20002 k6:10000-10000@10000"
}

@test "join: what is missing or wrong is said, with its exit code" {
  sides a@1 -- a@1
  try 2 kstream-join -l left --within 5s
  assert_one_error '--right is missing: a join has two inputs'
  try 2 kstream-join -r right --within 5s
  assert_one_error '--left is missing: a join has two inputs'
  try 2 kstream-join -l left -r right
  assert_one_error '--within is missing'
  try 2 joined --within 0s
  assert_one_error 'the window is empty'
  try 2 joined --within 5s --grace=-1s
  assert_one_error "--grace: '-1s' is not a duration"
  try 3 joined --within 5s --value '$lefty'
  assert_one_error 'there is no $lefty; did you mean $left?'
  try 2 joined --table
  assert_one_error 'joins streams only'
  try 5 kstream-join -l left -r right --within 5s
  assert_stderr_has 'it has no time'
}
