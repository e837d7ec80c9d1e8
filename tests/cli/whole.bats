# What is easily lost: nested runs, what goes on in the background, odd bytes, odd callers.
load ../lib/common
setup_file() { build_programs; }
setup() { start_test; }
teardown() { nothing_left; }

@test "a run inside a task draws from that task's own cores, to any depth" {
    unset TPRUN_OPTIONS
    PATH=$(dirname "$TPRUN"):$PATH run -0 "$TPRUN" -n 1 --bind-to core tprun -n 1 tprun -n 1 \
        sh -c 'grep -c "^Cpus_allowed_list:.[0-9]*$" /proc/self/status'
    [ "$output" = 1 ]
}

@test "what a task left in the background to write for it is heard to its end" {
    run -0 bash -c "$TPRUN sh -c 'seq 1 200000 &' | wc -l"
    [ "$output" = 200000 ]
    run -0 tprun bash -c 'exec > >(sleep 0.3; cat); echo important'
    [ "$output" = important ]
}

@test "a background process that waits for a slow reader is not silent" {
    equal "$(tprun -n 1 sh -c '(head -c 30000000 /dev/zero | tr "\0" x; echo; echo end) & exit 0' | (sleep 3; wc -c))" 30000005
}

@test "a background process that is silent does not keep the run" {
    SECONDS=0
    run -0 tprun sh -c 'sleep 100 &'
    [ "$SECONDS" -le 4 ]
}

@test "a program whose name is not UTF-8 is missed by name" {
    run -127 tprun $'/nosuch\xff'
    [[ "$output" == *'/nosuch\xff'* ]]
}

@test "a caller that blocks SIGCHLD is no trouble" {
    run -0 env --block-signal=CHLD timeout -k 1 20 "$TPRUN" -n 2 echo hi
    [ "$output" = $'hi\nhi' ]
}

@test "an endless grace is no grace of none" {
    run -3 --separate-stderr tprun --kill-grace infinity -n 2 sh -c \
        'if [ $TPRUN_RANK = 0 ]; then sleep 0.2; exit 3; fi; trap "" TERM; sleep 1; echo end'
    [ "$output" = end ]
}

@test "bytes without any newline come through exactly" {
    run -0 bash -c "$TPRUN -n 4 sh -c 'head -c 3000001 /dev/zero' | wc -c"
    [ "$output" = 12000004 ]
}
