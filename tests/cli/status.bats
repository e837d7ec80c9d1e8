# How a run ends: exit statuses, and who is named.
load ../lib/common
setup_file() { build_programs; }
setup() { start_test; }
teardown() { nothing_left; }

@test "a program whose tasks all end with 0 ends with 0, quietly" {
    run -0 --separate-stderr tprun -n 5 true
    [ -z "$output$stderr" ]
}

@test "the status is that of the task that failed, and the message names rank and host" {
    run -3 --separate-stderr tprun -n 4 sh -c '[ $TPRUN_RANK != 2 ] || exit 3; sleep 30'
    has_line "$stderr" "tprun: rank 2 on $(hostname): *3*"
}

@test "a task that dies of a signal gives 128 and its number" {
    run -139 --separate-stderr tprun -n 2 sh -c '[ $TPRUN_RANK = 1 ] && kill -SEGV $$; sleep 30'
    has_line "$stderr" "tprun: rank 1 on $(hostname): killed by signal 11 (Segmentation fault)*"
}

@test "the first failure in time is blamed, not those that it brought down" {
    run -7 --separate-stderr tprun -n 4 sh -c '
        case $TPRUN_RANK in 3) sleep 0.5; exit 7;; *) trap "exit 99" TERM; sleep 30 & wait;; esac'
    has_line "$stderr" "tprun: rank 3 on *7*"
    [[ "$stderr" != *99* ]]
}

# Rank 1 ends well, and rank 3 is the only task of the second part.
@test "with --on-failure continue tasks that ask by PMI are told who has died" {
    run -3 --separate-stderr timeout 60 "$TPRUN" --on-failure continue -n 3 bash -c '
        ask() { echo "$1" >&"$PMI_FD"; read -r reply <&"$PMI_FD"; value=${reply##*value=}; }
        case $PMI_RANK in
        0)  ask "cmd=init pmi_version=1 pmi_subversion=1"
            ask "cmd=get key=PMI_dead_processes"
            echo "first <$value>"
            touch go
            until [ "$value" = 2-3 ]; do
                sleep 0.05
                ask "cmd=get key=PMI_dead_processes"
                [ "$value" != 2 ] || touch next
            done
            echo "$reply"
            ask cmd=finalize ;;
        1) exit 0 ;;
        *) until [ -e go ]; do sleep 0.05; done; exit 3 ;;
        esac' : -n 1 bash -c 'until [ -e next ]; do sleep 0.05; done; kill -9 $$'
    equal "$output" "$(printf '%s\n' 'first <>' 'cmd=get_result rc=0 msg=success value=2-3')"
}

@test "with --on-failure continue the others go on, and the first failure is the status" {
    run -4 --separate-stderr tprun -n 3 --on-failure continue sh -c '
        [ $TPRUN_RANK = 1 ] && exit 4; sleep 0.4; [ $TPRUN_RANK = 2 ] && exit 5; echo done'
    equal "$output" "done"
}

@test "many ranks that end in the same way make one line" {
    run -3 --separate-stderr tprun -n 6 --on-failure continue sh -c 'exit 3'
    [ "$(grep -c 'status 3' <<<"$stderr")" = 1 ]
    has_line "$stderr" "tprun: ranks 0-5 on *"
}

@test "a program that can't be found is 127" {
    run -127 --separate-stderr tprun -n 2 no-such-program
    has_line "$stderr" "tprun: *no-such-program*"
    run -127 --separate-stderr tprun ./no-such-program
}

@test "a program that can't be run is 126" {
    echo data >data
    run -126 --separate-stderr tprun -n 2 ./data
    has_line "$stderr" "tprun: *data*"
    run -126 --separate-stderr tprun /
}

@test "a time limit is 124, and says which" {
    run -124 --separate-stderr tprun -n 2 --time-limit 0.3s sleep 30
    has_line "$stderr" "tprun: *limit*"
}

@test "MPIEXEC_TIMEOUT is a time limit in seconds" {
    MPIEXEC_TIMEOUT=1 run -124 --separate-stderr tprun -n 2 sleep 30
}

@test "a task that takes no notice of TERM is killed after the grace" {
    local from=$SECONDS
    run -124 --separate-stderr tprun --kill-grace 0.5s --time-limit 0.5s "$PROGRAMS/stay" ignore fork
    within 3 $((SECONDS - from))
}

@test "what a task leaves behind in another session ends with the program" {
    run -3 --separate-stderr tprun --kill-grace 1s -n 2 sh -c "
        setsid $PROGRAMS/stay ignore & sleep 0.3; exit 3"
    nothing_left 1
}

@test "what escaped its parent, session and descriptors ends with the program too" {
    LIMIT=20 run -124 --separate-stderr tprun --time-limit 1s --kill-grace 0.5s -n 2 \
        "$PROGRAMS/stay" ignore escape
    nothing_left 1
}

@test "a task that leaves after speaking PMI without finalizing ends the program" {
    need_mpich
    run --separate-stderr tprun -n 2 "$PROGRAMS/mpi-fail" quit 1
    [ "$status" -ne 0 ]
    has_line "$stderr" "tprun: rank 1 on *"
}

@test "SIGKILL of tprun leaves nothing behind" {
    local i
    for i in 1 2 3; do
        start "$TPRUN" -n 2 "$PROGRAMS/stay" ignore escape fork
        wait_for 5 lines_are out 2
        kill -9 "$job"
        finish
        nothing_left 3
    done
}

@test "SIGKILL of a task ends the program, and says so" {
    start "$TPRUN" -n 2 "$PROGRAMS/stay" fork
    wait_for 5 lines_are out 2
    kill -9 "$(pgrep -f -o "^$PROGRAMS/stay fork")"
    finish
    equal "$status" 137
    has_line "$(cat err)" "tprun: rank * on *killed by signal 9 (Killed)*"
}

@test "a file that is missing is one error, whichever option names it, and no wrong command line" {
    ln -s "$TPRUN" mpiexec
    run_and_refuse() { # OPTION...
        run -1 --separate-stderr timeout 20 "$@"
        has_line "$stderr" "tprun: *nosuch*: No such file or directory"
        equal "$(wc -l <<<"$stderr")" 1
    }
    run_and_refuse "$TPRUN" --rankfile nosuch true
    run_and_refuse "$TPRUN" --spec nosuch
    run_and_refuse "$TPRUN" -R nosuch true
    run_and_refuse "$TPRUN" --hostfile nosuch true
    run_and_refuse ./mpiexec -configfile nosuch
    run_and_refuse ./mpiexec --rankfile nosuch true
}
