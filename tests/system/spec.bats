#!/usr/bin/env bats
# --print-spec: the file that it prints, run by kstream-run, does what the command does. The flags are
# those that the tools tell, so that none can be forgotten.
load helper

# Words that try FLAG, beside the inputs; "connect ..." for what says where brokers are, which is in no
# file, so that both are told; "none" for what does something else than give results.
sample() {
  case $1 in
    --help | -h | --version | -V | --explain | --print-spec | --http | --token) echo none ;;
    --brokers | --bootstrap-server | -b) echo connect "$1" 127.0.0.1:1 ;;
    --config | -F) echo connect "$1" client.properties ;;
    -X) echo connect "$1" linger.ms=3 ;;
    --cluster) echo connect "$1" eu=127.0.0.1:1 ;;
    --quiet | -q | --verbose | -v) echo connect "$1" ;;
    --progress) echo connect "$1" off ;;
    --stats) echo connect "$1" 7d ;;
    --log) echo connect "$1" json ;;
    --input | -i) echo "$1" more.ndjson "$1" in.ndjson -k .user --timestamp .ts -J ;;
    --output | -o) echo "$1" out.ndjson ;;
    --in) echo "$1" csv -i in.csv ;;
    --out) echo "$1" csv ;;
    -J) echo "$1" -k .user ;;
    --format | -f) echo "$1" '%k=%s;\n' ;;
    --key | -k) echo "$1" .user -J ;;
    --timestamp) echo "$1" .ts -J ;;
    --timestamp-unit) echo "$1" s --timestamp .ts -J ;;
    -s) echo "$1" value=string --in raw ;;
    --partitions) echo "$1" 3 -k .user ;;
    --app | -G) echo "$1" app --state-dir state ;;
    --from) echo "$1" @2020-01-01T00:00:00Z ;;
    --exit-at-end | -e | --eos) echo "$1" ;;
    --create-output) echo "$1" 3:1 ;;
    --partitioner) echo "$1" crc32 --partitions 3 -k .user ;;
    --partition) echo "$1" .ts -J ;;
    --guarantee) echo "$1" exactly-once ;;
    --commit-interval | --max-idle | --max-skew | --timeout) echo "$1" 5s ;;
    --instance-id) echo "$1" one -G app --state-dir state ;;
    --grouper) echo "$1" single ;;
    --state-dir) echo "$1" state -G app ;;
    --store-type) echo "$1" rocksdb --state-dir state ;;
    --memory) echo "$1" 64M ;;
    --standby) echo "$1" 0 ;;
    --limit | -c) echo "$1" 2 ;;
    --threads | -j) echo "$1" 2 --partitions 2 -k .user ;;
    --on-error) echo "$1" skip -i bad.ndjson ;;
    --dead-letter) echo "$1" dead.ndjson -i bad.ndjson ;;
    --max-errors) echo "$1" 0 --on-error skip -i bad.ndjson ;;
    --dry-run | -n) echo "$1" ;;
    *) return 1 ;;
  esac
}

sample_filter() {
  case $1 in
    --not) echo "$1" ;;
    --table) echo "$1" -k .user -J ;;
    --else) echo "$1" rest.ndjson --partition .ts -J ;;
    --unique-by) echo "$1" .user --within 2s --timestamp .ts -j 2 --partitions 3 ;;
    --within) echo "$1" 9s --unique-by .user --timestamp .ts ;;
    --grace) echo "$1" 1s --unique-by .user --within 9s --timestamp .ts --else rest.ndjson --partition .amount ;;
    --store) echo "$1" mine --unique-by .user --within 9s --timestamp .ts -G app --state-dir state ;;
    *) sample "$1" ;;
  esac
}

sample_map() {
  case $1 in
    --tombstone) echo "$1" .amount==100 -J ;;
    --set-key) echo "$1" '$out.user' -J ;;
    --header) echo "$1" 'h=$out.amount' "$1" '{"var":"user"}' -J | sed 's/{"var/g={"var/' ;;
    --to) echo "$1" .user ;;
    *) sample "$1" ;;
  esac
}

