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

@test "the time stands before each line, and before its label" {
    local time='[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}\.[0-9]{3}' day
    day=$(date +%F)
    run -0 --separate-stderr tprun --timestamp-io -n 2 sh -c 'echo a; printf "b\rc\n"; echo d >&2'
    equal "$(tr '\r' '\n' <<<"$output" | grep -cE "^$time [abc]$")" 6
    equal "$(grep -cE "^$time d$" <<<"$stderr")" 2
    run -0 --separate-stderr tprun --timestamp-io -l -n 2 sh -c 'echo a'
    equal "$(sed -E "s/^$time //" <<<"$output" | sort)" "$(printf '0: a\n1: a')"
    [[ $output == "$day"T* || $output == "$(date +%F)"T* ]]
}

@test "standard error goes where standard output goes, also into files" {
    run -0 --separate-stderr tprun --merge-io -l -n 2 sh -c 'echo a; echo b >&2'
    equal "$(sort <<<"$output")$stderr" "$(printf '0: a\n0: b\n1: a\n1: b')"
    run -0 --separate-stderr tprun --merge-io -o out.%r -n 2 sh -c 'echo a; echo b >&2'
    equal "$output$stderr" ""
    equal "$(sort out.0) $(sort out.1)" "$(printf 'a\nb a\nb')"
}

@test "what goes into files is shown, too, and directories are made where that is asked for" {
    run -0 --separate-stderr tprun --tee --make-dirs -o logs/%h/%r/out -e logs/err.%r -l -n 2 \
        sh -c 'echo a; echo b >&2'
    equal "$(sort <<<"$output")" "$(printf '0: a\n1: a')"
    equal "$(sort <<<"$stderr")" "$(printf '0: b\n1: b')"
    equal "$(cat logs/*/0/out logs/*/1/out logs/err.0 logs/err.1)" \
        "$(printf '0: a\n1: a\n0: b\n1: b')"
    run -1 --separate-stderr tprun -o missing/%r true
    has_line "$stderr" "tprun: --output: no directory missing/: make it first, or add --make-dirs"
    run -1 --separate-stderr tprun --make-dirs -o logs/err.0/%r touch started
    has_line "$stderr" "tprun: --output: directory logs/err.0/: Not a directory"
    run -1 --separate-stderr tprun --make-dirs -e logs/err.0/new/%r/x touch started
    has_line "$stderr" "tprun: --error: directory logs/err.0/new/: Not a directory"
    [ ! -e started ]
}

@test "a reader that is slow holds up what is shown and written to files, and loses nothing" {
    tprun --tee -o big seq 300000 | (sleep 0.3 && cat >shown)
    seq 300000 | cmp - big
    cmp big shown
}

@test "a last line without newline is kept so" {
    tprun printf 'a\nb' >out
    printf 'a\nb' | cmp - out
    tprun -l printf 'a\nb' >out
    printf '0: a\n0: b' | cmp - out
}

@test "lines in a file are not torn by other tasks, even in pieces" {
    tprun -n 4 sh -c '
        for i in 1 2 3; do printf $TPRUN_RANK; sleep 0.02; printf $TPRUN_RANK; echo $TPRUN_RANK; done
        for i in 1 2; do printf $TPRUN_RANK$TPRUN_RANK; sleep 0.15; echo $TPRUN_RANK; done' >out
    equal "$(sort <out | uniq -c | tr -s ' ')" \
        "$(printf ' 5 000\n 5 111\n 5 222\n 5 333')"
}

# through_pipe ARGUMENTS...: tprun in the background; what comes out of its pipe is in the file out.
through_pipe() {
    { tprun "$@" 2>err || echo "$?" >failed; } 3>&- | cat >out 3>&- &
    job=$!
}
# shellcheck disable=SC2016 # for the tasks' shells
ASKS='printf "Name? "; read -r name; echo "Hello $name"'

@test "a prompt is seen before it is answered" {
    mkfifo answers
    exec 6<>answers
    start sh -c 'timeout 20 "$TPRUN" sh -c "$1" <answers | cat' sh "$ASKS"
    wait_for 5 grep -q 'Name? ' out
    echo you >&6
    exec 6>&-
    finish
    equal "$(cat out)" "Name? Hello you"
}

@test "a prompt is seen on a terminal, and an answer ends its line" {
    mkfifo answers
    echo "$ASKS" >ask
    exec 6<>answers
    start sh -c 'timeout 20 script -qefc "$TPRUN -l sh ask" typescript <answers'
    wait_for 5 grep -q '0: Name? $' typescript
    echo you >&6
    wait_for 5 grep -q '0: Hello you' typescript
    exec 6>&-
    finish
}

