# shellcheck disable=SC2154,SC2030,SC2031 # bats sets stderr, start_program id
# tpctl signal: which tasks hear it, what is written down, and who may not.
load ../lib/common
load ../lib/tpctl
setup() { start_test; }
teardown() { nothing_left 4; }

# Tasks that say what they hear, and end at TERM.
# shellcheck disable=SC2016 # for the tasks' shell
HEAR='for s in USR1 USR2 HUP WINCH; do trap "echo $TPRUN_RANK:$s" $s; done; trap "exit 3" TERM
    echo ready; while :; do sleep 0.05; done 2>/dev/null'
heard() { [ "$(grep -v ready out | sort | paste -sd' ')" = "$1" ]; }
end_program() {
    kill -KILL "$job"
    finish
}

@test "a signal by name, with SIG or as a number reaches all tasks" {
    start_program 3 -n 3 sh -c "$HEAR"
    run_tpctl -0 signal "$id" USR1
    equal "$output$stderr" ""
    wait_for 5 heard "0:USR1 1:USR1 2:USR1"
    run_tpctl -0 signal "$id" sigwinch
    wait_for 5 heard "0:USR1 0:WINCH 1:USR1 1:WINCH 2:USR1 2:WINCH"
    run_tpctl -0 signal "$id" 28
    wait_for 5 heard "0:USR1 0:WINCH 0:WINCH 1:USR1 1:WINCH 1:WINCH 2:USR1 2:WINCH 2:WINCH"
    end_program
}

@test "only the ranks that are named hear it, with what is in their process groups" {
    # shellcheck disable=SC2016
    start_program 4 -n 2 sh -c '(trap "echo child of $TPRUN_RANK; exit" USR1; echo ready; while :; do sleep 0.05; done) & '"$HEAR"
    run_tpctl -0 signal "$id" USR1 --ranks 1
    wait_for 5 heard "1:USR1 child of 1"
    sleep 0.3
    heard "1:USR1 child of 1"
    end_program
}

# A shell that is between vfork and exec is blocked, not stopped: then once more.
rank_1_stops() {
    run_tpctl -0 signal "$id" STOP --ranks 1
    [ "$(state_of 1)" = T ] || { run_tpctl -0 signal "$id" CONT --ranks 1 && return 1; }
}
@test "a task that is stopped goes on, and others run meanwhile" {
    start_program 2 -n 2 sh -c "$HEAR"
    wait_for 10 rank_1_stops
    equal "$(state_of 1) $(tpctl ps --format=json "$id" | jq -r '.tasks[1].state')" "T stopped"
    [ "$(state_of 0)" != T ]
    run_tpctl -0 signal "$id" CONT --ranks 1
    [ "$(state_of 1)" != T ]
    end_program
}

@test "a signal is in the log before a task can have heard of it" {
    # shellcheck disable=SC2016
    start_program 1 -n 1 sh -c 'trap "grep -c ,.name.:.sig[n]al $TPRUN_INSTANCE/programs/$TPRUN_PROGRAM/events; exit 0" USR1
        echo ready; while :; do sleep 0.05; done'
    run_tpctl -0 signal "$id" USR1
    finish
    equal "$status $(tail -n 1 out)" "0 1"
    equal "$(events signal | jq -c '[.number, .ranks]')" '[10,null]'
    has_line "$(events signal | jq -r .who)" "tpctl (pid *)"
    equal "$(events tasks-ended | jq -c '[.status, .by]')" '[0,null]'
}

has_ended() { ! tpctl ps --format=json "$id" | jq -e ".tasks[] | select(.rank == $1)"; }
@test "a task signals and ends another program of its user" {
    start_program 1 -n 1 sh -c "$HEAR"
    # shellcheck disable=SC2016
    run -0 --separate-stderr tprun --overlap -n 1 sh -c '"$TPCTL" signal "$1" USR1 && until grep -q USR1 out; do sleep 0.05; done &&
        "$TPCTL" terminate "$1" && "$TPCTL" info "$1" | grep "^status"' sh "$id"
    equal "$output" "status     143"
    finish
    equal "$status $(cat out)" "143 ready
0:USR1"
}

