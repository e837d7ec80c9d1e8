# What cannot be ended, and who does not answer: every wait at the end has an end, and a sentence.
load ../lib/common
setup_file() { build_programs; }
setup() { start_test; }
teardown() {
    pgrep -f "^$BATS_TEST_TMPDIR/other" | xargs -r kill -9
    nothing_left 5
}

# A program of another user's, which who starts it may not signal; and $AS_USER, who may not.
as_user() {
    [ "$(id -u)" = 0 ] || skip "not root, who may be another user"
    local dir=$BATS_TEST_TMPDIR
    findmnt -nT "$dir" -o OPTIONS | grep -q nosuid && skip "no setuid programs in $dir"
    install -m 4755 -o 65533 "$PROGRAMS/stay" other
    install -d -m 700 -o 65534 "$dir/user"
    while [ "$dir" != / ]; do
        chmod o+x "$dir"
        dir=$(dirname "$dir")
    done
    AS_USER=(setpriv --reuid 65534 --regid 65534 --clear-groups env "HOME=$BATS_TEST_TMPDIR/user"
        "XDG_RUNTIME_DIR=$BATS_TEST_TMPDIR/user" "TPRUN_RUNTIME_DIR=$BATS_TEST_TMPDIR/user")
}
CANNOT="tprun: $(hostname): cannot end process * (other, uid 65533)*: still there 3 s after SIGKILL"

# As tests and time limits find what a test has started.
@test "tasks carry the marks by which tests find what is left of them" {
    export BOUNDED_MARK=${BOUNDED_MARK:-}/0.0
    start "$TPRUN" -n 1 sleep 60
    wait_for 5 eval 'marked | xargs -r ps -o args= -p | grep -q "^sleep 60"'
    grep -qz "^BOUNDED_MARK=$BOUNDED_MARK\$" "/proc/$(marked | xargs ps -o pid=,args= -p |
        sed -n 's/^ *\([0-9]*\) sleep 60$/\1/p')/environ"
    kill "$job"
    finish
    equal "$status" 143
}

@test "another user's process that a task left is named, and the status is that of the failure" {
    as_user
    run -3 --separate-stderr "${AS_USER[@]}" timeout -k 1 25 "$TPRUN" --kill-grace 0.2s -n 2 sh -c "
        $PWD/other become >/dev/null 2>&1 & sleep 0.3; exit 3"
    has_line "$stderr" "tprun: rank* on *: exited with status 3"
    has_line "$stderr" "$CANNOT"
    [ -z "$(pgrep -u 65534)" ]
}

@test "another user's process that tasks left after a good end is named, and tprun exits with 1" {
    as_user
    run -1 --separate-stderr "${AS_USER[@]}" timeout -k 1 25 "$TPRUN" --kill-grace 0.2s -n 1 sh -c "
        $PWD/other become >/dev/null 2>&1 & sleep 0.3"
    has_line "$stderr" "$CANNOT"
    [ "$(wc -l <<<"$stderr")" = 1 ]
    [ -z "$(pgrep -u 65534)" ]
}

@test "a task that becomes another user's is named at the time limit" {
    as_user
    run -124 --separate-stderr "${AS_USER[@]}" timeout -k 1 25 "$TPRUN" --kill-grace 0.2s \
        --time-limit 0.5s -n 2 "$PWD/other" become
    has_line "$stderr" "$CANNOT"
    [ -z "$(pgrep -u 65534)" ]
}

# In state D: it waits for a file system that does not answer.
@test "a task that the kernel does not let go is named at the time limit" {
    { [ "$(id -u)" = 0 ] && [ -c /dev/fuse ] && unshare -m true; } || skip "no FUSE here"
    mkdir silent
    # shellcheck disable=SC2016 # for the inner shell
    run -124 --separate-stderr unshare -m sh -c '"$PROGRAMS/silent-fuse" silent >mounted & server=$!
        until [ -s mounted ]; do sleep 0.05; done
        timeout -k 1 25 "$TPRUN" --kill-grace 0.2s --time-limit 0.5s -n 1 cat silent/file
        status=$?
        kill "$server"
        exit "$status"'
    has_line "$stderr" "tprun: $(hostname): cannot end process * (cat, uid 0, in an uninterruptible wait): still there 3 s after SIGKILL"
}

