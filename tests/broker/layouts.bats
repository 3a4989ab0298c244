#!/usr/bin/env bats
# Tasks of every layout, in a group: what they read, what is committed for them and where, and that the
# next run goes on just there.
load helper

sorted_numbers() { tr -dc '0-9\n' | sort -n; }

# Topics $one and $two of two partitions, each with five records; $n is the last number.
two_topics() {
  topic one 2
  topic two 2
  n=0
  five_more "$one" 0
  five_more "$one" 1
  five_more "$two" 0
  five_more "$two" 1
}

five_more() { # TOPIC PARTITION
  numbers $((n + 1)) $((n + 5)) | put "$1" -p "$2"
  n=$((n + 5))
}

# goes_on OPTION...: one run reads everything once, the next what has come since, and a third nothing.
goes_on() {
  app=app-$unique
  try 0 timeout 60 kstream-filter -e -G "$app" "$@" true
  assert_equal "$(sorted_numbers <<<"$output")" "$(seq 1 $n)"
  local from=$((n + 1))
  five_more "$one" 1
  five_more "$two" 0
  try 0 timeout 60 kstream-filter -e -G "$app" "$@" true
  assert_equal "$(sorted_numbers <<<"$output")" "$(seq $from $n)"
  try 0 timeout 60 kstream-filter -e -G "$app" "$@" true
  assert_output ''
}

@test "-j 2 with two inputs" {
  two_topics
  goes_on -i "$one" -i "$two" -j 2
  assert_equal "$(committed "$app" "$one"), $(committed "$app" "$two")" '5 10, 10 5'
}

@test "a pattern: the leads are internal, and every topic's positions are the group's" {
  two_topics
  goes_on -i "^(one|two)-$unique\$" -j 2
  assert_equal "$(committed "$app" "$one"), $(committed "$app" "$two")" '5 10, 10 5'
  assert_equal "$(kcat -L -J -b "$KSTREAM_BROKERS" -t "$app.tasks" | jq -c '[.topics[] | [.topic, (.partitions | length)]]')" \
    "[[\"$app.tasks\",2]]"
}

@test "--grouper single: one task, in order of time over all partitions" {
  two_topics
  goes_on -i "$one" -i "$two" -j 2 --grouper single
  assert_equal "$(committed "$app" "$one"), $(committed "$app" "$two")" '5 10, 10 5'
  assert_equal "$(kcat -L -J -b "$KSTREAM_BROKERS" -t "$app.tasks" | jq '.topics[0].partitions | length')" 1
}

@test "--grouper by-topic: a task for each topic" {
  two_topics
  goes_on -i "$one" -i "$two" -j 2 --grouper by-topic
  assert_equal "$(committed "$app" "$one"), $(committed "$app" "$two")" '5 10, 10 5'
  assert_equal "$(kcat -L -J -b "$KSTREAM_BROKERS" -t "$app.tasks" | jq '.topics[0].partitions | length')" 2
}

@test "--grouper broadcast: every task reads all of it, and keeps its own positions" {
  topic one 2
  topic two 1
  n=0
  five_more "$one" 0
  five_more "$one" 1
  numbers 101 102 | put "$two"
  app=app-$unique
  run_once() { try 0 timeout 60 kstream-filter -e -G "$app" -i "$one" -i "$two" -j 2 --grouper "broadcast:$two" true; }
  run_once
  assert_equal "$(sorted_numbers <<<"$output")" "$(seq 1 10; printf '%s\n' 101 101 102 102)"
  assert_equal "$(committed "$app" "$one"), $(committed "$app" "$two")" '5 5, -'
  five_more "$one" 1
  numbers 103 103 | put "$two"
  run_once
  assert_equal "$(sorted_numbers <<<"$output")" "$(seq 11 15; printf '%s\n' 103 103)"
  run_once
  assert_output ''
  assert_equal "$(admin metadata "$app" "$app.tasks" | grep -o 'p=.*' | sort | uniq -c | tr -s ' ')" \
    " 2 p=/$two/0:3"
}

@test "two clusters: positions of the far one are kept with the lead's commit" {
  two_topics
  echo "bootstrap.servers=$KSTREAM_BROKERS" >far.conf
  goes_on --cluster far=far.conf -i "$one" -i "far:$two" -j 2
  assert_equal "$(committed "$app" "$one"), $(committed "$app" "$two")" '5 10, - -'
  assert_equal "$(admin metadata "$app" "$one" | grep -o 'p=.*')" "p=far/$two/0:10
p=far/$two/1:5"
}

@test "Kafka's own tool shows the lag of every input at home" {
  need_kafka_tools
  two_topics
  echo "bootstrap.servers=$KSTREAM_BROKERS" >far.conf
  topic three 2
  goes_on --cluster far=far.conf -i "$one" -i "$two" -i "far:$three" -j 2
  numbers 1 3 | put "$two" -p 1
  consumer_groups --describe --group "$app" | awk -v app="$app" '$1 == app { print $2, $3, $6 }' | sort >lags
  assert_equal "$(cat lags)" "$(printf '%s\n' "$one 0 0" "$one 1 0" "$two 0 0" "$two 1 3" | sort)"
}