@test "ranks that have ended are named, and the others hear it" {
    # shellcheck disable=SC2016
    start_program 3 -n 4 sh -c "[ \$TPRUN_RANK != 2 ] || exit 0; $HEAR"
    wait_for 5 has_ended 2
    run_tpctl -1 signal "$id" USR1 --ranks 1-2
    equal "$stderr" "tpctl: program $id: SIGUSR1 did not reach rank 2 (ended)"
    wait_for 5 heard "1:USR1"
    run_tpctl -0 signal "$id" USR2
    wait_for 5 heard "0:USR2 1:USR1 1:USR2 3:USR2"
    equal "$(events signal | jq -c '[.number, .ranks]' | paste -sd' ')" '[10,"1-2"] [12,null]'
    end_program
}

@test "ranks that there are not, and signals that there are not, are refused" {
    start_program 2 -n 2 sh -c "$HEAR"
    run_tpctl -1 signal "$id" USR1 --ranks 1-7
    equal "$stderr" "tpctl: program $id: unknown rank 7 (expected 0-1)"
    run_tpctl -2 signal "$id" FOO
    has_line "$stderr" 'tpctl: unknown signal "FOO" (expected a name such as TERM, or a number)'
    run_tpctl -2 signal "$id" 0
    run_tpctl -2 signal "$id" 65
    run_tpctl -2 signal "$id" USR1 --ranks 3-1
    has_line "$stderr" 'tpctl: --ranks: *'
    run_tpctl -2 signal "$id"
    sleep 0.2
    heard ""
    equal "$(events signal)" ""
    end_program
}

@test "SIGTERM for all tasks is their user's wish: how they end is nobody's failure" {
    start_program 2 -n 2 sh -c "$HEAR"
    run_tpctl -0 signal "$id" TERM
    finish
    equal "$status" 3
    has_line "$(cat err)" "tprun: told to end by tpctl (pid *): sent SIGTERM to 2 tasks"
    equal "$(events signal | jq .number)" 15
    equal "$(events terminate)" ""
    equal "$(events tasks-ended | jq -c .by | sort -u)" null
}

@test "SIGTERM comes as often as it is given" {
    # shellcheck disable=SC2016
    start_program 1 -n 1 sh -c 'trap "echo TERM" TERM; trap "exit 0" INT; echo ready; while :; do sleep 0.05; done'
    run_tpctl -0 signal "$id" TERM
    wait_for 5 grep -q TERM out
    run_tpctl -0 signal "$id" TERM --ranks 0
    wait_for 5 lines_are out 3
    run_tpctl -0 signal "$id" TERM
    wait_for 5 lines_are out 4
    run_tpctl -0 signal "$id" INT
    finish
    equal "$status" 0
}

@test "a task that is killed by a signal for its rank alone has failed as by any other" {
    start_program 3 -n 3 sh -c "$HEAR"
    run_tpctl -0 signal "$id" KILL --ranks 1
    finish
    equal "$status" 137
    has_line "$(cat err)" "tprun: rank 1*killed by signal 9*" || has_line "$(cat err)" "tprun: rank 1*SIGKILL*"
    equal "$(events tasks-ended | jq -c 'select(.ranks == "1") | [.status, .by]')" '[9,null]'
    equal "$(events tasks-ended | jq -c 'select(.ranks != "1") | .by' | sort -u)" '"tprun"'
}

