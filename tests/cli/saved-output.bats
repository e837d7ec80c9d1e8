# shellcheck disable=SC2154,SC2030,SC2031 # bats sets output and stderr, common.bash job and status
# Output that is saved while a program runs, and kept with it.
load ../lib/common
setup() { start_test; }
teardown() {
    ! mountpoint -q other || umount other
    nothing_left 10
}

TPCTL() { timeout --foreground -k 5 "${LIMIT:-60}" "$(dirname "$TPRUN")/tpctl" "$@"; }
WAITS='until [ -e go ]; do sleep 0.05; done'
SAVED() { echo "$XDG_STATE_HOME"/tprun/this-machine-*/"$1"; }

@test "logs: what was saved so far, of a program that runs and of one that is complete" {
    tprun -d -n 2 --on-failure=continue sh -c "echo out \$TPRUN_RANK; echo err \$TPRUN_RANK >&2; $WAITS; echo last; exit 3" >id
    wait_for 5 eval '[ "$(TPCTL logs 1 2>/dev/null | wc -l)" = 2 ]'
    run -0 --separate-stderr TPCTL logs 1
    equal "$(sort <<<"$output")" "out 0
out 1"
    touch go
    TPCTL wait 1
    run -0 --separate-stderr TPCTL logs -l --ranks 1 1
    equal "$output" "1: out 1
1: last"
    has_line "$stderr" "1: err 1"
    run -0 --separate-stderr TPCTL logs 1 --stderr
    equal "$output" ""
    has_line "$stderr" "err 0"
    has_line "$stderr" "tprun: *exited with status 3*"
}

@test "logs -f: follows to the end" {
    tprun -d sh -c "echo first; $WAITS; echo last" >id
    start "$(dirname "$TPRUN")/tpctl" logs -f 1
    wait_for 5 lines_are out 1
    touch go
    finish
    [ "$status" = 0 ]
    equal "$(cat out)" "first
last"
}

@test "many who follow, of whom one is stopped, hold up nobody" {
    local i jobs=()
    tprun -d sh -c "$WAITS; seq 300000" >id
    for i in 1 2 3; do
        "$(dirname "$TPRUN")/tpctl" logs -f 1 >"followed.$i" 3>&- &
        jobs+=($!)
    done
    sleep 0.3
    kill -STOP "${jobs[0]}"
    touch go
    LIMIT=30 TPCTL wait 1
    wait "${jobs[1]}" "${jobs[2]}"
    kill -CONT "${jobs[0]}"
    wait "${jobs[0]}"
    for i in 1 2 3; do
        equal "$(md5sum <"followed.$i")" "$(seq 300000 | md5sum)"
    done
}

@test "--save-limit: the oldest goes but the beginning, and what is missing is told" {
    tprun -d --save-limit 1M seq 1000000 >id
    TPCTL wait 1
    [ "$(du -cb "$(SAVED 1)"/output.* | tail -n 1 | cut -f 1)" -le $((1 << 20)) ]
    run -0 --separate-stderr TPCTL logs 1
    [ "$(head -n 1 <<<"$output")" = 1 ]
    [ "$(tail -n 1 <<<"$output")" = 1000000 ]
    [[ "$stderr" == "tprun: "*" bytes of output are not here any more: the limit of saved output was reached"* ]]
    run -2 tprun -d --save-limit 0 true
}

@test "saved output goes with the context, and with it" {
    tprun -d echo kept >id
    TPCTL wait 1
    wait_for 5 eval '[ -e "$(SAVED 1)/output.0" ]'
    equal "$(stat -c %a "$(SAVED 1)/output.0")" 600
    wait_for 5 eval '[ ! -e "$(echo "$TPRUN_RUNTIME_DIR"/this-machine-*/saved/1)" ]'
    TPCTL reap 1
    [ ! -e "$(SAVED 1)" ]
    run -3 TPCTL logs 1
}

@test "a state directory that cannot be used: the output stays, and is read, where it is" {
    : >file
    export XDG_STATE_HOME=$PWD/file
    tprun -d echo stays >id
    TPCTL wait 1 2>/dev/null
    run -0 --separate-stderr TPCTL logs 1
    equal "$output" stays
}

@test "the output of a program whose manager is killed is kept" {
    tprun -d sh -c "echo before; exec sleep 60" >id
    wait_for 5 eval '[ "$(TPCTL logs 1)" = before ]'
    local pid
    for pid in $(marked); do
        [ "$(cat "/proc/$pid/comm")" != tprun-manager ] || kill -KILL "$pid"
    done
    wait_for 10 eval 'TPCTL list -a | grep -q "^ *1 *complete"'
    run -0 --separate-stderr TPCTL logs 1
    equal "$output" before
}

@test "a program whose output is not saved is told so" {
    tprun true
    run -1 --separate-stderr TPCTL logs 1
    [[ "$stderr" == "tpctl: the output of program 1 was not saved"* ]]
}

@test "a full disk: the program goes on, what could not be saved is told, and is shown at the terminal" {
    [ "$(id -u)" = 0 ] || skip "not root, who can mount"
    unshare -m true 2>/dev/null || skip "no mount namespace here"
    cat >session <<'END'
mount -t tmpfs -o size=3m none "$TPRUN_RUNTIME_DIR" && chmod 700 "$TPRUN_RUNTIME_DIR"
"$TPRUN" --on-disconnect=continue seq 1000000 >shown 2>told
echo $? >status
"$(dirname "$TPRUN")/tpctl" wait --status 1
END
    run -0 unshare -m sh session
    equal "$(cat status)" 0
    equal "$(md5sum <shown)" "$(seq 1000000 | md5sum)"
    has_line "$(cat told)" "tprun: output is not saved any more: No space left on device"
}

