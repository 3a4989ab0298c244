#!/usr/bin/env bats
# Formats of files, and that nothing is lost on the way through them.
load helper

@test "lines: blank lines, a byte order mark, CRLF, a last line without its end" {
  printf '\xEF\xBB\xBF{"a":1}\r\n\r\n   \n\n{"a":2}\r\n{"a":3}' >in
  kstream-filter -i in true >out 2>err
  printf '{"a":1}\n{"a":2}\n{"a":3}\n' >want
  cmp out want
  kstream-filter true <in >out 2>err
  cmp out want
}

@test "envelope: writing and reading gives back the same record" {
  cat >in <<'END'
{"topic":"t","partition":3,"offset":7,"tstype":"create","ts":1700000000123,"headers":["h","1","h",null,"b",{"b64":"/w=="}],"key":"u1","value":{"a": 1.0,"b":[1, 2]}}
{"topic":"t","partition":3,"offset":8,"key":null,"payload":null}
{"topic":"t","partition":3,"offset":9,"key":"","payload":""}
{"topic":"t","partition":3,"offset":10,"key_b64":"/w==","payload_b64":"/v8="}
{"topic":"t","partition":3,"offset":11,"key":"k","value":null}
{"topic":"t","partition":3,"offset":12,"key":"k","payload":"not json"}
{"topic":"t","partition":3,"offset":13,"tstype":"logappend","ts":0,"key":"\u0000","payload":"two\nlines"}
END
  kstream-filter --in envelope -J -i in true >once 2>err
  cmp in once
  kstream-filter --in envelope -J true <once >twice 2>err
  cmp once twice
}

@test "envelope: null payload, empty payload and the text null are three (STATE-2)" {
  printf '%s\n' '{"key":"a","payload":null}' '{"key":"b","value":null}' '{"key":"c","payload":""}' >in
  try 0 kstream-filter --in envelope -i in -f '%k %S\n' true
  assert_output 'a -1
b 4
c 0'
  try 0 kstream-filter --in envelope -i in -k '"x"' -J true
  assert_line --index 0 --partial '"payload":null'
  assert_line --index 1 --partial '"value":null'
  assert_line --index 2 --partial '"payload":""'
}

@test "envelope: kcat's own lines are read" {
  try 0 piped '{"topic":"t","partition":0,"offset":1,"tstype":"create","ts":5,"broker":1,"key":"k","payload":"{\\"a\\":1}"}\n' \
    kstream-filter --in envelope '.a == 1'
  assert_output '{"a":1}'
}

@test "envelope: of a plain file it tells file, line and key" {
  printf '{"u":"x"}\n\n{"u":"y"}\n' >in
  try 0 kstream-filter -i in -k .u -J true
  assert_output '{"topic":"in","partition":0,"offset":0,"key":"x","value":{"u":"x"}}
{"topic":"in","partition":0,"offset":2,"key":"y","value":{"u":"y"}}'
}

@test "json: a null payload prints as null" {
  try 0 piped '{"key":"a","payload":null}\n' kstream-filter --in envelope true
  assert_output null
}

@test "raw: a line is its bytes" {
  printf 'not json\n\n\xff\x00\xfe\n{"a":1}' >in
  kstream-filter --in raw --out raw -i in true >out 2>err
  printf 'not json\n\n\xff\x00\xfe\n{"a":1}\n' >want
  cmp out want
}

@test "raw: a value that holds a line end is a bad record, not two lines" {
  printf '%s\n' '{"key":"a","payload":"one"}' '{"key":"b","payload":"two\nlines"}' >in
  try 5 kstream-filter --in envelope --out raw -i in true
  assert_output one
  assert_stderr_has 'the value holds a line end'
  try 0 kstream-filter --in envelope --out raw -i in --dead-letter dead true
  assert_output one
  assert_equal "$(jq -r .payload dead)" $'two\nlines'
  try 0 kstream-filter --in envelope -i in -f '%s\n' true
  assert_output $'one\ntwo\nlines'
}

@test "raw: a serde makes expressions of any bytes" {
  try 0 piped 'abc\nxyz\n' kstream-filter --in raw --out raw -s value=string 'startswith("x")'
  assert_output xyz
}

@test "csv: a header line names the fields, and comes out again" {
  printf 'id,name\n1,"a,b"\n2,c\n3,"say ""x"""\n' >in.csv
  try 0 kstream-filter --in csv -i in.csv '.id != "2"'
  assert_output '{"id":"1","name":"a,b"}
{"id":"3","name":"say \"x\""}'
  try 0 kstream-filter --in csv --out csv -i in.csv '.id != "2"'
  assert_output 'id,name
1,"a,b"
3,"say ""x"""'
}

@test "tsv: the same with tabs" {
  printf 'id\tname\n1\ta\n2\tb\n' >in.tsv
  try 0 kstream-filter --in tsv -i in.tsv '.name == "b"'
  assert_output '{"id":"2","name":"b"}'
  try 0 kstream-map --in tsv --out tsv -i in.tsv '{name}'
  assert_output 'name
a
b'
}

@test "csv and tsv: JSON into them" {
  try 0 piped '{"a":1,"b":"x,y"}\n{"a":2.50,"b":null}\n' kstream-filter --out csv true
  assert_line --index 0 a,b
  assert_line --index 1 '1,"x,y"'
  assert_line --index 2 2.50,
}

@test "-f: kcat's tokens, RFC 3339 time and expressions" {
  try 0 piped '{"u":"k1","ts":1700000000123,"n":2}\n' \
    kstream-filter -k .u --timestamp .ts -f '%t[%p]@%o %T %d %k %K %S %{.n + 1} %%\n' true
  assert_output '-[0]@0 1700000000123 2023-11-14T22:13:20.123Z k1 2 35 3 %'
  try 0 piped '{"headers":["a","1","b",null],"key":"k","value":1}\n' \
    kstream-filter --in envelope -f '%h' true
  assert_output 'a=1,b=NULL'
}

@test "-f: an expression that does not compile is told before anything is read" {
  try 3 piped '1\n' kstream-filter -f '%{.a +}' true
  assert_output ''
  assert_one_error 'kstream-filter: error: --format: '
}

@test "-s: keys as json, hex and packed numbers" {
  try 0 piped '{"key":"42","value":1}\n' kstream-filter --in envelope -s key=json '$key == 42'
  assert_output 1
  try 0 piped '{"key_b64":"/wA=","value":1}\n' kstream-filter --in envelope -s key=hex '$key == "ff00"'
  assert_output 1
  try 0 piped '{"key_b64":"AAAAAAAAAAU=","value":1}\n' kstream-filter --in envelope -s 'key=>q' '$key == 5'
  assert_output 1
}
