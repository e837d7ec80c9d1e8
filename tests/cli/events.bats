# shellcheck disable=SC2154 # bats sets stderr
# What tasks hear of others through PMIx, and do to them.
load ../lib/common
setup_file() { build_programs; }
setup() {
    start_test
    need_pmix_programs
}
teardown() { nothing_left 4; }

event() { run "$1" --separate-stderr tprun "${@:2}"; }      # -STATUS ARGUMENTS...
lines() { equal "$(sort <<<"$output")" "$(printf '%s\n' "$@")"; } # of stdout, in order
continue=--on-failure=continue

@test "an event of a task is heard by those that it is for, once" {
    local range
    for range in namespace global local; do
        event -0 -n 3 "$PROGRAMS/pmix-event" tell $range
        lines '0: own of 0, hello' '1: own of 0, hello' '2: own of 0, hello'
        equal "$stderr" ""
    done
    event -0 -n 3 "$PROGRAMS/pmix-event" tell 2
    lines '2: own of 0, hello'
}

@test "where the program goes on the others hear of a death, and meet without the dead" {
    event -3 -n 3 $continue "$PROGRAMS/pmix-event" die 1 3
    lines '0: aborted of 1, 3' '2: aborted of 1, 3'
    equal "$stderr" "tprun: rank 1 on $(hostname): exited with status 3"
    event -137 -n 3 $continue "$PROGRAMS/pmix-event" die 0 kill
    lines '1: aborted of 0, 137' '2: aborted of 0, 137'
}

@test "a fence that waits for a dead one fails, and so do later ones" {
    event -3 -n 3 $continue "$PROGRAMS/pmix-event" fence 1 3
    lines '0: aborted of 1, 3' '2: aborted of 1, 3'
    event -137 -n 3 $continue "$PROGRAMS/pmix-event" fence 2 kill
    lines '0: aborted of 2, 137' '1: aborted of 2, 137'
    event -3 -n 3 $continue "$PROGRAMS/pmix-event" fence 1 finalized
    lines '0: failed of 1, 3' '2: failed of 1, 3'
}

@test "without --on-failure continue a death ends the program, and tasks that stay a while hear of it" {
    event -137 -n 3 "$PROGRAMS/pmix-event" fence 1 kill
    equal "$stderr" "tprun: rank 1 on $(hostname): killed by signal 9 (Killed)
tprun: 2 other tasks were ended by tprun then"
    event -3 -n 3 "$PROGRAMS/pmix-event" last 1 3
    lines '0: aborted of 1, 3' '2: aborted of 1, 3'
}

@test "what a task logs is shown, even if it exits at once" {
    start "$TPRUN" "$PROGRAMS/pmix-event" speak agent
    wait_for 10 lines_are agent 1
    sleep 0.3 # the task has exited
    kill -CONT "$(<agent)"
    finish
    equal "$status" 3
    equal "$(sort err)" "last words
tprun: rank 0 on $(hostname): exited with status 3"
}

@test "an abort of one task ends that one, where the program goes on; else all of it" {
    event -9 -n 3 $continue "$PROGRAMS/pmix-event" die 0 abort 1
    lines '0: aborted of 1, 143' '2: aborted of 1, 143'
    equal "$stderr" "tprun: rank 1 on $(hostname): aborted by rank 0 with code 9"
    CALM=1 event -9 -n 3 $continue "$PROGRAMS/pmix-event" die 0 abort 1
    equal "$stderr" "tprun: rank 1 on $(hostname): aborted by rank 0 with code 9"
    event -9 -n 3 "$PROGRAMS/pmix-event" die 0 abort 1
    equal "${stderr%%$'\n'*}" "tprun: rank 0 on $(hostname): aborted the program with code 9"
}

@test "a task has signals sent to others, or stops and continues them" {
    event -0 -n 3 "$PROGRAMS/pmix-event" control 1 signal 10
    lines '1: signal 10' SUCCESS
    event -0 -n 3 "$PROGRAMS/pmix-event" control all signal 10
    lines '0: signal 10' '1: signal 10' '2: signal 10' SUCCESS
    event -0 -n 3 "$PROGRAMS/pmix-event" stop 1
    lines '1: stopped'
}

@test "a task that another one ends has not failed, and the others hear of it" {
    event -0 -n 3 "$PROGRAMS/pmix-event" control 1 kill
    lines '0: aborted of 1, 137' '2: aborted of 1, 137' SUCCESS
    equal "$stderr" ""
    event -0 -n 3 "$PROGRAMS/pmix-event" control 1 terminate
    lines '0: aborted of 1, 143' '2: aborted of 1, 143' SUCCESS
}

@test "controlling a task that does not exist, or in an unknown way, is refused" {
    event -0 -n 2 "$PROGRAMS/pmix-event" control 7 kill
    lines NOT-FOUND
    event -0 -n 2 "$PROGRAMS/pmix-event" control '?0' kill
    lines NOT-FOUND
    event -0 -n 2 "$PROGRAMS/pmix-event" control 1 restart
    lines NOT-SUPPORTED
    event -0 -n 2 "$PROGRAMS/pmix-event" control 1 signal 1000
    lines BAD-PARAM
}
