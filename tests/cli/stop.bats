# Programs that are told to end: what tasks hear, how long they have for it, and what is said.
load ../lib/common
setup_file() { build_programs; }
setup() { start_test; }
teardown() { nothing_left; }

# ---- every process hears it once ----

HEARERS=8 # tasks; beside each there are a process of its group, one of an own group, of an own session
# all_heard NUMBER...: in each file of the hearers, these signals and no others, in any order.
all_heard() {
    local file want files=0
    want=$(printf '%s\n' "$@" | sort)
    for file in heard.*; do
        files=$((files + 1))
        equal "$(sort "$file")" "$want" || { echo "$file"; return 1; }
    done
    equal "$files" $((4 * HEARERS))
}
# shellcheck disable=SC2016 # for the tasks' shell
HEAR='exec "$PROGRAMS/heard" "heard.$TPRUN_RANK"'
RUN=("$TPRUN" -n "$HEARERS")
hear_then() { # COMMAND...: with tasks that count what they hear; once it is done they are killed
    start "${RUN[@]}" sh -c "$HEAR"
    wait_for 10 lines_are out $HEARERS
    "$@"
    wait_for 5 all_heard "${WANT[@]}"
    sleep 0.3
    all_heard "${WANT[@]}"
    kill -KILL "$job"
    finish
    nothing_left 5
}
send() { kill -"$1" "$job"; }
# Until a time limit that comes when all N tasks have said "ready": a busy machine gets more time.
ready_at_limit() { # N SECONDS COMMAND...: sets $status, $output and $stderr
    local n=$1 seconds
    for seconds in "$2" $((${2%.*} + 10)) $((${2%.*} + 40)); do
        rm -f heard.*
        TPRUN_OPTIONS="$TPRUN_OPTIONS --time-limit ${seconds}s" LIMIT=$((${seconds%.*} + 60)) \
            run --separate-stderr "${@:3}"
        [ "$(grep -c '^ready$' <<<"$output")" -lt "$n" ] || return 0
    done
    echo "not ready within $seconds s"
    return 1
}

@test "a signal given to tprun is heard once by tasks and by all that they forked" {
    WANT=(10)
    hear_then send USR1
}

@test "SIGTERM given to tprun is not followed by one of tprun's own" {
    start "$TPRUN" -n $HEARERS sh -c "$HEAR exit 1"
    wait_for 10 lines_are out $HEARERS
    send TERM
    finish
    equal "$status" 1
    nothing_left 5
    all_heard 15
}

@test "Ctrl-C is heard once by tasks and by all that they forked" {
    WANT=(02)
    hear_then send INT
}

@test "SIGTERM to all processes of tprun itself, as of a batch system, ends none of them" {
    start "$TPRUN" -n $HEARERS sh -c "$HEAR exit 1"
    wait_for 10 lines_are out $HEARERS
    local manager
    manager=$(pgrep -P "$job" -x tprun-manager)
    kill -TERM "$job" "$manager" "$(pgrep -P "$manager" -x tpagent)"
    finish
    equal "$status" 1
    nothing_left 6
    all_heard 15
    has_line "$(cat err)" "tprun: ranks 0-$((HEARERS - 1)) on *: exited with status 1"
}

@test "at a time limit each process hears one SIGTERM" {
    ready_at_limit $HEARERS 1.5 tprun --kill-grace 0.5s -n $HEARERS sh -c "$HEAR"
    equal "$status" 124
    all_heard 15
}

@test "each process hears one SIGTERM when another rank fails" {
    run -3 tprun --kill-grace 0.5s -n $HEARERS sh -c "$HEAR" : -n 1 sh -c '
        until [ "$(ls heard.*.task | wc -l)" = '$HEARERS' ]; do sleep 0.1; done; exit 3'
    all_heard 15
}

@test "--signal is heard once, and then the SIGTERM of the limit" {
    ready_at_limit $HEARERS 2 tprun --signal USR1@1s --kill-grace 0.5s -n $HEARERS sh -c "$HEAR"
    equal "$status" 124
    all_heard 10 15
}

@test "SIGTERM by --signal is not sent again at the limit" {
    ready_at_limit $HEARERS 2 tprun --signal TERM@1s --kill-grace 0.5s -n $HEARERS sh -c "$HEAR"
    equal "$status" 124
    all_heard 15
}