@test "progress that ends with a carriage return is seen at once" {
    through_pipe sh -c 'printf "10%%\r"; until [ -e seen ]; do sleep 0.05; done; printf "20%%\r\n"'
    wait_for 5 grep -q 10% out
    : >seen
    wait "$job"
    printf '10%%\r20%%\r\n' | cmp - out
}

# One rank is inside a line that was shown already when another one's line comes.
between() { # [OPTION]
    rm -f said seen out
    # shellcheck disable=SC2016
    through_pipe "$@" -n 2 sh -c 'case $TPRUN_RANK in
        0) printf a; until [ -e seen ]; do sleep 0.05; done; echo b ;;
        1) until [ -e said ]; do sleep 0.05; done; echo x ;; esac'
    wait_for 5 grep -q a out
    : >said
    wait_for 5 grep -q x out
    : >seen
    wait "$job"
}

@test "a line that was shown unfinished is ended before another rank's" {
    between
    equal "$(cat out)" $'a\nx\nb'
    between -l
    equal "$(cat out)" $'0: a\n1: x\n0: b'
    between -u
    equal "$(cat out)" $'ax\nb'
}

@test "what tprun says shares no line with what tasks wrote" {
    local said="tprun: rank 0 on $(hostname): exited with status 3"
    tprun sh -c 'printf part; exit 3' >out 2>&1 || true
    equal "$(cat out)" $'part\n'"$said"
    { tprun sh -c 'printf part; exit 3' 2>&1 || true; } | cat >out
    equal "$(cat out)" $'part\n'"$said"
    timeout 20 script -qec "$TPRUN sh -c 'printf part; exit 3'" /dev/null </dev/null >out || true
    equal "$(tr -d '\r' <out)" $'part\n'"$said"
    tprun -n 2 sh -c 'printf part >&2; : >wrote.$TPRUN_RANK; [ $TPRUN_RANK = 0 ] || exec sleep 9
        until [ -e wrote.1 ]; do sleep 0.05; done; exit 3' 2>out >&2 || true
    equal "$(grep -cx part out) $(grep exited out)" "2 $said"
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

@test "what a task writes just before it ends is delivered" {
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
    has_line "$stderr" "tprun: --output: no directory /nosuch/*"
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

# interrupted OPTION...: nobody reads what tprun has to show when Ctrl-C comes.
interrupted() {
    env --default-signal "$TPRUN" "$@" >&6 2>&6 3>&- &
    job=$!
    wait_for 20 full "$job"
    kill -INT "$job"
    wait_for 10 eval "! kill -0 $job" || { kill -9 "$job"; return 1; }
    finish
}
# Its writes take no more: the pipe has less room than it would write. Or it waits in a write.
full() { grep -q pipe "/proc/$1/wchan" || [ "$(python3 -c 'import array, fcntl, termios
n = array.array("i", [0]); fcntl.ioctl(6, termios.FIONREAD, n); print(n[0] >= 61440)')" = True ]; }

@test "Ctrl-C is heard while nobody reads what is shown" {
    mkfifo pipe
    exec 6<>pipe
    interrupted --dry-run --display all --format=json -n 2000 true
    equal "$status" 130
    timeout 0.2 cat <&6 >/dev/null || true
    interrupted --display all --format=json -n 2000 true
    [ "$status" != 0 ]
    exec 6>&-
}

@test "a full disk is reported, and is a failure" {
    [ -w /dev/full ] || skip "no /dev/full"
    run --separate-stderr bash -c 'timeout 20 "$TPRUN" seq 100000 >/dev/full'
    [ "$status" != 0 ] && [ "$status" != 124 ]
    has_line "$stderr" "tprun: *"
}

@test "output of tprun itself that finds a full disk is an error" {
    [ -w /dev/full ] || skip "no /dev/full"
    local option
    for option in --help=layout --help=mpiexec --version --print-spec; do
        run -1 --separate-stderr bash -c '"$TPRUN" "$1" true >/dev/full' - "$option"
        equal "$stderr" "tprun: stdout: cannot write: No space left on device"
    done
}

@test "a file that may not grow is reported, and ends none of tprun's processes" {
    run -1 --separate-stderr bash -c 'ulimit -f 50; "$TPRUN" -o big head -c 100000 /dev/zero'
    equal "$stderr" "tprun: big: cannot write: File too large"
    run -1 --separate-stderr bash -c 'ulimit -f 1; "$TPRUN" true'
    has_line "$stderr" "tprun: *: File too large"
    run -153 --separate-stderr bash -c 'ulimit -f 50; "$TPRUN" sh -c "exec head -c 100000 /dev/zero >big"'
    has_line "$stderr" "tprun: rank 0 on *: killed by signal 25 (File size limit exceeded)"
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
