# shellcheck disable=SC2154,SC2030,SC2031 # bats sets stderr, start_program id
# tpctl terminate: the end of programs, and that nothing is left once it returns 0.
load ../lib/common
load ../lib/tpctl
setup_file() { build_programs; }
setup() { start_test; }
teardown() { nothing_left 4; }

# Nothing of the program is left at this moment: what tprun itself still says does not count.
all_gone() {
    local pid
    for pid in $(marked); do
        case $(cat "/proc/$pid/comm" 2>/dev/null) in
        tprun | timeout | bats* | bash | "") ;;
        *) echo "left: $pid $(tr '\0' ' ' <"/proc/$pid/cmdline")" && return 1 ;;
        esac
    done
}

@test "a program is ended, and who did it is said and written down" {
    start_program 3 -n 3 sh -c 'echo ready; exec sleep 1000'
    run_tpctl -0 terminate "$id"
    all_gone
    equal "$output$stderr" ""
    finish
    equal "$status" 143
    has_line "$(cat err)" "tprun: ended by tpctl (pid *)"
    has_line "$(cat err)" "tprun: 3 tasks were ended by tprun then"
    has_line "$(events terminate | jq -r .who)" "tpctl (pid *)"
    equal "$(events terminate | jq '.grace == 5')" true
    equal "$(events tasks-ended | jq -r '.by' | sort -u)" tprun
    equal "$(events complete | jq .status)" 143
}

@test "tasks that take no notice of SIGTERM are killed, and what they left with them" {
    start_program 2 -n 2 "$PROGRAMS/stay" ignore fork escape
    run_tpctl -0 terminate "$id" --kill-grace 0.3
    all_gone
    finish
    equal "$status" 143
    equal "$(events terminate | jq '.grace == 0.3')" true
    equal "$(events tasks-ended | jq .status | sort -u)" 9
}

@test "with no grace they are killed at once" {
    # shellcheck disable=SC2016
    start_program 1 -n 1 sh -c 'trap "echo TERM" TERM; echo ready; while :; do sleep 0.05; done'
    run_tpctl -0 terminate --kill-grace=0 "$id"
    finish
    equal "$(cat out)" ready
    equal "$status" 143
}

@test "a shorter grace takes the place of a longer one" {
    start_program 1 -n 1 "$PROGRAMS/stay" ignore
    run_tpctl -0 terminate "$id" --kill-grace 1h --no-wait
    sleep 0.2
    [ -n "$(marked)" ]
    run_tpctl -0 terminate "$id" --kill-grace 0.1
    all_gone
    finish
    equal "$(events terminate | jq -c '[.grace == 3600, .grace == 0.1]' | paste -sd' ')" "[true,false] [false,true]"
}

@test "without waiting it returns once tasks are told" {
    # shellcheck disable=SC2016
    start_program 1 -n 1 sh -c 'trap "until [ -e go ]; do sleep 0.05; done; exit" TERM; echo ready; while :; do sleep 0.05; done'
    run_tpctl -0 terminate --no-wait "$id"
    equal "$(events terminate | jq '.grace == 5')" true
    [ -n "$(marked)" ]
    : >go
    finish
    equal "$status" 143
}

@test "several programs are told at once, and all are waited for" {
    start_program 1 --overlap -n 1 sh -c 'echo ready; exec sleep 1000'
    local first=$id first_job=$job
    mv out first.out
    start_program 1 --overlap -n 1 sh -c 'echo ready; exec sleep 1000'
    [ "$id" != "$first" ]
    run_tpctl -3 terminate "$first" 99999 "$id"
    all_gone
    equal "$(wc -l <<<"$stderr")" 1
    finish
    equal "$status" 143
    job=$first_job
    finish
    equal "$status" 143
}

@test "a program that waits for resources is ended, too" {
    start_program 1 -n 1 --cores-per-task "$(nproc)" sh -c 'echo ready; exec sleep 1000'
    local first=$id first_job=$job
    mv out first.out
    env -u TPRUN_OPTIONS --default-signal "$TPRUN" -n 1 --cores-per-task "$(nproc)" true >second.out 2>second.err 3>&- &
    job=$!
    wait_for 10 next_program "$first"
    id=$(next_program "$first")
    run_tpctl -4 signal "$id" TERM
    has_line "$stderr" "tpctl: program $id: it is pending: it has no tasks yet"
    run_tpctl -0 terminate "$id"
    finish
    equal "$status" 143
    has_line "$(cat second.err)" "tprun: ended by tpctl (pid *) *"
    run_tpctl -0 terminate "$first"
    job=$first_job
    finish
}
next_program() { find "$(instance)/programs" -mindepth 1 -name "[0-9]*" -printf "%f\n" | grep -vx "$1"; }

@test "a program that is complete or not there is not ended once more" {
    run_tpctl -3 terminate 99999
    start_program 1 -n 1 sh -c 'echo ready; exec sleep 1000'
    run_tpctl -0 terminate "$id"
    finish
    run_tpctl -4 terminate "$id"
    has_line "$stderr" "tpctl: program $id is complete*"
}

@test "a manager that is stopped is not waited for for ever" {
    start_program 1 -n 1 sh -c 'echo ready; exec sleep 1000'
    local manager
    manager=$(pgrep -P "$job" -x tprun-manager)
    wait_for 5 test -S "$(instance)/programs/$id/control"
    kill -STOP "$manager"
    run_tpctl -1 terminate "$id"
    has_line "$stderr" "tpctl: program $id: its manager (pid $manager) does not answer *"
    kill -CONT "$manager"
    wait_for 10 sh -c "! kill -0 $job" # it hears of it all the same
    finish
    equal "$status" 143
}

@test "a grace that is no duration is a wrong command line" {
    run_tpctl -2 terminate 1 --kill-grace soon
    has_line "$stderr" 'tpctl: --kill-grace: *'
}
