# shellcheck disable=SC2154,SC2030,SC2031,SC2016 # bats sets output and stderr; scripts are quoted
# --prolog and --epilog: executables of the user's on each node, before and after; on this machine.
load ../lib/common
load ../lib/tpctl
setup_file() { build_programs; }
setup() {
    start_test
    unset TPRUN_OPTIONS
    mkdir bin tmp
    ln -s "$TPRUN" bin/tpbatch
    export TMPDIR=$PWD/tmp PATH=${TPRUN%/*}:$PATH HOST
    HOST=$(uname -n)
    hook prolog <<<'echo "prolog $TPRUN_HOOK" >>"$LOG"'
    hook epilog <<<'echo "epilog $TPRUN_HOOK" >>"$LOG"'
    export LOG=$PWD/log
    : >log
}
teardown() {
    nothing_left 10
    [ -z "$(ls -A tmp)" ] || { find tmp; return 1; }
}
hook() { { echo '#!/bin/sh'; cat; } >"$1" && chmod +x "$1"; } # NAME: the commands come on stdin
run_tprun() { run "$1" --separate-stderr timeout --foreground -k 5 "${LIMIT:-60}" "$TPRUN" "${@:2}"; }
tpbatch() { timeout --foreground -k 5 "${LIMIT:-60}" bin/tpbatch "$@"; }
log_is() { equal "$(cat log)" "$(printf '%s\n' "$@")"; }

@test "the prolog is run before the tasks, and the epilog after them, once" {
    run_tprun -0 --prolog prolog --epilog ./epilog -n 1 sh -c 'echo task >>"$LOG"; sleep 0.2; echo task >>"$LOG"'
    equal "$output$stderr" ""
    log_is 'prolog prolog' task task 'epilog epilog'
    run_tprun -0 --epilog epilog -n 1 true
    run_tprun -0 --prolog prolog -n 1 true
    log_is 'prolog prolog' task task 'epilog epilog' 'epilog epilog' 'prolog prolog'
}

@test "a hook knows its program, node and resources, and has the caller's environment and directory" {
    hook prolog <<<'env >seen; pwd >where; cat >stdin; ls -l /proc/self/fd >fds'
    MINE=yes run_tprun -0 --stage epilog --prolog prolog -n 1 sh -c 'echo "$TPRUN_PROGRAM $TPRUN_INSTANCE $TPRUN_STAGE_DIR"'
    grep -qx MINE=yes seen
    equal "$output" "$(sed -n 's/^TPRUN_PROGRAM=//p' seen) $(sed -n 's/^TPRUN_INSTANCE=//p' seen) $(sed -n 's/^TPRUN_STAGE_DIR=//p' seen)"
    grep -qx "TPRUN_NODE=$HOST" seen
    grep -qx TPRUN_NODE_ID=0 seen
    grep -qx TPRUN_NNODES=1 seen
    sed -n 's/^TPRUN_NODE_R=//p' seen | tpres check -
    equal "$(sed -n 's/^TPRUN_NODE_R=//p' seen | jq -r .execution.nodelist[0])" "$HOST"
    equal "$(cat where)" "$PWD"
    [ ! -s stdin ]
    ! grep -q socket fds
}

@test "where the prolog fails no task starts: host, status and last lines are said, and the epilog is run" {
    hook prolog <<<'for i in 1 2 3 4 5 6 7; do echo "line $i"; done >&2; exit 3'
    run_tprun -1 --prolog prolog --epilog epilog -n 1 touch ran
    equal "$stderr" "tprun: $HOST: the prolog failed: it ended with exit status 3; it wrote:
tprun:   line 3
tprun:   line 4
tprun:   line 5
tprun:   line 6
tprun:   line 7"
    [ ! -e ran ]
    log_is 'epilog epilog'
    hook prolog <<<'kill -SEGV $$'
    run_tprun -1 --prolog prolog -n 1 touch ran
    equal "$stderr" "tprun: $HOST: the prolog failed: it was killed by signal 11 (Segmentation fault)"
    printf '#!/no/such/shell\n' >prolog
    run_tprun -1 --prolog prolog -n 1 touch ran
    has_line "$stderr" "tprun: $HOST: the prolog failed: cannot run *"
    [ ! -e ran ]
}

@test "what is no executable file is refused before anything starts" {
    : >plain
    run_tprun -1 --prolog plain touch ran
    equal "$stderr" "tprun: --prolog $PWD/plain: is not executable: chmod +x makes it so"
    run_tprun -1 --epilog nowhere touch ran
    equal "$stderr" "tprun: --epilog $PWD/nowhere: cannot read it: No such file or directory"
    run_tprun -1 --epilog . touch ran
    has_line "$stderr" "tprun: --epilog $PWD*: is a directory*"
    [ ! -e ran ]
}

@test "a hook that hangs is killed at its time limit, with all that it started" {
    hook prolog <<<'trap "" TERM; (setsid sleep 100 &); echo waiting; sleep 100'
    run_tprun -1 --prolog prolog --epilog epilog --hook-timeout 0.5s -n 1 touch ran
    has_line "$stderr" "tprun: $HOST: the prolog failed: it did not end within 0.5* s: killed, with all that it started; it wrote:"
    [ ! -e ran ]
    log_is 'epilog epilog'
    nothing_left
}

@test "an epilog that fails is said, and the exit status stays the program's" {
    hook epilog <<<'echo no; exit 5'
    run_tprun -7 --epilog epilog -n 1 sh -c 'exit 7'
    has_line "$stderr" "tprun: $HOST: the epilog failed: it ended with exit status 5; it wrote:"
    has_line "$stderr" "tprun: rank 0 on $HOST: exited with status 7"
    run_tprun -0 --epilog epilog -n 1 true
}

@test "the epilog is run when the program is ended, too" {
    start "$TPRUN" --epilog epilog -n 1 sh -c 'echo ready; sleep 100'
    wait_for 20 lines_are out 1
    kill -TERM "$job"
    finish
    [ "$status" != 0 ]
    log_is 'epilog epilog'
    run_tprun -124 --epilog epilog --time-limit 0.3s -n 1 sleep 100
    log_is 'epilog epilog' 'epilog epilog'
}

@test "the epilog has its time also where the tasks were ended, however short theirs was" {
    hook slow <<<'sleep 1; echo done >>"$LOG"'
    run_tprun -3 --epilog slow --kill-grace 0.2s -n 1 sh -c 'exit 3'
    equal "$stderr" "tprun: rank 0 on $HOST: exited with status 3"
    log_is done
}

@test "Ctrl-C while a prolog runs ends it, and the epilog is run" {
    hook prolog <<<': >begun; sleep 100'
    start "$TPRUN" --prolog prolog --epilog epilog -n 1 touch ran
    wait_for 20 test -e begun
    kill -INT "$job"
    finish
    equal "$status" 130
    has_line "$(cat err)" "tprun: ended by SIGINT* while the prolog on $HOST went on"
    [ ! -e ran ]
    log_is 'epilog epilog'
}

@test "whoever is killed, the epilog is run once, as long as a process of tprun is left there" {
    local round victims
    for round in 1 2 3 4; do
        : >log
        start "$TPRUN" --prolog prolog --epilog epilog -n 1 sh -c 'echo ready; sleep 100'
        wait_for 20 lines_are out 1
        local manager agent
        manager=$(pgrep -P "$job")
        agent=$(pgrep -P "$manager")
        case $round in
            1) victims=$job ;;
            2) victims=$manager ;;
            3) victims=$agent ;;
            4) victims="$job $manager" ;;
        esac
        # shellcheck disable=SC2086
        kill -9 $victims
        finish
        wait_for 10 lines_are log 2
        nothing_left 10
        log_is 'prolog prolog' 'epilog epilog' || { echo "round $round"; return 1; }
    done
}

@test "an epilog that is owed is run though another program starts meanwhile" {
    local agent
    start "$TPRUN" --prolog prolog --epilog epilog -n 1 sh -c 'trap "" TERM; echo ready; sleep 100; sleep 100'
    wait_for 20 lines_are out 1
    agent=$(pgrep -P "$(pgrep -P "$job")")
    kill -9 "$agent" # its task has a second to end
    run_tprun -0 --stage epilog -n 1 true
    finish
    nothing_left 10
    log_is 'prolog prolog' 'epilog epilog'
}

@test "tpctl info tells how hooks have ended, and what they wrote" {
    hook epilog <<<'echo "all cleared"; exit 4'
    run_tprun -0 --prolog prolog --epilog epilog -n 1 true
    run -0 tpctl info 1
    has_line "$output" "prolog     $HOST: done (* s)"
    has_line "$output" "epilog     $HOST: it ended with exit status 4 (* s)"
    has_line "$output" "             all cleared"
    run -0 tpctl info 1 --format=json
    equal "$(jq -c '.hooks | map([.hook, .host, .fault, .output])' <<<"$output")" \
        "[[\"prolog\",\"$HOST\",null,null],[\"epilog\",\"$HOST\",\"it ended with exit status 4\",\"all cleared\\n\"]]"
}

@test "an instance has its hooks once, around all programs in it" {
    printf '#!/bin/sh\n#TPRUN: --prolog ./prolog --epilog ./epilog\necho script >>"$LOG"\ntprun -n 1 sh -c "echo task >>$LOG"\n%s\n' \
        'tprun -n 1 sh -c "echo task >>$LOG; : >$LOG.up; sleep 100" & until [ -e "$LOG.up" ]; do sleep 0.05; done' >s
    chmod +x s
    run -0 --separate-stderr tpbatch ./s
    log_is 'prolog prolog' script task task 'epilog epilog'
}

@test "a program in an instance can have hooks of its own" {
    printf '#!/bin/sh\ntprun --prolog prolog --epilog epilog -n 1 sh -c "echo task >>$LOG"\n' >s
    chmod +x s
    run -0 --separate-stderr tpbatch ./s
    log_is 'prolog prolog' task 'epilog epilog'
}

@test "an instance waits for the epilogs of the programs in it, and for its own after them" {
    local kind jobs=()
    hook slow <<<'echo begun >>"$LOG"; sleep "$SECONDS_OF_EPILOG"; echo done >>"$LOG"'
    printf '#!/bin/sh\ntprun --epilog slow -n 1 sh -c ": >$LOG.up; exec sleep 100" &\n%s\n' \
        'until [ -e "$LOG.up" ]; do sleep 0.05; done' >s
    chmod +x s
    SECONDS_OF_EPILOG=7 LOG=$PWD/without tpbatch --overlap ./s 2>without.err 3>&- &
    jobs+=($!)
    SECONDS_OF_EPILOG=12 LOG=$PWD/with tpbatch --overlap --epilog epilog ./s 2>with.err 3>&- &
    jobs+=($!)
    for job in "${jobs[@]}"; do wait "$job" || { cat ./*.err; return 1; }; done
    equal "$(cat without)" "$(printf 'begun\ndone')"
    equal "$(cat with)" "$(printf 'begun\ndone\nepilog epilog')"
}

@test "an instance answers while it waits for the epilogs of the programs in it" {
    local id
    hook slow <<<'echo begun >>"$LOG"; until [ -e "$LOG.go" ]; do sleep 0.05; done'
    printf '#!/bin/sh\ntprun --epilog slow -n 1 sh -c ": >$LOG.up; exec sleep 100" &\n%s\n' \
        'until [ -e "$LOG.up" ]; do sleep 0.05; done; kill -9 $!' >s
    chmod +x s
    start bin/tpbatch ./s
    wait_for 20 lines_are log 1
    id=$(tpctl list | awk '$NF == "./s" { print $1 }')
    for _ in 1 2 3; do
        LIMIT=5 run_tpctl -4 terminate "$id" || { : >log.go; return 1; }
        equal "$stderr" "tpctl: program $id: it is complete"
        sleep 0.4
    done
    : >log.go
    finish
    equal "$status" 0
}

@test "what a prolog leaves running is killed where it writes, and goes on where its output is redirected" {
    hook prolog <<<'(until [ -e go ]; do sleep 0.05; done; echo text; echo survived >>"$LOG") &
(until [ -e go ]; do sleep 0.05; done; echo text; echo redirected >>"$LOG") >/dev/null 2>&1 &'
    run_tprun -0 --prolog prolog -n 1 sh -c ': >go; until [ -s "$LOG" ]; do sleep 0.05; done; sleep 0.3'
    log_is redirected
}