sample_agg() {
  local window='--window tumbling:5s --timestamp .ts'
  case $1 in
    --by) echo "$1" .amount ;;
    --count) echo "$1=some=.tag" --sum b=.amount "$1=n" --sum a=.ts ;;
    --sum | --min | --max | --avg) echo "$1" .amount "$1" x=.ts ;;
    --first | --last | --collect | --collect-set | --distinct) echo "$1" .tag "$1" x=.amount ;;
    --table) echo "$1" -k .user --by .amount ;;
    --sub) echo --table -k .user --init 0 --add '$acc+.amount' "$1" '$acc-.amount' ;;
    --init | --add | --as) echo --init 0 --add '$acc+.amount' --as folded ;;
    --window) echo $window ;;
    --ttl) echo "$1" 3s --timestamp .ts --by .user --emit change ;;
    --grace | --retention) echo "$1" 3s $window ;;
    --timezone) echo "$1" Europe/Berlin --window tumbling:1d --timestamp .ts ;;
    --late) echo "$1" late.ndjson $window --partition .count -J ;;
    --close-at-end) echo "$1" $window ;;
    --idle-advance) echo "$1" 1s $window ;;
    --emit) echo "$1" change ;;
    --store) echo "$1" mine -G app --state-dir state ;;
    *) sample "$1" ;;
  esac
}

sample_join() {
  case $1 in
    --left | -l) echo "$1" bad.ndjson --on-error skip ;;
    --right | -r) echo "$1" in.ndjson ;;
    --within | --grace | --before | --after) echo "$1" 3s ;;
    --prior) echo "$1" ;;
    --latest) echo --prior "$1" ;;
    --type) echo "$1" outer ;;
    --left-key | --right-key) echo "$1" .tag ;;
    --value) echo "$1" '[$left.ts,$right.ts,$key]' ;;
    --late) echo "$1" late.ndjson -J ;;
    --table) echo "$1" --type left --partition .left.ts -J ;;
    --tables) echo "$1" --type outer --store mine -J ;;
    --global) echo "$1" ;;
    --fk) echo "$1" .user --tables ;;
    --close-at-end) echo "$1" ;;
    --idle-advance) echo "$1" 1s ;;
    --store) echo "$1" mine -G app --state-dir state ;;
    --on-error) echo "$1" skip -l bad.ndjson ;;
    --dead-letter) echo "$1" dead.ndjson -l bad.ndjson ;;
    --max-errors) echo "$1" 0 --on-error skip -l bad.ndjson ;;
    --in) echo "$1" csv -l in.csv -r in.csv ;;
    -s) echo "$1" key=json ;;
    --key | -k) echo "$1" .tag ;;
    --timestamp) echo "$1" .amount ;;
    --timestamp-unit) echo "$1" s ;;
    *) sample "$1" ;;
  esac
}

names_in_help() {
  "$1" -h 2>&1 | grep -E '^ {2,6}-' | sed -E 's/ {2,}[^- ].*//' |
    grep -oE '(^|[ ,])--?[A-Za-z][a-z-]*' | grep -oE -- '--?[A-Za-z][a-z-]*' | sort -u
}

inputs() {
  local i
  for i in 1 2 3 4 5 6; do
    printf '{"user":"u%d","amount":%d,"ts":%d,"tag":%s}\n' $((i % 2)) $((i * 40)) \
      $(((i * 7) % 11 * 1000)) "$([[ $i == 3 ]] && echo null || echo "\"t$i\"")"
  done >in.ndjson
  sed 's/"u1/"v1/' in.ndjson >more.ndjson
  sed '2s/.*/{"user":/' in.ndjson >bad.ndjson
  printf 'user,amount,ts,tag\nu1,100,1,x\nu2,20,2,y\n' >in.csv
  echo 'linger.ms=4' >client.properties
}