@test "without a cgroup each process hears one SIGTERM, too" {
    [ "$(id -u)" = 0 ] || skip "not root, who may be another user"
    mkdir -m 777 elsewhere
    as_user
    cd elsewhere
    ready_at_limit $HEARERS 1.5 "${AS_USER[@]}" timeout 60 "$TPRUN" -v --kill-grace 0.5s -n $HEARERS sh -c "$HEAR"
    equal "$status" 124
    has_line "$stderr" "tprun: *: no cgroup: *"
    all_heard 15
}

# ---- a tprun that a task runs ----

inner() { HEARERS=2 RUN=("$TPRUN" -n 1 "$TPRUN" -n 2); }
below() { # PID: all processes below it
    local pid
    for pid in $(pgrep -P "$1"); do
        echo "$pid"
        below "$pid"
    done
}
send_and_survive() { # SIGNAL: no process ends
    local before
    before=$(below "$job" | sort)
    send "$1"
    wait_for 5 all_heard "${WANT[@]}"
    equal "$(below "$job" | sort)" "$before"
}

@test "tasks of a task's tprun hear each signal once, and no process of that ends by it" {
    local name
    inner
    for name in TERM INT HUP QUIT USR1 USR2; do
        echo "$name"
        rm -f heard.*
        WANT=("$(printf %02d "$(kill -l $name)")")
        hear_then send_and_survive $name
    done
}

@test "at a time limit and its warning tasks of a task's tprun hear each signal once" {
    inner
    run -124 tprun --time-limit 2s --signal USR1@1s --kill-grace 0.5s -n 1 "$TPRUN" -n 2 sh -c "$HEAR"
    all_heard 10 15
}

@test "each task of a task's tprun hears one SIGTERM when another rank fails" {
    inner
    run -3 tprun --kill-grace 0.5s -n 1 "$TPRUN" -n 2 sh -c "$HEAR" : -n 1 sh -c '
        until [ "$(ls heard.*.task | wc -l)" = 2 ]; do sleep 0.1; done; exit 3'
    all_heard 15
}

is_state() { [ "$(ps -o stat= -p "$1" | cut -c1)" = "$2" ]; } # PID STATE
@test "Ctrl-Z stops tasks of a task's tprun and no manager, and they go on with it" {
    local task manager
    start "$TPRUN" -n 1 "$TPRUN" -n 1 sh -c 'echo $$; while :; do sleep 0.05; done'
    wait_for 10 lines_are out 1
    task=$(cat out)
    send TSTP
    wait_for 5 is_state "$task" T
    for manager in $(below "$job"); do
        [ "$(cat "/proc/$manager/comm")" != tprun-manager ] || is_state "$manager" S
    done
    send CONT
    wait_for 5 eval "! is_state $task T"
    kill -KILL "$job"
    finish
}

# Another user's environment: a runtime directory, and leave to reach this one.
as_user() {
    local dir=$BATS_TEST_TMPDIR
    mkdir -m 700 "$dir/user"
    chown 65534 "$dir/user"
    while [ "$dir" != / ]; do
        [ "$(stat -c %a "$dir" | grep -c '[1357]$')" = 1 ] || chmod o+x "$dir"
        dir=$(dirname "$dir")
    done
    AS_USER=(setpriv --reuid 65534 --regid 65534 --clear-groups env "XDG_RUNTIME_DIR=$BATS_TEST_TMPDIR/user"
        "TPRUN_RUNTIME_DIR=$BATS_TEST_TMPDIR/user" "HOME=$BATS_TEST_TMPDIR/user")
}

# ---- they have their time ----

# Tasks that save for 0.2 s and 0.4 s more for each rank, when they hear SIGNAL, and exit with STATUS.
# shellcheck disable=SC2016
SAVES='save() { sleep "$((2 + 4 * TPRUN_RANK))e-1"; echo saved; exit $2; }; trap "save $*" $1
    echo ready; while :; do sleep 0.05; done'
saved() { grep -c saved out; }

@test "after SIGTERM a task that exits with 143 does not end those that are saving" {
    start "$TPRUN" -n 8 sh -c "$SAVES" sh TERM 143
    wait_for 10 lines_are out 8
    kill -TERM "$job"
    finish
    equal "$status" 143
    equal "$(saved)" 8
    has_line "$(cat err)" "tprun: waiting up to 30 s for [1-7] tasks to end after SIGTERM"
}

