# shellcheck disable=SC2154,SC2030,SC2031 # bats sets stderr, common.bash job; each test has its own environment
# What is written down of a program while it runs, and kept of it when it is over.
load ../lib/common
setup() { start_test; }
teardown() { nothing_left 5; }

STATE() { echo "$XDG_STATE_HOME"/tprun/this-machine-*; }
# The logs of programs that are over and not moved yet, as they are in the instance.
completed() { cat "$TPRUN_RUNTIME_DIR"/this-machine-*/completed 2>/dev/null; }
names() { sed -n 's/.*{"timestamp":[0-9.]*,"name":"\([a-z-]*\)".*/\1/p' | paste -sd' '; }
# As if nothing had ended for a while: the next end starts tpmove.
pause() { touch -d '1 minute ago' "$TPRUN_RUNTIME_DIR"/this-machine-*/completed; }

LIFE="new pending alloc starting launch tasks-started running tasks-ended finish complete"

@test "a run writes its events, and whoever asks while it runs finds those before" {
    tprun -n 1 sh -c "cat $TPRUN_RUNTIME_DIR/this-machine-*/programs/1/events >early"
    [[ "$(names <early)" == "new pending alloc starting launch"* ]]
    equal "$(completed | names)" "$LIFE"
}

@test "where each task ran and how it ended is written" {
    # rank 1, whose end ends rank 0, waits for what that says
    run -3 --separate-stderr tprun -n 2 --oversubscribe sh -c 'echo $$
        [ "$TPRUN_RANK" = 1 ] || exec touch said
        until [ -e said ]; do sleep 0.05; done
        exit 3'
    local log=${BATS_TEST_TMPDIR}/log
    completed >"$log"
    local pids
    pids=$(sed -n 's/.*"name":"tasks-started".*"pids":\["\([0-9,-]*\)"\].*/\1/p' "$log" | tr -s ',-' '\n' | sort)
    equal "$pids" "$(sort <<<"$output")"
    grep -q '"name":"tasks-ended".*"ranks":"1","status":768.*"maxrss_kib":\[[1-9]' "$log"
    grep -q '"name":"complete","context":{"status":3,"reason":"rank 1' "$log"
    grep -q "\"hosts\":\"$(hostname)\"" "$log"
}

@test "what was asked for is kept before the first task runs, and with the program when it is over" {
    # shellcheck disable=SC2016
    tprun -n 2 --umask 027 sh -c 'cat "$TPRUN_INSTANCE/programs/$TPRUN_PROGRAM/spec.json" >"early.$TPRUN_RANK"' word
    local spec
    for spec in early.0 early.1; do
        jq -e '.parts[0].argv[-1] == "word" and .parts[0].ntasks == 2 and .environment and .directory' "$spec"
    done
    pause
    tprun true
    wait_for 5 eval '[ -e "$(STATE)/1/spec.json" ]'
    cmp early.0 "$(STATE)/1/spec.json"
}

@test "what is over is moved to the state directory by a process that nobody waits for" {
    tprun true
    pause
    tprun true
    wait_for 5 eval '[ -e "$(STATE)/2/events" ]'
    equal "$(names <"$(STATE)/1/events")" "$LIFE"
    equal "$(ls "$(STATE)/1")" "$(printf '%s\n' R.json events spec.json)"
    wait_for 5 eval '[ -z "$(completed)" ]'
    equal "$(stat -c %a "$(STATE)" "$(STATE)/1" "$(STATE)/1/events" | paste -sd' ')" "700 700 600"
}

@test "a program whose manager is killed is lost, and what it held is free" {
    start "$TPRUN" -n 1 sleep 60
    wait_for 5 eval 'grep -qs running "$TPRUN_RUNTIME_DIR"/this-machine-*/programs/1/events'
    kill -KILL "$(pgrep -P "$job" -x tprun-manager)"
    finish
    [ "$status" = 1 ]
    wait_for 5 eval 'tprun --no-wait -n 1 true'
    completed | names | grep -q "new pending alloc starting launch tasks-started running .*lost"
    completed | grep -q '"name":"lost","context":{"reason":"the manager of the program was gone'
}

@test "a state directory that cannot be used harms nothing" {
    local state
    : >file
    for state in "$PWD/file" /proc/nowhere; do
        export XDG_STATE_HOME=$state
        run -0 --separate-stderr tprun true
        equal "$output$stderr" ""
        pause
        run -0 --separate-stderr tprun true
        equal "$output$stderr" ""
    done
    equal "$(completed | names | tr ' ' '\n' | grep -c '^complete$')" 4
}

@test "what has ended in an instance is moved at its end, where it is much" {
    tprun true # its end is the last at which it is looked how long nothing has ended
    ln -sf "$TPRUN" tpbatch
    ./tpbatch sh -c 'for i in $(seq 100); do "$0" true; done' "$TPRUN"
    wait_for 5 eval '[ -e "$(STATE)/102/events" ]'
    wait_for 5 eval '[ -z "$(completed)" ]'
}