# What a run writes, says and ends with, under `dir`; the names of tools and of nodes are left out, since
# a tool of one stage does not name its only node.
run_in() {
  local dir=$1 code=0
  shift
  (cd "$dir" && "$@" >stdout 2>stderr </dev/null) || code=$?
  echo "$code" >"$dir/code"
  rm -rf "$dir/state"
  sed -Ei "s/kstream-(filter|map|agg|join|run)/TOOL/g; s/node '[a-z-]+': //g; s/\"ts\":\"[^\"]*\"//" "$dir"/*
  sed -Ei 's/"ts":[0-9]+,"stats"|"elapsed_ms":[0-9]+//g' "$dir/stderr"
}

# same_by_file TOOL WORD...
same_by_file() {
  local connect=()
  local tool=$1
  shift
  if [[ $1 == connect ]]; then
    connect=("${@:2}")
    set -- "${connect[@]}"
  fi
  local words=("$@")
  if [[ $tool == kstream-join ]]; then
    [[ " $* " == *' -l '* || " $* " == *' --left '* ]] || words+=(-l file:in.ndjson)
    [[ " $* " == *' -r '* || " $* " == *' --right '* ]] || words+=(-r file:more.ndjson)
    [[ " $* " == *' -k '* || " $* " == *' --key '* ]] || words+=(-k .user)
    [[ " $* " == *' --timestamp '* ]] || words+=(--timestamp .ts)
    [[ " $* " == *' --'@(within|before|after|table|tables|global)' '* ]] || words+=(--before 5s)
  else
    [[ " $* " == *' -i '* || " $* " == *' --input '* ]] || words+=(-i file:in.ndjson)
  fi
  [[ " $* " == *' -o '* || " $* " == *' --output '* || " $* " == *' --to '* ]] || words+=(-o -)
  case $tool in
    kstream-filter) words+=('.amount > 60') ;;
    kstream-map) [[ " $* " == *' -s '* ]] && words+=(.) || words+=('.,.') ;;
    kstream-agg)
      [[ " $* " == *' --by '* ]] || words+=(--by .user)
      [[ " $* " == *' --'@(count|sum|min|max|avg|first|last|collect|distinct|init)* ]] || words+=(--count)
      ;;
  esac
  rm -rf a b
  mkdir a b
  (cd a && inputs)
  (cd b && inputs)
  run_in a "$tool" "${words[@]}"
  if ! (cd b && "$tool" "${words[@]}" --print-spec >spec.json 2>refused); then
    # What has no file is refused as the run is.
    tail -1 b/refused | sed "s/kstream-[a-z]*/TOOL/" >b/said
    tail -1 a/stderr | diff - b/said || fail "$tool ${words[*]}: --print-spec is refused otherwise"
    return
  fi
  run_in b kstream-run spec.json "${connect[@]}"
  rm -f b/refused
  mv b/spec.json spec.json
  diff -r a b || fail "$tool ${words[*]}: the file of --print-spec does something else: $(cat spec.json)"
}

each_flag() {
  local tool=$1 name words
  names_in_help "$tool" >names
  assert [ "$(wc -l <names)" -gt 40 ]
  while read -r name; do
    words=$("sample_${tool#kstream-}" "$name") || fail "$tool has a flag that this test does not know: $name"
    [[ $words == none ]] && continue
    read -ra words <<<"$words"
    same_by_file "$tool" "${words[@]}"
  done <names
}

@test "spec: every flag of kstream-filter" { each_flag kstream-filter; }
@test "spec: every flag of kstream-map" { each_flag kstream-map; }
@test "spec: every flag of kstream-agg" { each_flag kstream-agg; }
@test "spec: every flag of kstream-join" { each_flag kstream-join; }

@test "spec: joins with tables" {
  for kind in '--table --store mine' '--table --type left --partitions 3' '--tables --type left --partitions 3' \
    '--tables --store mine -G app --state-dir state'; do
    # shellcheck disable=SC2086  # words
    same_by_file kstream-join $kind -J
    assert [ "$(grep -c '"value"' a/stdout)" -gt 1 ]
  done
}
