# What is shown of a start that takes long: on a terminal one line that is rewritten, else nothing.
load ../lib/common
setup() {
    start_test
    export TERM=xterm
    unset NO_COLOR
    printf '#!/bin/sh\nsleep 2\nexit 1\n' >ssh
    chmod +x ssh
}
teardown() { nothing_left; }

SHOWN='tprun: 0 of 3 hosts reached, waiting for '

@test "a slow start shows on a terminal how many hosts were reached and which are missing, in colour" {
    timeout 20 script -qec "stty cols 100; $TPRUN -N 3 --hosts 'h[1-3]' --ssh ./ssh true" /dev/null </dev/null >out || true
    [[ "$(cat out)" == *"$SHOWN"$'\033[33mh[1-3]\033[0m\r\033[K'* ]]
    [[ "$(tail -n 1 out)" == "tprun: 3 of 3 hosts did not start; nothing was run"* ]]
}

@test "the line of progress has no colour where NO_COLOR is set, and fits the terminal" {
    NO_COLOR=1 timeout 20 script -qec "stty cols 60; $TPRUN -N 3 --hosts 'a-rather-long-name[1,3,5]' --ssh ./ssh true" /dev/null </dev/null >out || true
    local line
    line=$(tr '\r' '\n' <out | grep "^$SHOWN")
    [[ "$line" == "${SHOWN}a-rather-"*... ]]
    equal "${#line}" 59
    ! grep -q $'\033\\[33m' out
}

@test "no progress is shown in a pipe, on a dumb terminal, or where the start is fast" {
    run -1 --separate-stderr tprun -N 3 --hosts 'h[1-3]' --ssh ./ssh true
    [[ "$stderr" != *reached* && "$stderr" != *$'\033'* ]]
    TERM=dumb timeout 20 script -qec "$TPRUN -N 3 --hosts 'h[1-3]' --ssh ./ssh true" /dev/null </dev/null >out || true
    ! grep -q 'reached,' out
    timeout 20 script -qec "$TPRUN -N 3 --hosts 'h[1-3]' --ssh false true" /dev/null </dev/null >out || true
    ! grep -q 'reached,' out
}
