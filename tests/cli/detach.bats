# shellcheck disable=SC2154,SC2030,SC2031 # bats sets output and stderr, common.bash job and status
# Programs that outlive the process that started them, and its terminal.
load ../lib/common
setup() { start_test; }
teardown() { nothing_left 10; }

TPCTL() { timeout --foreground -k 5 "${LIMIT:-60}" "$(dirname "$TPRUN")/tpctl" "$@"; }
is_over() { TPCTL list -a | grep -q "^ *$1 *complete"; }
# A task that lives until `go` is there.
WAITS='until [ -e go ]; do sleep 0.05; done'

@test "--detach prints the id alone once the tasks run, and returns" {
    run -0 --separate-stderr tprun -d -n 2 sh -c ": >started.\$TPRUN_RANK; $WAITS; echo done; exit 3"
    equal "$output" 1
    equal "$stderr" ""
    wait_for 5 eval '[ -e started.0 ] && [ -e started.1 ]'
    TPCTL list | grep -q '^ *1 *running'
    touch go
    run -3 TPCTL wait --status 1
}

@test "errors of a start are printed, and the exit status is theirs" {
    run -127 --separate-stderr tprun -d ./nosuch
    equal "$output" ""
    [[ "$stderr" == "tprun: rank 0 on "*"cannot run ./nosuch"* ]]
    run -1 --separate-stderr tprun -d --hosts nosuch.invalid true
    equal "$output" ""
    [[ "$stderr" == *nosuch.invalid* ]]
    run -2 tprun -d --dry-run true
    equal "$(TPCTL list)" ""
}

@test "a task that fails after the start is no error of the start" {
    run -0 --separate-stderr tprun -d sh -c "$WAITS; exit 5"
    equal "$output$stderr" 1
    touch go
    run -5 TPCTL wait --status 1
}

@test "it has a session of its own, no terminal, no descriptor of the caller, and an empty stdin" {
    exec 7>held
    run -0 tprun -d sh -c "cat; readlink /proc/self/fd/0 >stdin.is; $WAITS"
    exec 7>&-
    local pid session
    for pid in $(marked); do
        [ "$(cat "/proc/$pid/comm")" = tprun ] || continue
        session=$(ps -o sid= -p "$pid")
        [ "$session" -eq "$pid" ]
        [ "$(ps -o tty= -p "$pid")" = "?" ]
        ! find "/proc/$pid/fd" -lname "*/held" | grep .
        equal "$(readlink "/proc/$pid/fd/0" "/proc/$pid/fd/1" "/proc/$pid/fd/2" | sort -u)" /dev/null
    done
    [ -n "$session" ]
    touch go
    TPCTL wait 1
}

@test "what reads the output of tprun --detach sees its end at once" {
    LIMIT=5 run -0 sh -c '"$TPRUN" -d sleep 0.5 | cat'
    equal "$output" 1
    TPCTL wait 1
}

@test "--input FILE is read, also from the directory where it was started" {
    echo hello >words
    run -0 tprun -d --input words cat
    TPCTL wait 1
    equal "$(TPCTL logs 1)" hello
}

@test "SIGHUP and the end of the terminal do not hurt a detached program" {
    printf '"$TPRUN" -d sh -c "%s; echo survived" >id\n' "$WAITS" >session
    run -0 timeout 20 script -qec "sh session" /dev/null
    local pid
    for pid in $(marked); do
        [ "$(cat "/proc/$pid/comm")" != tprun ] || kill -HUP "$pid"
    done
    sleep 0.2
    touch go
    run -0 TPCTL wait --status "$(cat id)"
    equal "$(TPCTL logs "$(cat id)")" survived
}

@test "-o files of a detached program are written, and are not saved twice" {
    run -0 tprun -d -o 'out.%p.%r' sh -c 'echo to the file; echo to stderr >&2'
    TPCTL wait 1
    equal "$(cat out.1.0)" "to the file"
    run -0 --separate-stderr TPCTL logs 1
    equal "$output" ""
    equal "$stderr" "to stderr"
}

@test "a detached program whose front end is killed ends, and is told to be lost or ended" {
    run -0 tprun -d sleep 60
    local pid
    for pid in $(marked); do
        [ "$(cat "/proc/$pid/comm")" != tprun ] || kill -KILL "$pid"
    done
    wait_for 10 is_over 1
}

@test "--on-disconnect=continue: output, exit status and stdin are those of an attached run" {
    local how
    for how in terminate continue; do
        run -5 --separate-stderr tprun --on-disconnect="$how" -n 2 -l sh -c '
            if [ "$TPRUN_RANK" = 0 ]; then cat; echo to stderr >&2; exit 5; fi
            sleep 30' <<<"typed"
        equal "$output" "0: typed"
        equal "$stderr" "0: to stderr
tprun: rank 0 on $(hostname): exited with status 5
tprun: 1 other task was ended by tprun then"
    done
}

@test "--on-disconnect=continue: all output is there, and the cores are free when tprun returns" {
    run -0 tprun --on-disconnect=continue seq 200000
    equal "$(md5sum <<<"$output")" "$(seq 200000 | md5sum)"
    run -0 tprun --no-wait -n "$(nproc)" true
}

