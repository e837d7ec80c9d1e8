# What tasks write.
load ../lib/common
setup_file() { build_programs; }
setup() { start_test; }
teardown() { nothing_left; }

@test "stdout and stderr stay apart" {
    run -0 --separate-stderr tprun -n 2 sh -c 'echo out; echo err >&2'
    equal "$output" "$(printf 'out\nout')"
    equal "$stderr" "$(printf 'err\nerr')"
}

@test "a label goes before each line of either stream" {
    run -0 --separate-stderr tprun -l -n 3 sh -c 'echo a; echo b; echo c >&2'
    equal "$(sort <<<"$output")" "$(printf '0: a\n0: b\n1: a\n1: b\n2: a\n2: b')"
    equal "$(sort <<<"$stderr")" "$(printf '0: c\n1: c\n2: c')"
}

@test "a last line without newline is kept so" {
    tprun printf 'a\nb' >out
    printf 'a\nb' | cmp - out
    tprun -l printf 'a\nb' >out
    printf '0: a\n0: b' | cmp - out
}

@test "lines are not torn by other tasks, even in pieces" {
    run -0 --separate-stderr tprun -n 4 sh -c '
        for i in 1 2 3 4 5; do printf $TPRUN_RANK; sleep 0.02; printf $TPRUN_RANK; echo $TPRUN_RANK; done'
    equal "$(sort <<<"$output" | uniq -c | tr -s ' ')" \
        "$(printf ' 5 000\n 5 111\n 5 222\n 5 333')"
}

@test "a very long line arrives whole" {
    run -0 --separate-stderr tprun -n 2 sh -c 'head -c 300000 /dev/zero | tr "\0" $TPRUN_RANK; echo'
    equal "$(awk '{print length($0), substr($0, 1, 1), gsub(substr($0, 1, 1), "")}' <<<"$output" | sort)" \
        "$(printf '300000 0 300000\n300000 1 300000')"
}

@test "bytes of any kind pass unchanged" {
    head -c 200000 /dev/urandom >random
    tprun cat random >out
    cmp random out
}

@test "everything a task wrote is delivered before its status" {
    local i
    for i in 1 2 3 4 5; do
        run -9 --separate-stderr tprun sh -c 'seq 20000; exit 9'
        equal "${#lines[@]}" 20000
    done
}

@test "what is written by the last breath of a task is delivered" {
    run -137 --separate-stderr tprun sh -c 'echo before; echo late >&2; kill -9 $$'
    equal "$output" before
    has_line "$stderr" late
}

@test "-o and -e write files by rank, host, node and program" {
    tprun -n 3 -o 'out.%r.%h.%n' -e 'err.%R' sh -c 'echo $TPRUN_RANK; echo e$TPRUN_RANK >&2'
    equal "$(cat out.2."$(hostname)".0)" 2
    equal "$(cat err.0 err.1 err.2)" "$(printf 'e0\ne1\ne2')"
}

@test "a rank is padded to the width of the largest" {
    tprun -n 11 -o 'out.%R%%' true
    tprun -n 11 -o 'out.%R%%' sh -c 'echo $TPRUN_RANK'
    equal "$(cat 'out.03%')" 3
    equal "$(cat 'out.10%')" 10
}

@test "tasks that name one file share it, line by line" {
    tprun -n 4 -o all sh -c 'for i in 1 2 3; do echo $TPRUN_RANK; done'
    equal "$(sort all | uniq -c | tr -s ' ')" "$(printf ' 3 0\n 3 1\n 3 2\n 3 3')"
}

@test "an output file that can't be written is named" {
    run -1 --separate-stderr tprun -o /nosuch/%r echo x
    has_line "$stderr" "tprun: --output: there is no directory /nosuch/*"
}

@test "an output directory that is not there is said before anything starts" {
    local name
    for name in none/out 'none/%r' 'none/%h/out' /dev/null/out; do
        run -1 tprun -n 1 -o "$name" touch started
        [[ "$output" == *"--output:"*"none"* || "$output" == *"--output:"*"/dev/null"* ]]
        [ ! -e started ]
    done
    run -1 tprun -n 1 -e . touch started
    [[ "$output" == *"--error: . is a directory"* ]]
    [ ! -e started ]
}

@test "a reader that goes away ends tprun quietly" {
    tprun -n 2 yes 2>err 3>&- | head -n 1 >out
    equal "$(cat out)" y
    equal "$(cat err)" ""
}

@test "a full disk is said, and is a failure" {
    [ -w /dev/full ] || skip "no /dev/full"
    run --separate-stderr bash -c 'timeout 20 "$TPRUN" seq 100000 >/dev/full'
    [ "$status" != 0 ] && [ "$status" != 124 ]
    has_line "$stderr" "tprun: *"
}

@test "unbuffered output comes as it is written" {
    start "$TPRUN" -u sh -c 'printf part; sleep 30'
    wait_for 5 grep -q part out
    kill "$job"
    finish
}

@test "128 MiB through 4 tasks to a slow reader are whole, and take little memory" {
    start_watch 4
    tprun -n 4 sh -c "$PROGRAMS/stream write \$TPRUN_RANK 33554432 && $HOLD" 3>&- |
        { sleep 1; "$PROGRAMS/stream" check 4 33554432; }
    watch_below 65536
}

@test "1 GiB through stdout of 8 tasks is whole, and takes little memory" {
    start_watch 8
    LIMIT=120 tprun -n 8 sh -c "$PROGRAMS/stream write \$TPRUN_RANK 134217728 && $HOLD" 3>&- |
        "$PROGRAMS/stream" check 8 134217728
    watch_below 65536
}