no_manager() {
    local pid
    for pid in $(marked); do
        [ "$(cat "/proc/$pid/comm" 2>/dev/null)" != tprun-manager ] || return 1
    done
}

@test "a full disk: what could not be saved is shown to its end by a terminal that takes its time" {
    [ "$(id -u)" = 0 ] || skip "not root, who can mount"
    mkdir -m 700 other
    mount -t tmpfs -o size=1m,mode=700 none other || skip "no tmpfs here"
    export TPRUN_RUNTIME_DIR=$PWD/other
    # more than a socket takes, and less than what the manager may send before it is read
    start "$TPRUN" --on-disconnect=continue sh -c "echo ready; $WAITS; seq 250000"
    wait_for 10 lines_are out 1
    kill -STOP "$job"
    touch go
    wait_for 20 no_manager # it has said its last word
    sleep 0.3
    kill -CONT "$job"
    finish
    [ "$status" = 0 ]
    equal "$(md5sum <out)" "$({ echo ready; seq 250000; } | md5sum)"
    equal "$(cat err)" "tprun: output is not saved any more: No space left on device"
}

is_copied() { [ -e "$(SAVED "$1")/output.1" ]; }
# shown_while_moved ID: its output is copied to the state directory, which is another file system, while somebody reads it.
shown_while_moved() {
    rm -f go
    tprun -d --save-limit 64M sh -c "$WAITS; seq 3000000" >id
    "$(dirname "$TPRUN")/tpctl" logs -f "$1" >shown 2>told 3>&- &
    reader=$!
    exec 9<shown
    wait_for 10 eval 'readlink /proc/$reader/fd/* | grep -q /output.0'
    touch go
    TPCTL wait "$1"
    wait_for 20 is_copied "$1"
}

@test "reap leaves what is being shown where it was copied to another file system, too" {
    [ "$(id -u)" = 0 ] || skip "not root, who can mount"
    mkdir -m 700 other
    mount -t tmpfs -o mode=700 none other || skip "no tmpfs here"
    export XDG_STATE_HOME=$PWD/other
    local left reader
    mkfifo shown
    shown_while_moved 1
    left=$(echo "$TPRUN_RUNTIME_DIR"/this-machine-*)/saved
    run -4 --separate-stderr TPCTL reap 1
    equal "$stderr" "tpctl: the output of program 1 is being shown by tpctl attach or logs: wait for its end"
    run -0 --separate-stderr TPCTL reap --all
    equal "$stderr" "tpctl: the output of program 1 is being shown by tpctl attach or logs: wait for its end"
    equal "$(md5sum <&9)" "$(seq 3000000 | md5sum)"
    wait "$reader"
    equal "$(cat told)" ""
    run -0 --separate-stderr TPCTL reap 1
    equal "$(ls "$left")" ""
    run -3 TPCTL logs 1
    # what stayed for who reads it goes with the next that is moved
    shown_while_moved 2
    [ -e "$left/2/moved" ]
    TPCTL logs 2 | tail -n 1 | grep -qx 3000000
    md5sum <&9 >sum
    exec 9<&-
    wait "$reader"
    equal "$(cat sum)" "$(seq 3000000 | md5sum)"
    tprun -d true >id
    TPCTL wait 3
    wait_for 10 test ! -e "$left/2"
    TPCTL logs 2 | head -n 1 | grep -qx 1
}

@test "1 GiB of a detached program is saved in little memory, and the most recent of it is kept" {
    need_plain_build "memory is another"
    # shellcheck disable=SC2016 # for the task's shell
    tprun -d --save-limit 32M -n 1 sh -c 'yes 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde | head -c 1073741824
        echo last; : >held.0; until [ -e watched ]; do sleep 0.05; done' >id
    watched() { grep -qsz "^TEST_MARK=$TEST_MARK\$" "/proc/$1/environ"; }
    start_watch 1
    LIMIT=250 TPCTL wait --status 1
    watch_below 40000
    [ "$(du -cb "$(SAVED 1)"/output.* | tail -n 1 | cut -f 1)" -le $((32 << 20)) ]
    run -0 --separate-stderr TPCTL logs 1
    equal "$(tail -n 1 <<<"$output")" last
    [[ "$stderr" == "tprun: "*" bytes of output are not here any more: the limit of saved output was reached"* ]]
}

@test "a full disk: who attaches is told how much is missing, and sees the end" {
    [ "$(id -u)" = 0 ] || skip "not root, who can mount"
    unshare -m true 2>/dev/null || skip "no mount namespace here"
    cat >session <<'END'
mount -t tmpfs -o size=3m none "$TPRUN_RUNTIME_DIR" && chmod 700 "$TPRUN_RUNTIME_DIR"
"$TPRUN" -d sh -c 'until [ -e go ]; do sleep 0.05; done; seq 1000000; exit 3' >id
"$(dirname "$TPRUN")/tpctl" attach 1 >shown 2>told &
sleep 0.3
: >go
wait $!
echo $? >status
END
    LIMIT=30 run -0 timeout 30 unshare -m sh session
    equal "$(cat status)" 3
    [ "$(head -n 1 shown)" = 1 ]
    has_line "$(cat told)" "tprun: * bytes of output were not saved: No space left on device"
}
