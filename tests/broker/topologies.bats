#!/usr/bin/env bats
# What several members of one application must agree on, and what the group shows of a stage with
# several inputs.
load helper

# numbered TOPIC PARTITIONS FROM TO: a topic with records {"n":FROM} ... {"n":TO}, spread by key.
numbered() {
  topic "$1" "$2"
  numbers "$3" "$4" | sed 's/.*:\(.*\)}/\1\t&/' | put "${!1}" -K$'\t'
}

sorted_numbers() { tr -dc '0-9\n' | sort -n; }

# one_refuses ID PID ERR PID ERR: of two members that cannot both be right, one ends with 8 and says
# which id; sets $stayed to the pid of the other. They run without -e: one that was done and gone
# before the other came would have nobody to differ from.
one_refuses() {
  local id=$1 refused code=0
  local -A err=(["$2"]=$3 ["$4"]=$5)
  one_ended() { ! kill -0 "$1" || ! kill -0 "$2"; }
  until_true one_ended "$2" "$4"
  wait -n -p refused "$2" "$4" || code=$?
  assert_equal "$code" 8
  stayed=$(($2 + $4 - refused))
  assert_equal "$(grep -c '^kstream-filter: error: ' "${err[$refused]}")" 1
  grep -qF "$id" <(grep error: "${err[$refused]}") || fail "$(cat "${err[$refused]}")"
}

@test "two expressions under one id: one refuses, and the other gets everything (REB-4 2)" {
  numbered in 4 1 400
  topic even
  topic odd
  local id=shared-$unique
  start /dev/null err1 kstream-filter -i "$in" -o "$even" -G "$id" '.n % 2 == 0'
  local first=$pid
  start /dev/null err2 kstream-filter -i "$in" -o "$odd" -G "$id" '.n % 2 == 1'
  local second=$pid stayed
  one_refuses "$id" "$first" err1 "$second" err2
  [[ $stayed == "$first" ]] && local has=$even lacks=$odd from=2 || local has=$odd lacks=$even from=1
  until_true has_records "$has" 200
  kill "$stayed"
  ends 0 "$stayed"
  assert_equal "$(values "$has" | sorted_numbers)" "$(seq $from 2 400)"
  assert_equal "$(values "$lacks")" ''
}

@test "a later member with another expression refuses, and the one that runs goes on" {
  numbered in 4 1 400
  topic even
  topic odd
  local id=shared-$unique
  start /dev/null err kstream-filter -i "$in" -o "$even" -G "$id" '.n % 2 == 0'
  until_true has_records "$even" 200
  try 8 timeout 60 kstream-filter -i "$in" -o "$odd" -G "$id" '.n % 2 == 1'
  assert_stderr_has "$id"
  numbers 401 800 | put "$in"
  until_true has_records "$even" 400
  kill "$pid"
  ends 0 "$pid"
  assert_equal "$(values "$even" | sorted_numbers)" "$(seq 2 2 800)"
  assert_equal "$(values "$odd")" ''
}

@test "members of one program agree, whatever differs that is no part of the topology" {
  numbered in 4 1 400
  topic out
  local id=shared-$unique
  start /dev/null err1 kstream-filter -i "$in" -o "$out" -G "$id" -X client.id=one '.n > 0'
  local first=$pid
  until_true has_records "$out" 400
  start /dev/null err2 kstream-filter -i "$in" -o "$out" -G "$id" -X client.id=two -j 2 -v \
    --commit-interval 100ms '.n > 0'
  three_members() { [[ $(admin members "$id" | jq '.members | length') == 3 ]]; }
  until_true three_members
  numbers 401 800 | put "$in"
  until_true has_records "$out" 800
  kill "$first" "$pid"
  ends 0 "$first"
  ends 0 "$pid"
  assert_equal "$(values "$out" | sorted_numbers | uniq)" "$(seq 1 800)"
}