a_program_has_tasks() { grep -q tasks-started "$TPRUN_RUNTIME_DIR"/this-machine-*/programs/*/events; }
@test "a program that has just begun is waited for" {
    start "$TPRUN" -n 1 sh -c "$HEAR"
    wait_for 20 a_program_has_tasks
    id=$(ls "$(instance)/programs")
    run_tpctl -0 signal "$id" KILL
    finish
    equal "$status" 137
}

@test "a program that is not there, and one that is complete" {
    run_tpctl -3 signal 99999 TERM
    start_program 1 -n 1 sh -c "$HEAR"
    run_tpctl -0 signal "$id" TERM
    finish
    run_tpctl -4 signal "$id" TERM
    has_line "$stderr" "tpctl: program $id is complete*"
}

@test "a program whose manager was killed is complete, and lost" {
    start_program 1 -n 1 sh -c "$HEAR"
    kill -KILL "$(pgrep -P "$job" -x tprun-manager)"
    finish
    nothing_left 5
    run_tpctl -4 signal "$id" TERM
    has_line "$stderr" "tpctl: program $id is complete*lost*"
}

@test "a manager that is stopped is not waited for for ever" {
    start_program 1 -n 1 sh -c "$HEAR"
    local manager
    manager=$(pgrep -P "$job" -x tprun-manager)
    wait_for 5 test -S "$(instance)/programs/$id/control"
    kill -STOP "$manager"
    run_tpctl -1 signal "$id" USR1
    has_line "$stderr" "tpctl: program $id: its manager (pid $manager) does not answer within 6 s: *"
    kill -CONT "$manager"
    end_program
}

# Root may enter, and is another user.
@test "a program of another user is refused, also to root" {
    { [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; } || skip "needs to be somebody else"
    local run=$BATS_TEST_TMPDIR/theirs
    install -d -m 700 -o 65534 -g 65534 "$run"
    chmod a+x "$BATS_RUN_TMPDIR" "$(dirname "$BATS_TEST_TMPDIR")" "$BATS_TEST_TMPDIR"
    start env TPRUN_RUNTIME_DIR="$run" HOME=/ setpriv --reuid 65534 --regid 65534 --clear-groups \
        "$TPRUN" -n 1 sh -c "$HEAR"
    wait_for 20 said_ready 1 || { cat err; skip "another user cannot run this tprun"; }
    id=$(ls "$run"/this-machine-*/programs)
    local socket
    socket=$(echo "$run"/this-machine-*)/programs/$id/control
    wait_for 5 test -S "$socket"
    run --separate-stderr env TPRUN_RUNTIME_DIR="$run" "$TPCTL" signal "$id" USR1
    [ "$status" != 0 ]
    sleep 0.2
    heard ""
    # The manager itself says no, whatever the modes of directories are.
    run python3 -c '
import socket, sys
s = socket.socket(socket.AF_UNIX)
s.settimeout(5)
s.connect(sys.argv[1])
s.sendall(bytes.fromhex(sys.argv[2]))
print(s.recv(65536)[20:].decode())' "$socket" "$(control_frame '{"version":1,"method":"signal","number":10}')"
    equal "$output" '{"status":1,"error":"signal: the program is of user 65534, and user 0 may not"}'
    heard ""
    kill -KILL "$job"
    finish
}
# The bytes of a request: a frame's header and JSON.
control_frame() {
    python3 -c '
import re, struct, sys
types = re.search(r"enum frame_type \{(.*?)\n\};", open(sys.argv[1]).read(), re.S).group(1)
names = re.findall(r"\b(FRAME_[A-Z_]+)\b(?: = 1)?,", re.sub(r"/\*.*?\*/", "", types, flags=re.S))
body = sys.argv[2].encode()
print((struct.pack("<IHHIII", len(body), names.index("FRAME_CONTROL") + 1, 0, 0, 0, 0) + body).hex())' \
        "$ROOT/launcher/tree/frame.h" "$1"
}

@test "whoever connects and says nothing, nonsense or too much harms nobody" {
    start_program 2 -n 2 sh -c "$HEAR"
    wait_for 5 test -S "$(instance)/programs/$id/control"
    python3 -c '
import os, socket, sys, time
def connect():
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(0.5)
    s.connect(sys.argv[1])
    return s
silent = []
for i in range(100):
    try:
        silent.append(connect())
    except OSError:
        pass
for i in range(20):
    for text in (os.urandom(4096), b"\0\0\0\4\1\0" + bytes(1 << 21), b"GET / HTTP/1.0\r\n\r\n"):
        try:
            connect().sendall(text)
        except OSError:
            pass
print("ready", flush=True)
time.sleep(60)' "$(instance)/programs/$id/control" >clients 3>&- &
    local clients=$!
    wait_for 20 grep -q ready clients
    run_tpctl -0 signal "$id" USR1
    wait_for 5 heard "0:USR1 1:USR1"
    kill -KILL "$clients"
    run_tpctl -0 signal "$id" USR2
    wait_for 5 heard "0:USR1 0:USR2 1:USR1 1:USR2"
    end_program
}

@test "a client that is killed before its answer harms nobody" {
    start_program 2 -n 2 sh -c "$HEAR"
    local i
    for i in 1 2 3 4 5 6 7 8 9 10; do
        timeout -s KILL 0.00$i "$TPCTL" ps "$id" >/dev/null 2>&1 || :
    done
    run_tpctl -0 signal "$id" USR1
    wait_for 5 heard "0:USR1 1:USR1"
    end_program
}