@test "a run does nothing in the state directory: tpmove does, for which nobody waits" {
    command -v strace >/dev/null || skip "no strace here"
    tprun true
    pause
    strace -f -qq -e trace=file,process -o trace "$TPRUN" true || skip "strace may not trace here"
    local mover
    mover=$(sed -n 's/^\([0-9]*\) *execve("[^"]*tpmove".*/\1/p' trace)
    [ -n "$mover" ]
    grep -q "^$mover .*$XDG_STATE_HOME" trace
    equal "$(grep -v "^$mover " trace | grep -v execve | grep -F "$XDG_STATE_HOME")" ""
    equal "$(grep "wait.*$mover" trace)" ""
    grep -q "^$mover .*chdir(\"/\") *= 0" trace
}

# slowed COMMAND...: with what $delay does to each operation on the state directory and all that is in it; sets $ms, and
# $operations: how many of them somebody waits for, which nobody does for tpmove.
slowed() {
    local paths mover
    mapfile -t paths < <(find "$XDG_STATE_HOME" -printf '-P\n%p\n')
    ms=$(date +%s%N)
    strace -f -y -qq -o trace "${paths[@]}" -P "$(dirname "$TPRUN")/tpmove" -e trace=%file,%desc -e "$delay" "$@" ||
        skip "strace may not trace here"
    ms=$((($(date +%s%N) - ms) / 1000000))
    mover=$(sed -n 's/^\([0-9]*\) *execve("[^"]*tpmove".*/\1/p' trace)
    operations=$(grep -F "$XDG_STATE_HOME" trace | grep -v "^${mover:-none} \|execve" | wc -l)
}

@test "a state directory that takes 20 ms for an operation adds none to a start, and one at most to an end" {
    command -v strace >/dev/null || skip "no strace here"
    need_plain_build "strace and LeakSanitizer exclude each other"
    local delay how
    mkdir -p "$XDG_STATE_HOME"
    tprun true
    pause
    tprun true
    wait_for 5 eval '[ -e "$(STATE)/2/events" ]'
    for how in --on-disconnect=terminate --on-disconnect=continue --detach; do
        for delay in trace=%file,%desc inject=%file,%desc:delay_enter=20000; do
            pause # it is time to move what is complete
            slowed "$TPRUN" "$how" -n 1 /bin/true >/dev/null
            echo "# $how with ${delay%%=*}: $ms ms, $operations operations" >&3
            [ "$operations" -le 1 ] || { cat trace; return 1; }
        done
    done
}

@test "a home that may not be written is said, and what may be named in its place" {
    [ "$(id -u)" = 0 ] || skip "a second user takes root"
    local user=(setpriv --reuid 65534 --regid 65534 --clear-groups env -u XDG_STATE_HOME HOME="$PWD/home"
        TPRUN_RUNTIME_DIR="$PWD/home/run")
    install -d -m 755 -o 65534 -g 65534 home
    "${user[@]}" "$TPRUN" true
    chmod 500 home
    run --separate-stderr "${user[@]}" "$(dirname "$TPRUN")/tpctl" list -a
    [[ "$stderr" == *"home/.local/state/tprun: Permission denied; XDG_STATE_HOME may name another place" ]] ||
        { echo "$stderr"; return 1; }
}

@test "numbers go on when the runtime directory is removed" {
    tprun true
    pause
    tprun true
    wait_for 5 eval '[ -e "$(STATE)/2/events" ]'
    rm -rf "$TPRUN_RUNTIME_DIR"
    equal "$(tprun printenv TPRUN_PROGRAM)" 3
}

@test "the first run of an instance does not wait for a state directory that hangs" {
    need_plain_build "another library cannot come first"
    cat >slow.c <<'END'
#define _GNU_SOURCE
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
int stat(const char *path, struct stat *st)
{
    if (strstr(path, "/hangs/"))
        sleep(100);
    return fstatat(-100, path, st, 0);
}
END
    "${CC:-cc}" -shared -fPIC -o slow.so slow.c
    tprun true
    rm -rf "$TPRUN_RUNTIME_DIR"
    LIMIT=10 LD_PRELOAD=$PWD/slow.so XDG_STATE_HOME=$PWD/hangs run -0 tprun printenv TPRUN_PROGRAM
    equal "$output" 1
}

@test "another user's state directory is not used" {
    [ "$(id -u)" = 0 ] || skip "not root, who can make one"
    mkdir -p -m 700 state/tprun
    chown 65534 state/tprun
    export XDG_STATE_HOME=$PWD/state
    tprun true
    pause
    tprun true
    sleep 0.5
    equal "$(find state/tprun -mindepth 1)" ""
    [ -n "$(completed)" ]
}

@test "with TPRUN_KEEP=0 nothing is kept of a program, nor of those that its tasks start" {
    TPRUN_KEEP=0 tprun "$TPRUN" true
    [ -z "$(completed)" ] && [ ! -e "$(STATE)" ]
    tprun true
    equal "$(completed | names)" "$LIFE"
}