@test "after SIGTERM tasks have --kill-grace from the first exit on" {
    start "$TPRUN" --kill-grace 2s -n 3 sh -c '
        case $TPRUN_RANK in
        0) trap "sleep 1.2; exit 143" TERM;;
        1) trap "sleep 2.2; echo saved; exit 143" TERM;;
        2) trap "" TERM;;
        esac
        echo ready; while :; do sleep 0.05; done'
    wait_for 10 lines_are out 3
    kill -TERM "$job"
    finish
    equal "$status" 143
    equal "$(saved)" 1
    has_line "$(cat err)" "tprun: 1 task did not end within 2 s of the first exit after SIGTERM: killed"
}

@test "a first exit with 0 after SIGTERM starts the time of the others, too" {
    start "$TPRUN" --kill-grace 0.5s -n 2 sh -c '
        [ $TPRUN_RANK = 0 ] && trap "exit 0" TERM || trap "" TERM
        echo ready; while :; do sleep 0.05; done'
    wait_for 10 lines_are out 2
    kill -TERM "$job"
    finish
    equal "$status" 143
    has_line "$(cat err)" "tprun: 1 task did not end within 0.5 s of the first exit after SIGTERM: killed"
}

# Rank 0 ends while the others are being started, which go on for 30 s.
@test "a first exit before all tasks are started starts the time of the others, too" {
    SECONDS=0
    start sh -c 'top=$$ exec "$TPRUN" "$@"' sh --kill-grace 0.5s --oversubscribe -n 1 sh -c '
        trap "exit 0" TERM
        kill -TERM "$top"
        while :; do sleep 0.05; done' : -n 300 sh -c 'trap "" TERM; exec sleep 30'
    finish
    equal "$status" 143
    within 10 "$SECONDS"
    has_line "$(cat err)" "tprun: * tasks did not end within 0.5 s of the first exit after SIGTERM: killed"
}

@test "after Ctrl-C a Python program that exits with 130 does not end the others" {
    command -v python3 >/dev/null || skip "no python3 here"
    cat >save.py <<'END'
import os, sys, time
try:
    print("ready", flush=True)
    while True: time.sleep(0.05)
except KeyboardInterrupt:
    time.sleep(0.2 + 0.4 * int(os.environ["TPRUN_RANK"]))
    print("saved", flush=True)
    sys.exit(130)
END
    start "$TPRUN" -n 6 python3 save.py
    wait_for 20 lines_are out 6
    kill -INT "$job"
    finish
    equal "$status" 130
    equal "$(saved)" 6
}

@test "at a time limit tasks have 30 s, which is said" {
    ready_at_limit 4 0.5 tprun -n 4 sh -c "$SAVES" sh TERM 143
    equal "$status" 124
    equal "$(grep -c saved <<<"$output")" 4
    has_line "$stderr" "tprun: time limit reached: waiting up to 30 s for * tasks to end after SIGTERM"
}

@test "after --signal a task that exits does not end those that are saving" {
    ready_at_limit 4 60 tprun --signal USR1@59s -n 4 sh -c "$SAVES" sh USR1 1
    equal "$status" 1
    equal "$(grep -c saved <<<"$output")" 4
}

@test "a failure without a signal ends the others as before" {
    run -3 --separate-stderr tprun --kill-grace 1s -n 2 sh -c '[ $TPRUN_RANK = 0 ] || sleep 30; exit 3'
    has_line "$stderr" "tprun: 1 other task was ended by tprun then"
}

# ---- what is said ----

@test "SIGTERM given to tprun is said once, with who sent it" {
    start "$TPRUN" -n 3 "$PROGRAMS/stay"
    wait_for 5 lines_are out 3
    kill -TERM "$job"
    finish
    equal "$status" 143
    equal "$(cat err)" "tprun: told to end by $(cat /proc/$$/comm) (pid $BASHPID, uid $(id -u)): sent SIGTERM to 3 tasks; SIGTERM again within 1 s ends them"
}

@test "an end that is not by the signal is reported, and the status is that of the first end" {
    start "$TPRUN" -n 3 sh -c 'trap "sleep $TPRUN_RANK; [ $TPRUN_RANK != 2 ] && exit 143; exit 7" TERM
        echo ready; while :; do sleep 0.05; done'
    wait_for 5 lines_are out 3
    kill -TERM "$job"
    finish
    equal "$status" 143
    has_line "$(cat err)" "tprun: rank 2 on *: exited with status 7"
    [ "$(grep -c 'status 143' err)" = 0 ]
}

