#!/usr/bin/env bats
# kstream-run --test: cases for a topology, without a broker.
load helper

# A threshold, and a test of it in which the last record came out although it should not.
write_big() {
  cat >big.json <<'END'
{"nodes": {
  "in":  {"source": "in"},
  "big": {"from": "in", "filter": ".n > ${MIN:-1}"},
  "out": {"from": "big", "sink": "out"}}}
END
  cat >big.test.json <<'END'
{"topology": "big.json",
 "cases": [
   {"name": "small ones go",
    "input": {"in": [{"key": "a", "value": {"n": 1}}, {"key": "b", "value": {"n": 2}}]},
    "expect": {"out": [{"key": "b", "value": {"n": 2.0}}]}},
   {"name": "three # go",
    "input": {"in": [{"key": "a", "ts": 5, "value": {"n": 3}}, {"key": "b", "ts": 6, "value": {"n": 3}}]},
    "expect": {"out": [
      {"key": "a", "value": {"n": 3}},
      {"key": "b", "value":   {"n": 4}}]}}]}
END
}

@test "the examples pass, alone and side by side" {
  try 0 kstream-run "$ROOT/share/kstream/examples/revenue.json" \
    --test "$ROOT/share/kstream/examples/revenue.test.json"
  assert_line --index 0 'TAP version 13'
  assert_line --index 1 '1..4'
  assert_line --index 2 'ok 1 - a minute is told when it is over, with its grace'
  local specs=()
  for spec in "$ROOT"/share/kstream/examples/*.test.json; do specs+=(--test "$spec"); done
  try 0 kstream-run -q -j 4 "${specs[@]}"
  refute_line --partial 'not ok'
  assert_equal "$stderr" ''
}

@test "a failure is told by what was expected, what came and where they part; exit 1" {
  write_big
  try 1 kstream-run --test big.test.json -q
  assert_output 'TAP version 13
1..2
ok 1 - small ones go
not ok 2 - three \# go
# big.test.json:10:7: out: record 2 is not as expected
#       {"key":"a","value":{"n":3}}
#     - {"key":"b","value":{"n":4}}
#     + {"key":"b","value":{"n":3}}
#       value.n: expected 4, came 3'
  assert_stderr_is 'kstream-run: error: 1 of 2 cases failed: each is told above'
}

@test "variables, and options by flags, are those of a run" {
  write_big
  try 1 kstream-run --test big.test.json --set MIN=2
  assert_line 'not ok 1 - small ones go'
  assert_line '# big.test.json:5:24: out: record 1 is missing'
  try 2 kstream-run --test big.test.json --set MN=2
  assert_one_error 'MN is set'
}

@test "--report junit is XML" {
  write_big
  try 1 kstream-run --test big.test.json --report junit
  python3 - "$output" <<'END'
import sys, xml.etree.ElementTree as tree
suite = tree.fromstring(sys.argv[1].encode())[0]
assert (suite.get('name'), suite.get('tests'), suite.get('failures')) == ('big.test.json', '2', '1')
passed, failed = suite
assert len(passed) == 0 and failed.get('name') == 'three # go'
assert failed[0].get('message') == 'big.test.json:10:7: out: record 2 is not as expected'
assert 'value.n: expected 4, came 3' in failed[0].text
END
}

@test "--update rewrites what is not as expected, and nothing else" {
  write_big
  cp big.test.json before
  try 0 kstream-run --test big.test.json --update
  assert_line 'ok 2 - three \# go'
  assert_line '# updated'
  assert_equal "$(diff before big.test.json | grep '^[<>]')" '<       {"key": "b", "value":   {"n": 4}}]}}]}
>       {"key": "b", "value":   {"n": 3}}]}}]}'
  try 0 kstream-run --test big.test.json
}

@test "a mistake in a test file is told with its place, before anything runs; exit 3" {
  write_big
  local wrong
  wrong() {  # SED-EXPRESSION MESSAGE
    sed "$1" big.test.json >wrong.test.json
    try 3 kstream-run --test wrong.test.json
    assert_output ''
    assert_stderr_is "kstream-run: error: wrong.test.json:$2"
  }
  wrong '5s/"out"/"otu"/' "5:16: the topology has no output topic 'otu': did you mean 'out'?"
  wrong '4s/"in"/"inn"/' "4:15: the topology has no input topic 'inn': did you mean 'in'?"
  wrong '5s/"value"/"vlaue"/' "5:37: a record has no field 'vlaue': did you mean 'value'?"
  wrong '5s/"expect"/"expects"/' "5:5: a case has no field 'expects': did you mean 'expect'?"
  wrong '2s/"cases"/"csaes"/' "2:2: a test file has no field 'csaes': did you mean 'cases'?"
  wrong '4s/"key": "a"/"partition": 1/' '4:22: topic in has no partition 1: it has 1'
  wrong '6s/three # go/small ones go/' "6:13: 'small ones go' is the name of another case, too"
  wrong '1s/big.json/bgi.json/' '1:14: bgi.json: the file cannot be read'
  wrong '3s/"name"/"set": {"MN": 1}, "name"/' '3:13: MN is set, and big.json has no ${MN}'
  wrong '1,$d' '1:1: not JSON: empty'
  try 2 kstream-run --test big.test.json --check
  assert_one_error '--test runs cases, without --check, --online, --explain and --only'
  try 2 kstream-run --test none.test.json
  assert_one_error 'none.test.json: the file cannot be read'
  try 2 kstream-run --update big.json
  assert_one_error '--update is for tests: name a file of them with --test'
}

@test "an application that ends is expected to, by code and message; dead letters and commits" {
  write_big
  cat >errors.test.json <<'END'
{"topology": "big.json",
 "cases": [
   {"name": "a bad record stops it, and waits",
    "input": {"in": [{"value": {"n": 2}}, {"payload": "{"}, {"value": {"n": 3}}]},
    "expect": {"out": [{"value": {"n": 2}}]},
    "exit": 5, "error": "in[0]@1", "commits": {"in": 1}},
   {"name": "or goes elsewhere",
    "on-error": "dead-letter", "dead-letter": "bad",
    "input": {"in": [{"value": {"n": 2}}, {"payload": "{"}, {"value": {"n": 3}}]},
    "expect": {"out": [{"value": {"n": 2}}, {"value": {"n": 3}}], "bad": [{"payload": "{"}]},
    "commits": {"in": 3}},
   {"name": "not told",
    "input": {"in": [{"payload": "{"}]}, "expect": {"out": []}}]}
END
  try 1 kstream-run --test errors.test.json -q
  assert_line 'ok 1 - a bad record stops it, and waits'
  assert_line 'ok 2 - or goes elsewhere'
  assert_line 'not ok 3 - not told'
  assert_line --partial '# errors.test.json:13:14: the application ended with exit code 5: '
}

@test "--update keeps whole numbers of any length, and what it cannot mend fails" {
  write_big
  cat >ids.test.json <<'END'
{"topology": "big.json",
 "cases": [
   {"name": "ids",
    "input": {"in": [{"value": {"n": 2, "id": 123456789012345678}}, {"key": "k", "payload": "3"}]},
    "expect": {"out": [ {"value_has": {"n": 2e0, "id": 123456789012345679}} ]},
    "exit": 4},
   {"name": "no such thread", "steps": [{"crash": 7}], "expect": {"out": []}}]}
END
  cp ids.test.json before
  try 1 kstream-run --test ids.test.json --update
  assert_line '# ids.test.json:7:42: there is no thread 7'
  assert_equal "$(diff before ids.test.json | grep '^[<>]' | head -n 2)" \
'<     "expect": {"out": [ {"value_has": {"n": 2e0, "id": 123456789012345679}} ]},
<     "exit": 4},'
  assert_equal "$(diff before ids.test.json | grep '^[<>]' | tail -n 2)" \
'>     "expect": {"out": [ {"value_has": {"n": 2e0, "id": 123456789012345678}} ]},
>     "exit": 5},'
}

@test "prove runs test files" {
  command -v prove >/dev/null || skip "there is no prove (it comes with perl)"
  write_big
  cd "$ROOT/share/kstream/examples"
  try 0 prove --exec 'kstream-run -q --test' revenue.test.json sessions.test.json
  assert_line 'All tests successful.'
  cd "$BATS_TEST_TMPDIR"
  try 1 prove --exec 'kstream-run -q --test' big.test.json
  assert_line --partial 'Failed test:  2'
}

@test "two hundred cases run within 10 s, with libjq too, and how long that took is told" {
  local examples=$ROOT/share/kstream/examples
  jq '.cases = [range(200) as $i | .cases[$i % (.cases | length)] | .name = "case \($i)"]' \
    "$examples/word-count.test.json" >many.test.json
  try 0 kstream-run "$examples/word-count.json" --test many.test.json
  assert_stderr_has "% kstream-run: 200 cases, 0 failed, "
  assert_line --index 1 '1..200'
  assert_line 'ok 200 - case 199'
  local took=${stderr#*failed, }
  ((${took%% ms*} < 10000))
}
