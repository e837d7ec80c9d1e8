# shellcheck disable=SC2154 # bats sets stderr
# --after: a program that begins when others are complete.
load ../lib/common
setup() {
    start_test
    PATH=${TPRUN%/*}:$PATH
}
teardown() { nothing_left 5; }

state_of() { tpctl info "$1" --format=json | jq -r .state; }

@test "a program begins when the one that it comes after is complete, and holds nothing before" {
    start "$TPRUN" -n 1 sh -c 'until [ -e go ]; do sleep 0.05; done; sleep 0.2; touch first'
    wait_for 5 eval '[ "$(state_of 1)" = running ]'
    tprun --after 1 sh -c '[ -e first ] && touch second' &
    waiter=$!
    wait_for 5 eval '[ "$(state_of 2)" = pending ]'
    [ "$(tpctl info 2 --format=json | jq .R)" = null ]
    has_line "$(tpctl list)" "* 2 pending *waits for the end of program 1?"
    has_line "$(tpctl info 2)" "waits for *the end of program 1"
    equal "$(tpctl list --format=json | jq -c '.programs[1].waits')" '{"for":"the end of program 1","held_by":[],"before":0}'
    sleep 0.5
    [ "$(state_of 2)" = pending ]
    touch go
    wait "$waiter"
    [ -e second ]
    finish
}

@test "what is complete already is not waited for, and :ok asks how it ended" {
    tprun true
    run tprun sh -c 'exit 3'
    tprun --after 1 --after 1:ok --after 2:any --after 2 true
    run -1 --separate-stderr tprun --after 1 --after 2:ok touch started
    equal "$stderr" "tprun: --after 2:ok: program 2 ended with status 3"
    [ ! -e started ]
}

@test "a program that lost its manager is over, and not well" {
    start "$TPRUN" -n 1 sleep 60
    wait_for 5 eval '[ "$(state_of 1)" = running ]'
    tprun --after 1 true &
    any=$!
    tprun --after 1:ok true 2>why &
    ok=$!
    wait_for 5 eval '[ "$(state_of 3)" = pending ]'
    kill -KILL "$(pgrep -P "$job" -x tprun-manager)"
    run finish
    wait "$any"
    wait "$ok" && rc=0 || rc=$?
    [ "$rc" = 1 ]
    equal "$(cat why)" "tprun: --after 1:ok: program 1 lost its manager"
}

@test "what is waited for is said after some seconds, and Ctrl-C ends the waiting" {
    start "$TPRUN" -n 1 sleep 60
    wait_for 5 eval '[ "$(state_of 1)" = running ]'
    env --default-signal "$TPRUN" --after 1 true 2>said &
    waiter=$!
    wait_for 9 grep -qx 'tprun: waits for the end of program 1 (--after)' said
    kill -INT "$waiter"
    wait "$waiter" && rc=0 || rc=$?
    [ "$rc" = 130 ]
    kill "$job"
    run finish
    [ "$(state_of 2)" = complete ]
}

@test "ids that nobody has, and words that are none, are refused" {
    run -1 --separate-stderr tprun --after 9 true
    equal "$stderr" "tprun: --after 9: there is no program 9"
    run -2 --separate-stderr tprun --after 1:maybe true
    equal "${stderr_lines[0]}" 'tprun: --after: "1:maybe" is not ID, ID:ok or ID:any, such as "17:ok"'
}
