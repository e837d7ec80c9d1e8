# shellcheck disable=SC2154 # common.bash sets job
# The JSON form of a spec: what tprun-spec(5) and its schema say of it is what tprun writes and reads.
load ../lib/common
setup() {
    start_test
    unset TPRUN_OPTIONS
    PATH=${TPRUN%/*}:$PATH
}
teardown() { nothing_left 5; }

SCHEMA=$ROOT/launcher/spec/tprun-spec.schema.json
schema() { # WHAT ARGUMENT...: tests/lib/spec-schema says more
    "$PYTHON" -c 'from jsonschema import Draft202012Validator' 2>/dev/null || skip "no python3-jsonschema here"
    run "$PYTHON" "$ROOT/tests/lib/spec-schema" "$1" "$SCHEMA" "${@:2}"
    echo "$output"
    [ "$status" = 0 ]
}

@test "every spec of the recorded command lines is one that the schema takes" {
    schema validate "$ROOT/tests/data/golden/specs.txt"
    [[ $output =~ ^([0-9]+)\ specs$ ]] && [ "${BASH_REMATCH[1]}" -ge 40 ]
}

@test "keys, types, defaults and options are the same in the program, the schema and the page" {
    schema keys "$ROOT" "$ROOT/man/tprun-spec.5"
    [[ $output =~ ^([0-9]+)\ keys$ ]] && [ "${BASH_REMATCH[1]}" -ge 80 ]
}

@test "tprun and the schema refuse the same values, and take the same" {
    need_plain_build "2400 runs take minutes"
    schema values "$TPRUN" "$ROOT/tests/data/spec-values.json"
}

@test "the spec that is kept of a program is one that the schema takes, and runs again as it was" {
    mkdir elsewhere
    (cd elsewhere && umask 027 && A=first tprun -n 2 --map-by core --oversubscribe sh -c 'echo $A; pwd; umask')
    tpctl info 1 --format=json | jq .spec >kept.json
    cmp <(jq -S . "$XDG_STATE_HOME"/tprun/*/1/spec.json) <(jq -S . kept.json)
    for key in environment directory umask rlimits origins; do jq -e "has(\"$key\")" kept.json; done
    schema validate kept.json
    A=second run -0 --separate-stderr tprun --spec kept.json
    equal "$(sort -u <<<"$output")" "$(printf '%s\n' 0027 "$PWD/elsewhere" first | sort)"
    # what is printed has nothing that is inherited
    tprun --print-spec true | jq -e '[has("environment", "directory", "umask", "rlimits", "origins")] | any | not'
    tprun --print-spec --spec kept.json | jq -e '(has("origins") | not) and .umask == "0027"'
}

@test "a key that stands twice is refused" {
    run -2 --separate-stderr tprun --spec - <<<'{"version":1,"version":1,"parts":[{"argv":["a"]}]}'
    [[ $stderr = "tprun: --spec: -: line 1: duplicate object key near"* ]]
}
