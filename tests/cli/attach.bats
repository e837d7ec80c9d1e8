# shellcheck disable=SC2154,SC2030,SC2031 # bats sets output and stderr, common.bash job and status
# tpctl attach: the output of a program that goes on without a terminal, and signals to it.
load ../lib/common
setup() { start_test; }
teardown() { nothing_left 10; }

export TPCTL=${TPRUN%/*}/tpctl
WAITS='until [ -e go ]; do sleep 0.05; done'
is_running() { "$TPCTL" list | grep -q '^ *1 *running'; }

@test "attach: what was saved and what comes, and the exit status of the program" {
    tprun -d -n 2 sh -c "[ \$TPRUN_RANK = 1 ] || { echo first; $WAITS; echo last; echo err >&2; exit 7; }" >id
    start "$TPCTL" attach -l 1
    wait_for 5 lines_are out 1
    touch go
    finish
    [ "$status" = 7 ]
    equal "$(cat out)" "0: first
0: last"
    has_line "$(cat err)" "0: err"
    has_line "$(cat err)" "tprun: rank 0 on *: exited with status 7*"
    run -7 --separate-stderr "$TPCTL" attach 1 # it is complete
    equal "$output" "first
last"
}

@test "attach: one that is killed, stopped or sent SIGTERM leaves the program alone" {
    tprun -d sh -c "echo ready; $WAITS; echo last; exit 3" >id
    local signal
    for signal in KILL TERM HUP; do
        start "$TPCTL" attach 1
        wait_for 5 lines_are out 1
        kill "-$signal" "$job"
        finish
        is_running
    done
    start "$TPCTL" attach 1
    wait_for 5 lines_are out 1
    kill -STOP "$job"
    touch go
    run -3 "$TPCTL" wait --status 1
    kill -CONT "$job"
    finish
    [ "$status" = 3 ]
    equal "$(cat out)" "ready
last"
}

# keys KEYS: typed at tpctl attach once it shows "ready".
keys() {
    rm -f answers typescript
    mkfifo answers
    # shellcheck disable=SC2016
    start sh -c 'timeout 20 script -qefc "exec \"$TPCTL\" attach 1" typescript <answers'
    exec 8>answers
    wait_for 10 in_typescript ready 1
    printf '%b' "$1" >&8
}

@test "attach: Ctrl-C Ctrl-Z leaves, Ctrl-C is a signal" {
    tprun -d sh -c 'trap "echo caught; exit 9" INT; echo ready; while :; do sleep 0.05; done' >id
    keys '\003\032'
    finish
    exec 8>&-
    [ "$status" = 0 ]
    in_typescript "program 1 goes on" 1
    is_running
    keys '\003'
    finish
    exec 8>&-
    [ "$status" = 9 ]
    in_typescript caught 1
}

@test "attach: Ctrl-C twice ends the program" {
    tprun -d sh -c 'trap "" INT TERM; echo ready; while :; do sleep 0.05; done' >id
    keys '\003'
    sleep 0.3
    printf '\003' >&8
    finish
    exec 8>&-
    [ "$status" != 0 ]
    wait_for 5 eval '! is_running'
}

@test "attach: refuses what is not there or not saved" {
    run -3 "$TPCTL" attach 1
    tprun true
    run -1 --separate-stderr "$TPCTL" attach 1
    has_line "$stderr" "tpctl: the output of program 1 was not saved*"
}

# So much output that it stands in several files, of which one is open.
@test "attach and logs show all that they began with: reap leaves what is being shown" {
    mkfifo shown
    tprun -d seq 5000000 >id
    "$TPCTL" wait 1
    wait_for 10 eval '[ -e "$(echo "$XDG_STATE_HOME"/tprun/this-machine-*/1/output.1)" ]'
    local command
    for command in attach logs; do
        "$TPCTL" "$command" 1 >shown 2>err 3>&- &
        job=$!
        exec 8<shown
        head -n 1 <&8 >first
        run -4 --separate-stderr "$TPCTL" reap 1
        equal "$stderr" "tpctl: the output of program 1 is being shown by tpctl attach or logs: wait for its end"
        run -0 --separate-stderr "$TPCTL" reap --all
        equal "$stderr" "tpctl: the output of program 1 is being shown by tpctl attach or logs: wait for its end"
        tail -n 1 <&8 >last
        exec 8<&-
        finish
        [ "$status" = 0 ]
        equal "$(cat err)" ""
        equal "$(cat last)" 5000000
    done
    run -0 "$TPCTL" reap 1
    run -3 "$TPCTL" attach 1
}

