#!/usr/bin/env bats
# One table of flags: help, man page and completions have the same ones.
load helper

# The names in a text that looks like flags, one a line.
names_in_help() { "$1" -h 2>&1 | grep -E '^ {2,6}-' | sed -E 's/ {2,}[^- ].*//' | names; }
names() { grep -oE '(^|[ ,|(])--?[A-Za-z][a-z-]*' | grep -oE -- '--?[A-Za-z][a-z-]*' | sort -u; }

@test "help, man page and completions have the same flags" {
  for tool in kstream-agg kstream-filter kstream-inspect-state kstream-join kstream-map kstream-run; do
    names_in_help $tool >help
    assert [ "$(wc -l <help)" -gt 30 ]
    sed -n '/^\.SH OPTIONS/,/^\.SH EXPRESSIONS/p' "$BUILD/man/$tool.1" | grep -A1 '^\.TP' |
      sed 's/\\f.//g; s/\\-/-/g' | names >man
    diff help man
    sed -n "s/.*compgen -W '\(-[^']*\)'.*/\1/p" "$BUILD/completions/$tool" | names >bash
    diff help bash
    grep -oE "^  '\*-[^[]*" "$BUILD/completions/_$tool" | sed "s/'\*//; s/[+=].*//" | names >zsh
    diff help zsh
    grep -oE -- ' -[sl] [A-Za-z-]+' "$BUILD/completions/$tool.fish" |
      sed 's/ -s / -/; s/ -l / --/' | names >fish
    diff help fish
  done
}

@test "every flag that help tells is taken" {
  for tool in kstream-agg kstream-filter kstream-inspect-state kstream-join kstream-map kstream-run; do
    names_in_help $tool | while read -r name; do
      run --separate-stderr $tool "$name" </dev/null
      refute_regex "$stderr" 'unknown flag'
    done
  done
}

@test "man pages render without a warning" {
  for page in "$BUILD"/man/*.1; do
    run --separate-stderr man --warnings -E UTF-8 -l -Tutf8 -Z "$page"
    assert_equal "$stderr" ''
    assert_equal "$status" 0
    run grep -E '@[A-Z]+@' "$page"
    assert_output ''
  done
}

@test "bash completion completes" {
  complete_line() {
    # shellcheck source=/dev/null
    source "$BUILD/completions/kstream-filter"
    COMP_WORDS=("$@")
    COMP_CWORD=$(($# - 1))
    COMPREPLY=()
    compopt() { :; }
    _kstream_filter
    printf '%s\n' "${COMPREPLY[@]}"
  }
  run complete_line kstream-filter --on
  assert_output --on-error
  run complete_line kstream-filter --on-error s
  assert_output skip
  run complete_line kstream-filter --explain = j
  assert_output json
  touch orders.ndjson
  run complete_line kstream-filter -i ord
  assert_output orders.ndjson
}

@test "completions are valid for the shells that are here" {
  bash -n "$BUILD/completions/kstream-filter"
  bash -n "$BUILD/completions/kstream-map"
  for tool in kstream-agg kstream-filter kstream-inspect-state kstream-join kstream-map kstream-run; do
    if command -v zsh >/dev/null; then zsh -n "$BUILD/completions/_$tool"; fi
    if command -v fish >/dev/null; then fish -n "$BUILD/completions/$tool.fish"; fi
  done
}

# Every example of a man page: those on files are run, those on a cluster are explained.
@test "the examples of the man pages work" {
  cp "$ROOT"/share/kstream/examples/*.{ndjson,json} .
  for page in "$BUILD"/man/*.1; do
    sed -n '/^\.EX/,/^\.EE/p' "$page" | grep -v '^\.E' | sed "s/\\\\-/-/g; s/\\\\(aq/'/g" >examples
    assert [ "$(wc -l <examples)" -ge 4 ]
    while read -r line; do
      if [[ $line == *' -b '* ]]; then line="${line%%|*} --explain"; fi
      run --separate-stderr bash -o pipefail -c "$line" </dev/null
      [[ $status == 0 && -n $output ]] || fail "$line: exit code $status: $stderr"
    done <examples
  done
}