@test "two lists of inputs under one id, with different leads: one refuses" {
  numbered one 4 1 100
  numbered two 4 101 200
  numbered three 4 201 300
  topic out
  local id=shared-$unique stayed
  start /dev/null err1 kstream-filter -i "$one" -i "$two" -o "$out" -G "$id" true
  local first=$pid
  start /dev/null err2 kstream-filter -i "$two" -i "$three" -o "$out" -G "$id" true
  local second=$pid
  one_refuses "$id" "$first" err1 "$second" err2
  [[ $stayed == "$first" ]] && local from=1 || local from=101
  until_true has_records "$out" 200
  kill "$stayed"
  ends 0 "$stayed"
  assert_equal "$(values "$out" | sorted_numbers)" "$(seq $from $((from + 199)))"
}

@test "one list of inputs that begins with the other, the same lead: the later refuses" {
  numbered one 4 1 100
  numbered two 4 101 200
  topic out
  local id=shared-$unique
  start /dev/null err kstream-filter -i "$one" -i "$two" -o "$out" -G "$id" true
  until_true has_records "$out" 200
  try 8 timeout 60 kstream-filter -i "$one" -o "$out" -G "$id" true
  assert_stderr_has "$id"
  kill "$pid"
  ends 0 "$pid"
  assert_equal "$(values "$out" | sorted_numbers)" "$(seq 1 200)"
}

@test "another grouper is refused, also for one plain input and when the first has stopped" {
  numbered one 2 1 100
  topic out
  local id=shared-$unique
  start /dev/null err kstream-filter -i "$one" -o "$out" -G "$id" --grouper single true
  until_true has_records "$out" 100
  try 8 timeout 60 kstream-filter -i "$one" -o "$out" -G "$id" true
  assert_stderr_has "$id"
  kill "$pid"
  ends 0 "$pid"
  try 8 timeout 60 kstream-filter -i "$one" -o "$out" -G "$id" -e true
  assert_stderr_has 'first started with grouper single, not default'
  assert_equal "$(values "$out" | sorted_numbers)" "$(seq 1 100)"
}

@test "a run to the end is refused too, though there is nothing left to read" {
  numbered one 2 1 100
  topic out
  local id=shared-$unique
  start /dev/null err kstream-filter -i "$one" -o "$out" -G "$id" true
  until_true has_records "$out" 100
  try 8 timeout 60 kstream-filter -i "$one" -o "$out" -G "$id" -e '.n > 50'
  assert_stderr_has "$id"
  kill "$pid"
  ends 0 "$pid"
}

# lags GROUP: "TOPIC PARTITION LAG" of each input, as Kafka's own tool shows it.
lags() {
  consumer_groups --describe --group "$1" | awk -v group="$1" '$1 == group { print $2, $3, $6 }' | sort
}

@test "kafka-consumer-groups shows the lag of every input, of a running stage and of a stopped one" {
  need_kafka_tools
  numbered one 2 1 100
  numbered two 2 101 200
  topic out
  local id=shared-$unique both t p want
  both=$(for t in "$one" "$two"; do for p in 0 1; do echo "$t $p"; done; done | sort)
  start /dev/null err kstream-filter -i "$one" -i "$two" -o "$out" -G "$id" --commit-interval 100ms true
  drained() { [[ $(committed "$id" "$one") == "$(log_ends "$one" 2)" && $(committed "$id" "$two") == "$(log_ends "$two" 2)" ]]; }
  until_true drained
  assert_equal "$(lags "$id")" "$(sed 's/$/ 0/' <<<"$both")"
  kill "$pid"
  ends 0 "$pid"
  numbers 201 203 | put "$one" -p 1
  numbers 204 208 | put "$two" -p 0
  want=$(sed "s/$/ 0/; s/^$one 1 0$/$one 1 3/; s/^$two 0 0$/$two 0 5/" <<<"$both")
  assert_equal "$(lags "$id")" "$want"
}