# At a terminal, in the background: says "ready" in the file shown, and "last" once `go` is there.
unsaved() {
    env --default-signal "$TPRUN" "$@" sh -c "echo ready; $WAITS; echo last; echo err >&2; exit 6" >shown 2>told 3>&- &
    unsaved=$!
    wait_for 10 lines_are shown 1
}

@test "attach: a run that saves nothing does from now on, and what came before is told to be missing" {
    unsaved -l
    start "$TPCTL" attach 1
    wait_for 5 grep -q "was not saved" err
    start_again "$TPCTL" attach 1
    touch go
    finish
    [ "$status" = 6 ]
    equal "$(cat out)" "0: last"
    has_line "$(cat err)" "tprun: output before *:*:* was not saved"
    has_line "$(cat err)" "0: err"
    has_line "$(cat err)" "tprun: rank 0 on *: exited with status 6"
    equal "$(cat out)" "$(cat out.again)"
    status=0
    wait "$unsaved" || status=$?
    [ "$status" = 6 ]
    equal "$(cat shown)" "0: ready
0: last"
    equal "$(grep -c saved told)" 0
    run -6 --separate-stderr "$TPCTL" attach 1
    equal "$output" "0: last"
    run -0 --separate-stderr "$TPCTL" logs 1
    has_line "$stderr" "tprun: output before *:*:* was not saved"
}
start_again() { # a second one, in out.again; it ends with the program
    "$@" >out.again 2>err.again 3>&- &
    wait_for 5 grep -q "was not saved" err.again
}

@test "attach: what hosts say last of all is shown, too" {
    # shellcheck disable=SC2016 # for the other shell
    printf '#!/bin/sh\nexport HOST=$1\nshift\n"$@"\necho "said late" >&2\nsleep 0.1\n' >late
    chmod +x late
    unsaved --hosts elsewhere --bootstrap "$PWD/late {host} {agent}" -n 1
    start "$TPCTL" attach 1
    wait_for 5 grep -q "was not saved" err
    touch go
    finish
    has_line "$(cat err)" "tprun: elsewhere: said late"
    wait "$unsaved" || :
    equal "$(grep -c 'elsewhere: said late' told)" 1
    run -6 --separate-stderr "$TPCTL" attach 1
    has_line "$stderr" "tprun: elsewhere: said late"
}

@test "attach: signals reach a run that saves nothing, and its tprun hears nothing of those who look" {
    unsaved
    start "$TPCTL" attach 1
    wait_for 5 grep -q "was not saved" err
    kill -KILL "$job"
    finish
    start "$TPCTL" attach 1
    wait_for 5 grep -q "was not saved" err
    kill -INT "$job"
    finish
    wait "$unsaved" || :
    equal "$(cat shown)" ready
}

@test "attach: a tprun that is stopped keeps nobody from looking" {
    unsaved
    kill -STOP "$unsaved"
    start "$TPCTL" attach 1
    wait_for 5 grep -q "was not saved" err
    touch go
    wait_for 5 lines_are out 1
    kill -CONT "$unsaved"
    finish
    [ "$status" = 6 ]
    wait "$unsaved" || :
}

@test "attach: a program that waits for resources has nothing to show" {
    unsaved -n "$(nproc)"
    "$TPRUN" -n "$(nproc)" true 3>&- &
    wait_for 5 eval '"$TPCTL" list | grep -q "^ *2 *pending"'
    run -4 --separate-stderr "$TPCTL" attach 2
    has_line "$stderr" "tpctl: program 2: it is pending: it has no output yet"
    touch go
    wait "$unsaved" || :
    wait
}
