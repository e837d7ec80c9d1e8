# Signals given to tprun.
load ../lib/common
setup_file() { build_programs; }
setup() { start_test; }
teardown() { nothing_left; }

catcher() { # SIGNAL: tasks that say so when they get it
    start "$TPRUN" -n 3 sh -c 'trap "echo got '"$1"'; exit 0" '"$1"'; echo ready; while :; do sleep 0.05; done'
    wait_for 5 lines_are out 3
    kill -"$1" "$job"
    finish
}

@test "TERM, HUP, INT, QUIT, USR1 and USR2 reach every task" {
    local signal
    for signal in TERM HUP INT QUIT USR1 USR2; do
        catcher $signal
        echo "$signal: status $status"
        equal "$(grep -c "got $signal" out)" 3
        equal "$status" 0
    done
}

@test "a program that dies of the signal gives its status" {
    start "$TPRUN" -n 2 "$PROGRAMS/stay"
    wait_for 5 lines_are out 2
    kill -TERM "$job"
    finish
    equal "$status" 143
}

@test "INT ends an ordinary program at once" {
    start "$TPRUN" -n 2 "$PROGRAMS/stay" fork
    wait_for 5 lines_are out 2
    kill -INT "$job"
    finish
    equal "$status" 130
}

@test "a second INT within a second ends a program that takes no notice of it" {
    start "$TPRUN" --kill-grace 30s -n 2 "$PROGRAMS/stay" ignore
    wait_for 5 lines_are out 2
    kill -INT "$job"
    sleep 0.3
    kill -INT "$job"
    SECONDS=0
    finish
    within 4 "$SECONDS"
    [ "$status" != 0 ]
}

@test "TSTP stops the tasks and CONT lets them go on" {
    start "$TPRUN" -n 2 sh -c 'echo $$; while :; do sleep 0.05; date +%s%N >beat.$TPRUN_RANK; done'
    wait_for 20 lines_are out 2
    wait_for 20 [ -s beat.0 -a -s beat.1 ]
    kill -TSTP "$job"
    wait_for 20 states_are '[TD]' # D: stopped between vfork and exec
    local before after
    before=$(cat beat.0 beat.1)
    sleep 0.5
    after=$(cat beat.0 beat.1)
    equal "$after" "$before"
    kill -CONT "$job"
    wait_for 20 have_beaten "$before"
    kill -TERM "$job"
    finish
}
# Each task's process, whose number it has written, and what it runs are in this state.
states_are() { # LETTER
    local pid
    while read -r pid; do
        ps -o stat= -p "$pid" --ppid "$pid" | grep -qv "^$1" && return 1
    done <out
    return 0
}
have_beaten() { # BEFORE
    [ "$(cat beat.0 beat.1)" != "$1" ]
}

@test "Ctrl-C on a terminal ends the program once and for all" {
    printf '"$TPRUN" -n 2 "$PROGRAMS/stay" fork; echo "status $?"\n' >session
    run timeout 60 env --default-signal script -qefc "bash session" typescript < <(wait_for 20 in_typescript ready 2; printf '\003'; sleep 1)
    has_line "$output" "status 130*" || [ "$status" = 130 ]
}

@test "Ctrl-C ends the loop of bash that the command stands in, before its tasks run, too" {
    ctrl_c_in_loop '"$TPRUN" -n 2 "$PROGRAMS/stay" fork' ready
    ctrl_c_in_loop '"$TPRUN" --bootstrap "sh -c cat {host} {agent}" --hosts other true' turn
    ctrl_c_in_loop '"$(dirname "$TPRUN")/tpctl" attach '"$(tprun --detach -n 1 "$PROGRAMS/stay" 3>&-)" ready
}
ctrl_c_in_loop() { # COMMAND WORD: that is typed when the word stands there
    printf 'for turn in 1 2; do echo "turn $turn"; %s; done; echo "loop is over"\n' "$1" >session
    rm -f typescript
    run timeout 60 env --default-signal script -qefc "bash session" typescript < <(wait_for 20 in_typescript "$2" 1; sleep 0.5; printf '\003'; sleep 2)
    has_line "$output" "turn 1*"
    [[ $output != *"turn 2"* && $output != *"loop is over"* ]]
}