@test "the message counts the tasks that still run" {
    start "$TPRUN" -n 4 sh -c 'echo ready; [ $TPRUN_RANK = 1 ] || exec sleep 30'
    wait_for 5 lines_are out 4
    sleep 1
    kill -INT "$job"
    finish
    equal "$status" 130
    has_line "$(cat err)" "tprun: *sent SIGINT to 3 tasks; Ctrl-C again within 1 s ends them"
}

@test "Ctrl-C on a terminal says what it did and what a second one does" {
    printf '"$TPRUN" -n 2 "$PROGRAMS/stay" fork; echo "status $?"\n' >session
    run timeout 60 env --default-signal script -qefc "bash session" typescript < <(wait_for 20 in_typescript ready 2; printf '\003'
        wait_for 20 in_typescript '^status' 1)
    has_line "$(tr -d '\r' <<<"$output")" "tprun: sent SIGINT to 2 tasks; Ctrl-C again within 1 s ends them"
}

@test "Ctrl-C while hosts are being reached says what went on" {
    printf '#!/bin/sh\n: >reaching\nexec sleep 60\n' >ssh
    chmod +x ssh
    start "$TPRUN" --hosts far -n 1 --ssh "$PWD/ssh" true
    wait_for 5 [ -e reaching ]
    kill -INT "$job"
    finish
    equal "$status" 130
    has_line "$(cat err)" "tprun: ended by SIGINT from * (pid *, uid *) while connecting to far (0 of 1 host has answered)"
}

@test "Ctrl-C in a queue says what it waits for" {
    need_cores 2
    unset TPRUN_OPTIONS
    start "$TPRUN" -n "$(nproc)" "$PROGRAMS/stay"
    wait_for 5 lines_are out 1
    local first=$job
    env --default-signal "$TPRUN" -v -n 1 true 2>waits 3>&- &
    local second=$!
    wait_for 10 grep -q '^tprun: in line for' waits
    kill -INT "$second"
    status=0
    wait "$second" || status=$?
    kill -TERM "$first"
    wait "$first" || true
    equal "$status" 130
    has_line "$(cat waits)" "tprun: ended by SIGINT from * while waiting in line for *: program * holds *"
}

# ---- --signal ----

@test "--signal without a limit is refused" {
    run -2 --separate-stderr tprun --signal USR1@10s true
    has_line "$stderr" "tprun: --signal USR1@10s: there is no limit to warn of: --time-limit sets one"
}

@test "--signal that is not before the limit is refused" {
    run -2 --separate-stderr tprun --time-limit 10s --signal USR1@10s true
    has_line "$stderr" "tprun: --signal USR1@10s: must be less than --time-limit 10s"
}

@test "a malformed --signal is refused in a sentence" {
    local text
    for text in USR1 USR1@ @5s NOPE@5s 99@5s USR1@x USR1@0 USR1@inf STOP@1s; do
        run -2 --separate-stderr tprun --time-limit 10s --signal "$text" true
        has_line "$stderr" "tprun: --signal: *" || { echo "$text"; return 1; }
    done
}

@test "--signal warns of the end of an R that expires, and says so" {
    local seconds
    for seconds in 5 15 40; do # a busy machine gets more time
        "$(dirname "$TPRUN")/tpres" discover | jq -c ".execution.expiration = $(date +%s) + $seconds" >R.json
        run --separate-stderr tprun -R R.json --signal SIGUSR2@3s -n 1 sh -c 'trap "exit 7" USR2
            echo ready; while :; do sleep 0.05; done'
        [ "$output" != ready ] || break
    done
    equal "$status" 7
    has_line "$stderr" "tprun: R expires in 3s: sent SIGUSR2 to 1 task"
}

@test "a spec has --signal and the time after a signal" {
    tprun --print-spec --time-limit 1m --signal 10@5s --kill-grace 2s true >spec
    equal "$(jq -r '[.signal, .kill_grace, .stop_grace] | join(" ")' spec)" "USR1@5s 2s 2s"
    equal "$(tprun --print-spec true | jq -r '[.signal, .kill_grace, .stop_grace] | join(" ")')" " 5s 30s"
}
