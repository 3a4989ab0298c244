#!/usr/bin/env bats
# Kafka Streams as oracle: it and kstream make the same tables of the same topics, and end with the same
# rows and the same state. What is compared how is told in README.md and peer.py.
#
# One trial serves all tests here; a failed one is made again with its seed: KSTREAM_PEER_SEED=N
load ../broker/helper

setup_file() {
  load ../broker/helper
  [[ -d $ROOT/build/broker/libs ]] || return 0
  setup
  export PEER_JARS=$ROOT/build/broker/libs PEER_BUILD PEER_RESULTS=$BATS_FILE_TMPDIR
  PEER_BUILD=$(dirname "$(dirname "$(command -v kstream-agg)")")
  [[ -x $PEER_BUILD/tests/peer/peer_stages ]] || PEER_BUILD=$BUILD
  local seed=${KSTREAM_PEER_SEED:-$((RANDOM * 32768 + RANDOM))}
  echo "# seed $seed" >&3
  "$ROOT/tests/peer/peer.py" run "$PEER_RESULTS" --seed "$seed" 2>"$PEER_RESULTS/log" ||
    fail "$(tail -n 40 "$PEER_RESULTS/log")"
}

# agree CASE LEAST WHAT...: under each guarantee kstream has what Kafka Streams has, and that is not little.
# The `final` rows of windows are held against those that Kafka Streams keeps up to date.
agree() {
  need_kafka_tools
  local what oracle made
  for what in "${@:3}"; do
    oracle=$PEER_RESULTS/$1.${what/final/rows}.oracle
    (($(wc -l <"$oracle") >= $2)) || fail "too few rows to say anything"
    for made in "$PEER_RESULTS/$1.$what".{at-least,exactly}-once; do
      run diff "$oracle" "$made"
      ((status == 0)) || fail "${made##*/} (>) and Kafka Streams (<): ${output:0:2000}"
    done
  done
}

# edge CASE GROUP ORACLE OURS: the windows of a group, as start=count, match this there and that here.
edge() {
  need_kafka_tools
  local file found expected=$3
  for file in "$PEER_RESULTS/$1".{rows.oracle,{rows,final}.{at-least,exactly}-once}; do
    found=$(jq -r --arg group "$2" '.[1] | select(.key == $group) | "\(.window_start)=\(.count)"' "$file" |
      paste -sd' ')
    [[ $found =~ ^($expected)$ ]] || fail "$2 of ${file##*/}: $found instead of $expected"
    expected=$4
  done
}

@test "peer: count by key" { agree count 30 rows changelog; }
@test "peer: count, sum, min, max, first and last by key" { agree summary 30 rows changelog; }
@test "peer: count, sum, min and max by an expression, repartitioned" { agree users 30 rows changelog; }
@test "peer: a reducer in C++ that deletes" { agree sentence 30 rows changelog; }
@test "peer: an aggregate of functions in C++ that deletes" { agree letters 30 rows changelog; }
@test "peer: a reducer of a stream with another key" { agree largest 30 rows changelog; }
@test "peer: a table with tombstones" { agree latest 30 rows changelog; }
@test "peer: the changes of a table, counted by another key" { agree changes 3 rows changelog; }
@test "peer: count, sum, min and max of a table, by what its rows say now" { agree table-users 30 rows; }
@test "peer: tumbling windows" { agree tumbling 1000 rows final; }
@test "peer: hopping windows" { agree hopping 1000 rows final; }
@test "peer: sliding windows" { agree sliding 1000 rows final; }
@test "peer: sessions" { agree session 1000 rows final; }
@test "peer: an inner join of two streams" { agree pairs 1000 rows; }

@test "peer: a left join of a stream with a table" { agree with-rows 5000 rows; }
@test "peer: an inner join of two tables" { agree inner-rows 1000 rows && agree inner-rows 10 table; }
@test "peer: an outer join of two tables" { agree outer-rows 5000 rows && agree outer-rows 30 table; }

@test "peer: what is known to differ of windows does, and as it is told" {
  edge edge-session closed '(1000=1 )?1000=2' '1000=1 1900=1'
  edge edge-sliding end '9000=2' '9000=2'
  edge edge-sliding after '10500=1' '10500=1 11000=1'
  edge edge-sliding forgotten '18900=1' '18900=2 19001=1'
  edge edge-session valueless '1000=2' '1000=1'
  edge edge-sliding valueless '0=1' '0=1'
  edge edge-session keyless '1000=2' '1000=1'
  edge edge-sliding keyless '0=2' '0=1'
}

# plant KEY=VALUE: a record behind those that $table has of that key; no VALUE is a tombstone.
plant() {
  put "$table" -Z -K= -p "$(jq --arg key "${1%%=*}" 'select(.[0] == $key)[3]' "$oracle")" <<<"$1"
}

@test "peer: what is compared is written down as it is told" {
  cd "$ROOT/tests/peer"
  python3 -B -m doctest peer.py peer_cases.py
}

# A comparison that sees nothing would agree with everything.
@test "peer: rows that are wrong, lost and invented are seen, and no others" {
  need_kafka_tools
  topic table 3
  local oracle=$PEER_RESULTS/count.rows.oracle prefix
  prefix=$(cat "$PEER_RESULTS/prefix")
  kstream-agg -q -i "$prefix-events" -o "$table" -G "$table" --state-dir state --count -e
  "$ROOT/tests/peer/peer.py" rows "$table" >rows
  diff "$oracle" rows
  plant 'k10={"key":"k10","count":1}'
  plant 'k11='
  put "$table" -K= -p 0 <<<'k1000={"key":"k1000","count":1}'
  "$ROOT/tests/peer/peer.py" rows "$table" >rows
  run diff "$oracle" rows
  assert_equal "$(sed -n 's/^\([<>]\) \["\([^"]*\).*/\1\2/p' <<<"$output" | sort | paste -sd' ')" \
    '<k10 <k11 >k10 >k1000'
}
