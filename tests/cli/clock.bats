# shellcheck disable=SC2154 # bats sets status, output and stderr
# The clock of the calendar is set while a program runs: an hour back, or forward.
load ../lib/common
setup_file() { build_programs; }
setup() {
    start_test
    export CLOCK_SHIFT=-3600 CLOCK_SHIFT_FROM=$PWD/set
}
shifted() { env LD_PRELOAD="$PROGRAMS/clock-shift" timeout --foreground -k 5 "${LIMIT:-20}" "$TPRUN" "$@"; }

@test "tasks that ignore SIGTERM are killed in time when the clock is set back meanwhile" {
    run -7 --separate-stderr shifted --oversubscribe --kill-grace 2s -n 2 sh -c '
        [ "$TPRUN_RANK" = 0 ] || { until [ -e ready ]; do sleep 0.05; done; exit 7; }
        trap "touch $CLOCK_SHIFT_FROM" TERM
        touch ready
        while :; do sleep 0.05; done 2>/dev/null'
    [ -e set ]
    equal "$stderr" "tprun: rank 1 on $(uname -n): exited with status 7
tprun: 1 other task was ended by tprun then"
}

@test "what a task left behind is ended in time when the clock is set back meanwhile" {
    run -0 --separate-stderr shifted --kill-grace 1s -n 1 sh -c '
        trap "" TERM
        (sleep 0.3; touch $CLOCK_SHIFT_FROM; exec sleep 1000) &'
    [ -e set ]
}

@test "hosts are not given up before their time when the clock is set forward" {
    printf '#!/bin/sh\ncase $1 in a) sleep 0.7; touch set; exit 1 ;; esac\nshift; exec "$@"\n' >reach
    chmod +x reach
    CLOCK_SHIFT=3600 run -0 --separate-stderr shifted --bootstrap './reach {host} {agent}' --fanout 2 --start-timeout 15s \
        --hosts b,a,c,d -N 1 -n 1 true
    [ -e set ]
    has_line "$stderr" "tprun: a: not started: exec: * exited with status 1 (after [0-9].[0-9] s); left out, since *"
    [[ $stderr != *"not tried"* ]]
}

@test "a lock that another process has is waited for when the clock is set forward" {
    tprun true
    lock_file "$(echo "$TPRUN_RUNTIME_DIR"/this-machine-*)/lock"
    start env CLOCK_SHIFT=3600 LD_PRELOAD="$PROGRAMS/clock-shift" "$TPRUN" echo text
    sleep 1
    touch set
    sleep 1
    kill "$locker"
    finish
    equal "$(cat out)" text
}

@test "a long line that one task does not finish holds others back no longer when the clock is set back meanwhile" {
    start env LD_PRELOAD="$PROGRAMS/clock-shift" "$TPRUN" --oversubscribe -n 2 sh -c '
        end() { until [ -e go ]; do sleep 0.05; done; exit; }
        [ "$TPRUN_RANK" = 1 ] || { head -c 200000 /dev/zero | tr "\\0" x; end; }
        until [ -s out ]; do sleep 0.05; done
        echo whole; sleep 0.5; touch "$CLOCK_SHIFT_FROM"; end'
    wait_for 20 grep -q whole out || { touch go; return 1; }
    touch go
    finish
    equal "$status" 0
}

@test "Ctrl-C twice within a second ends all at once, also when the clock is set between" {
    local round
    start env CLOCK_SHIFT=3600 LD_PRELOAD="$PROGRAMS/clock-shift" "$TPRUN" -n 1 sh -c 'trap "" INT; echo ready; while :; do sleep 100; done'
    wait_for 20 lines_are out 1
    for round in {1..6}; do # set forward, and back; where one comes too late, the next may not
        kill -INT "$job" 2>/dev/null || break
        sleep 0.6
        if [ -e set ]; then rm set; else : >set; fi
    done
    [ "$round" -lt 6 ] || { kill -9 "$job"; return 1; }
    finish
    equal "$status" 130
}