@test "--on-disconnect=continue: who reads slowly gets all, though the program is over and its output moved" {
    local keep
    for keep in '' 0; do
        rm -f go
        export TPRUN_KEEP=$keep
        start "$TPRUN" --on-disconnect=continue sh -c "echo ready; $WAITS; seq 5000000; exit 4"
        wait_for 10 lines_are out 1
        kill -STOP "$job"
        touch go
        wait_for 20 eval '[ "$(marked | wc -l)" = 1 ]' # nobody but the one at the terminal
        kill -CONT "$job"
        finish
        equal "$(cat err)" "tprun: rank 0 on $(hostname): exited with status 4"
        [ "$status" = 4 ]
        equal "$(md5sum <out)" "$({ echo ready; seq 5000000; } | md5sum)"
    done
}

@test "--on-disconnect=continue: when the process at the terminal is killed the program goes on" {
    start "$TPRUN" --on-disconnect=continue sh -c "echo before; $WAITS; echo after; exit 4"
    wait_for 5 lines_are out 1
    kill -KILL "$job"
    finish
    TPCTL list | grep -q '^ *1 *running'
    touch go
    run -4 TPCTL wait --status 1
    equal "$(TPCTL logs 1)" "before
after"
}

@test "--on-disconnect=continue: that the manager was killed is told at the terminal" {
    local pid
    start "$TPRUN" --on-disconnect=continue sh -c 'echo before; exec sleep 60'
    wait_for 5 lines_are out 1
    for pid in $(marked); do
        [ "$(cat "/proc/$pid/comm")" != tprun-manager ] || kill -KILL "$pid"
    done
    finish
    [ "$status" = 1 ]
    equal "$(cat out)" before
    has_line "$(cat err)" "tprun: the manager of this run is gone *"
}

@test "--on-disconnect=continue: signals reach the tasks" {
    start "$TPRUN" --on-disconnect=continue sh -c 'trap "echo usr1; exit 6" USR1; echo ready
        while :; do sleep 0.05; done'
    wait_for 5 lines_are out 1
    kill -USR1 "$job"
    finish
    [ "$status" = 6 ]
    equal "$(cat out)" "ready
usr1"
    start "$TPRUN" --on-disconnect=continue sh -c 'echo ready; exec sleep 60'
    wait_for 5 lines_are out 1
    kill -TERM "$job"
    finish
    [ "$status" = 143 ]
}

# keys KEYS: typed at tprun once it has said "ready".
keys() {
    mkfifo answers
    # shellcheck disable=SC2016
    start sh -c 'timeout 20 script -qefc "exec sh session" typescript <answers'
    exec 8>answers
    wait_for 10 in_typescript ready 1
    printf '%b' "$1" >&8
}

@test "--on-disconnect=continue: Ctrl-C Ctrl-Z leaves the program to itself" {
    printf 'exec "$TPRUN" --on-disconnect=continue sh -c "echo ready; %s; echo after"\n' "$WAITS" >session
    keys '\003\032'
    finish
    exec 8>&-
    [ "$status" = 0 ]
    in_typescript 'program 1 goes on: "tpctl attach 1" shows it' 1
    touch go
    run -0 TPCTL wait --status 1
    equal "$(TPCTL logs 1)" "ready
after"
}

@test "--on-disconnect=continue: Ctrl-C alone is a signal, and twice the end" {
    printf 'exec "$TPRUN" --on-disconnect=continue sh -c "echo ready; exec sleep 60"\n' >session
    keys '\003'
    finish
    exec 8>&-
    [ "$status" = 130 ]
    rm -f answers typescript
    printf 'exec "$TPRUN" --on-disconnect=continue sh -c "trap : INT; echo ready; while :; do sleep 0.1; done"\n' >session
    keys '\003'
    sleep 0.3
    printf '\003' >&8
    finish
    exec 8>&-
    [ "$status" = 130 ]
}

@test "--on-disconnect=continue: what reads stdin finds its end when nobody types any more" {
    mkfifo typed
    start sh -c 'exec "$TPRUN" --on-disconnect=continue sh -c "echo ready; cat; echo end" <typed'
    exec 8>typed
    wait_for 5 lines_are out 1
    kill -KILL "$job"
    finish
    run -0 TPCTL wait --status 1
    exec 8>&-
    equal "$(TPCTL logs 1)" "ready
end"
}

@test "a program that cannot be started in the background is told of at the terminal" {
    { [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; } || skip "needs to be another user"
    local user=54321 n
    for n in 1 2; do # one process: nothing in the background; two: no manager there
        run -1 --separate-stderr env HOME=/ TPRUN_RUNTIME_DIR= setpriv --reuid "$user" --regid "$user" --clear-groups \
            prlimit --nproc="$n" sh -c 'cd / && exec "$0" -d true' "$TPRUN"
        equal "$output" ""
        echo "$stderr"
        [[ "$stderr" == "tprun: cannot start "*": Resource temporarily unavailable"* ]]
    done
    has_line "$stderr" 'tprun: cannot start the manager of this run: * ("ulimit -u" limits processes)'
}