@test "Ctrl-C twice ends tprun, whoever's the tasks are" {
    as_user
    start "${AS_USER[@]}" "$TPRUN" -n 1 "$PWD/other" become
    wait_for 5 lines_are out 1
    kill -INT "$job"
    sleep 0.2
    kill -INT "$job"
    finish
    equal "$status" 130
    has_line "$(cat err)" "$CANNOT"
    [ -z "$(pgrep -u 65534)" ]
}

@test "SIGKILL of tprun leaves no part of it waiting for another user's process" {
    as_user
    start "${AS_USER[@]}" "$TPRUN" -n 1 "$PWD/other" become
    wait_for 5 lines_are out 1
    kill -KILL "$job"
    finish
    wait_for 10 no_process_of 65534
}
no_process_of() { ! pgrep -u "$1"; }

@test "SIGKILL of the manager leaves nobody waiting, and names the process" {
    as_user
    start "${AS_USER[@]}" "$TPRUN" -n 1 "$PWD/other" become
    wait_for 5 lines_are out 1
    kill -KILL "$(pgrep -u 65534 -x tprun-manager)"
    finish
    equal "$status" 1
    has_line "$(cat err)" "tprun: cannot end process * (other, uid 65533)*"
    wait_for 10 no_process_of 65534
}

@test "a manager that was stopped is killed after a signal, and nothing of the program is left" {
    start "$TPRUN" --node-timeout 1s -n 2 "$PROGRAMS/stay" ignore fork
    wait_for 5 lines_are out 2
    kill -STOP "$(pgrep -P "$job" -x tprun-manager)"
    kill -TERM "$job"
    finish
    equal "$status" 1
    has_line "$(cat err)" "tprun: the manager of this run has not answered for 1 s*"
    nothing_left 3
}

hears_signals() { find "/proc/$1/fd" -lname '*signalfd*' | grep -q .; } # PID

@test "a signal ends a tprun that waits for its R, which was to come from a pipe" {
    local file name
    mkfifo R
    exec 5<>R
    for file in R -; do
        for name in TERM HUP; do
            start "$TPRUN" -R "$file" true <&5
            wait_for 5 hears_signals "$job"
            kill "-$name" "$job"
            finish
            equal "$status" $((128 + $(kill -l "$name")))
            has_line "$(cat err)" "tprun: ended by SIG$name before any task was started: *"
        done
    done
    exec 5>&-
    nothing_left 3
}

@test "an agent that was stopped is lost, and nothing of the program is left" {
    start "$TPRUN" --node-timeout 1s -n 2 "$PROGRAMS/stay" ignore fork
    wait_for 5 lines_are out 2
    kill -STOP "$(pgrep -P "$(pgrep -P "$job" -x tprun-manager)" -x tpagent)"
    finish
    equal "$status" 1
    has_line "$(cat err)" "tprun: *: lost: no sign of life for 1 s"
    nothing_left 3
}

@test "a local agent that is killed is lost by that signal, and nothing of the program is left" {
    local name
    for name in KILL SEGV; do
        start "$TPRUN" -n 2 "$PROGRAMS/stay" ignore fork
        wait_for 5 lines_are out 2
        kill -"$name" "$(pgrep -P "$(pgrep -P "$job" -x tprun-manager)" -x tpagent)"
        finish
        equal "$status" 1
        has_line "$(cat err)" "tprun: *: lost: its agent was killed by signal $(kill -l "$name") (*)"
        nothing_left 3
    done
}

@test "what a task that ended well leaves is ended after --kill-grace, where that is less than a second" {
    # 0.9 s less than with a second, however busy the machine is: of some runs in turn the shortest
    local i grace from took
    declare -A least=([100ms]=99999999 [1s]=99999999)
    for ((i = 0; i < 10; i++)); do
        for grace in 100ms 1s; do
            from=${EPOCHREALTIME/./}
            tprun --kill-grace "$grace" -n 1 sh -c 'sleep 100 &'
            took=$((${EPOCHREALTIME/./} - from))
            [ "$took" -ge "${least[$grace]}" ] || least[$grace]=$took
        done
        echo "${least[100ms]} us, and ${least[1s]} us with a second"
        [ $((least[1s] - least[100ms])) -lt 500000 ] || return 0
    done
    return 1
}
