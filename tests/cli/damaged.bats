# shellcheck disable=SC2154,SC2030,SC2031 # bats sets output and stderr, common.bash job and status
# What is known of programs, cut, half written, locked away, elsewhere or of another time: each command says a
# sentence or shows what there is, and no core is given twice.
#   CUT_EVERY  a log is cut at each so many of its bytes (1: at each)
load ../lib/common
load ../lib/tpctl
setup() { start_test; }
teardown() {
    ! mountpoint -q small || umount small
    nothing_left 10
}

WAITS='until [ -e go ]; do sleep 0.05; done'
STATE() { echo "$XDG_STATE_HOME"/tprun/this-machine-*; }
is_kept() { [ -e "$(STATE)/$1/events" ]; }
is_running() { tpctl list --format=json | jq -e '.programs[] | select(.state == "running")' >/dev/null; }
# Like `run`, and what it says is at most LINES sentences: no crash, no dump.
says_at_most() { # LINES COMMAND...
    run --separate-stderr "${@:2}"
    [ "$status" -lt 124 ] || { echo "status $status of ${*:2}: $stderr"; return 1; }
    [ "${#stderr_lines[@]}" -le "$1" ] || { echo "${*:2}: $stderr"; return 1; }
    ! grep -v '^tp[a-z]*: ' <<<"$stderr" | grep . || return 1
}

# ---- what is kept ----

@test "a log that is cut at any byte is read by each command as far as it goes" {
    local cut size log
    run -0 tprun -d --on-failure=continue -n 2 sh -c 'echo out; exit 3'
    tpctl wait 1
    wait_for 10 is_kept 1
    log=$(STATE)/1/events
    cp "$log" whole
    size=$(stat -c %s whole)
    for ((cut = size; cut >= 0; cut -= ${CUT_EVERY:-113})); do
        head -c "$cut" whole >"$log"
        rm -f "$(STATE)"/index-*
        run -0 --separate-stderr tpctl list -a --format=json
        equal "$(jq -c '.programs[] | [.id, .state, .lost, .status]' <<<"$output")" \
            "[\"1\",\"complete\",$([ "$cut" = "$size" ] && echo false,3 || echo true,null)]"
        equal "$stderr" ""
        run -0 --separate-stderr tpctl info 1
        equal "$stderr" ""
        run -0 tpctl wait 1
        run -$((cut == size ? 3 : 1)) tpctl wait --status 1
        run -0 --separate-stderr tpctl logs 1
        equal "$output" $'out\nout'
        run -3 --separate-stderr tpctl attach 1 # the saved output says it
    done
}

@test "a context of which a file is missing, empty or half is shown as far as it goes, and removed by reap" {
    local file how command
    run -0 tprun -d --on-failure=continue -n 2 sh -c 'echo out; exit 3'
    tpctl wait 1
    wait_for 10 is_kept 1
    cp -r "$(STATE)/1" whole
    for file in spec.json R.json events output.0; do
        for how in missing empty half; do
            rm -rf "$(STATE)/1"
            cp -r whole "$(STATE)/1"
            case $how in
            missing) rm "$(STATE)/1/$file" ;;
            empty) : >"$(STATE)/1/$file" ;;
            half) head -c $(($(stat -c %s "whole/$file") / 2)) "whole/$file" >"$(STATE)/1/$file" ;;
            esac
            rm -f "$(STATE)"/index-*
            echo "$file is $how"
            for command in "list -a" "list -a --format=json" "info 1" "info 1 --format=json" "info 1 --why n" "logs 1" \
                "attach 1" "wait 1" "wait --status 1" "ps 1" "signal 1 TERM" "terminate 1"; do
                # shellcheck disable=SC2086 # words
                says_at_most 1 tpctl $command
            done
            run -0 tprun true
            run -0 tpctl reap 1
            run -3 tpctl info 1
        done
    done
}

@test "clocks that jump between events change no order: that is the order of the lines" {
    local jump log times
    run -3 tprun --on-failure=continue -n 2 sh -c 'exit 3'
    tpctl list -a >/dev/null
    log=$(STATE)/1/events
    cp "$log" whole
    for times in '1000000000.5 4000000000.5' '4000000000.5 1000000000.5'; do
        awk -v times="$times" 'BEGIN { split(times, t) } { sub(/"timestamp":[0-9.]*/, "\"timestamp\":" t[NR % 2 + 1]) } 1' \
            whole >"$log"
        rm -f "$(STATE)"/index-*
        run -0 --separate-stderr tpctl list -a --format=json
        equal "$(jq -c '.programs[] | [.state, .status, .ntasks]' <<<"$output")" '["complete",3,2]'
        run -0 --separate-stderr tpctl list -a
        [[ ${lines[1]} != *-[0-9]* ]] # no time below 0
        run -0 tpctl info 1
        equal "$(tpctl info 1 --format=json | jq -c '[.tasks[] | .status]')" '[3,3]'
        run -3 tpctl wait --status 1
        run -4 tpctl wait --for nodes-lost 1
    done
}

# ---- what lives ----

@test "files of a program that runs are cut or removed: no core is given twice" {
    local file how instance
    unset TPRUN_OPTIONS
    start "$TPRUN" -n "$(nproc)" --bind-to core sh -c 'echo ready; exec sleep 60'
    wait_for 10 lines_are out "$(nproc)"
    instance=$(echo "$TPRUN_RUNTIME_DIR"/this-machine-*)
    cp -r "$instance" whole
    for file in claims programs/1/R.json programs/1/events programs/1/spec.json identity id; do
        for how in empty half missing; do
            case $how in
            missing) mv "$instance/$file" aside ;;
            empty) : >"$instance/$file" ;;
            half) head -c $(($(stat -c %s "whole/$file") / 2)) "whole/$file" >"$instance/$file" ;;
            esac
            echo "$file is $how"
            says_at_most 2 tprun --no-wait -n 1 --bind-to core sh -c ': >started'
            [ ! -e started ]
            [ "$status" != 0 ]
            says_at_most 2 tpctl list -a
            if [ -e aside ]; then mv aside "$instance/$file"; else cp -p "whole/$file" "$instance/$file"; fi
        done
    done
    # with the claims gone, too
    for file in programs/1/R.json programs/1/events; do
        : >"$instance/$file"
        rm -f "$instance/claims"
        says_at_most 2 tprun --no-wait -n 1 --bind-to core sh -c ': >started'
        [ ! -e started ]
        [ "$status" != 0 ]
        cp -p "whole/$file" "$instance/$file"
    done
    run -0 --separate-stderr tpctl terminate 1 || { echo "$stderr"; return 1; }
    finish
    run -0 tprun --no-wait -n "$(nproc)" --bind-to core true
}

@test "locks that a file system does not have are told in one sentence, and nothing starts" {
    need_plain_build "another library cannot come first"
    cat >nolock.c <<'END'
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>
static int lock(int fd, int command, long arg)
{
    if (command != F_OFD_SETLK && command != F_OFD_SETLKW && command != F_OFD_GETLK)
        return (int)syscall(SYS_fcntl, fd, command, arg);
    errno = ENOLCK;
    return -1;
}
#define FCNTL(name) int name(int fd, int command, ...) { va_list a; va_start(a, command); return lock(fd, command, va_arg(a, long)); }
FCNTL(fcntl)
FCNTL(fcntl64)
int flock(int fd, int operation)
{
    (void)fd, (void)operation;
    errno = ENOLCK;
    return -1;
}
END
    "${CC:-cc}" -shared -fPIC -w -o nolock.so nolock.c
    export LD_PRELOAD=$PWD/nolock.so
    run -1 --separate-stderr tprun sh -c ': >started'
    [ ! -e started ]
    equal "${#stderr_lines[@]}" 1
    [[ "$stderr" == "tprun: "*"No locks available"* ]]
    says_at_most 1 tpctl list -a
    unset LD_PRELOAD
    run -0 tprun true
}

@test "without flock alone a program runs, and its directory is given up as ever" {
    command -v strace >/dev/null || skip "no strace here"
    need_plain_build "strace and LeakSanitizer exclude each other"
    strace -f -qq -o locks -e trace=flock -e inject=flock:error=ENOLCK "$TPRUN" true || skip "strace may not trace here"
    [ "$(grep -c 'flock(.*ENOLCK' locks)" -ge 2 ] # of the runtime directory, and of the program's
    equal "$(find "$(instance)/programs" -mindepth 1 -maxdepth 1 -printf '%f\n')" .spare-0
    equal "$(tpctl list -a --format=json | jq -r '.programs[] | "\(.id) \(.state) \(.status)"')" "1 complete 0"
}

@test "directories with long paths: control sockets, saved output and what is kept work there" {
    local deep="" i
    for i in 1 2 3 4 5 6 7 8; do deep=$deep/a-directory-with-a-name-of-40-letters-$i; done
    mkdir -p "$PWD$deep"
    chmod 700 "$PWD$deep"
    export TPRUN_RUNTIME_DIR=$PWD$deep XDG_STATE_HOME=$PWD$deep/state XDG_RUNTIME_DIR=$PWD$deep
    run -0 tprun -d sh -c 'trap "echo heard; exit 7" USR1; echo ready; while :; do sleep 0.05; done'
    wait_for 10 eval '[ "$(tpctl logs 1)" = ready ]'
    run -0 --separate-stderr tpctl signal 1 USR1
    run -7 tpctl wait --status 1
    run -7 --separate-stderr tpctl attach 1
    equal "$output" $'ready\nheard'
    run -0 tprun "$TPRUN" true # by TPRUN_INSTANCE
    run -0 tprun -d sleep 60
    run -0 --separate-stderr tpctl terminate 4
}

# ---- another time, another login ----

@test "a program that ran when the machine was started anew is lost, and that is why" {
    local log pids
    run -0 tprun -d sleep 60
    # Stopped, none of them sees another one die.
    mapfile -t pids < <(marked)
    kill -STOP "${pids[@]}"
    kill -KILL "${pids[@]}"
    log=$(instance)/programs/1/events
    nothing_left
    sed -i 's/"timestamp":[0-9.]*/"timestamp":1000000000.5/' "$log"
    run -0 tprun --no-wait -n "$(nproc)" true
    run -0 tpctl info 1
    grep -qx 'state      complete (lost)' <<<"$output"
    grep -qx 'reason     the machine was started anew while the program ran' <<<"$output"
    equal "$(grep -c '"lost"' "$(STATE)/1/events")" 1
}

# An instance of its own in the usual place, which does not depend on what the environment says.
elsewhere() {
    unset TPRUN_RUNTIME_DIR
    printf '{"version":1,"execution":{"R_lite":[{"rank":"0","children":{"core":"0"}}],"nodelist":["%s"]}}' "$(uname -n)" >R.json
    theirs() { dirname "$(grep -lx "R file $PWD/R.json" "/tmp/tprun-$(id -u)"/*/identity)"; }
}

@test "XDG_RUNTIME_DIR may go while a detached program runs: the next login finds it" {
    elsewhere
    mkdir -m 700 xdg
    run -0 env XDG_RUNTIME_DIR="$PWD/xdg" "$TPRUN" -d -R R.json sh -c 'trap "exit 5" USR1; echo ready; while :; do sleep 0.05; done'
    local name id
    rm -rf xdg
    name=$(basename "$(theirs)")
    id=$name/$output
    wait_for 10 eval '[ "$(tpctl logs "$id")" = ready ]'
    [ "$(tpctl list --instance "$name" --format=json | jq -r '.programs[].state')" = running ]
    start "$TPCTL" attach "$id"
    wait_for 5 lines_are out 1
    mkdir -m 700 xdg
    XDG_RUNTIME_DIR=$PWD/xdg run -0 tpctl signal "$id" USR1
    finish
    [ "$status" = 5 ]
    run -0 env XDG_RUNTIME_DIR="$PWD/xdg" "$TPRUN" -d -R R.json sleep 60
    rm -rf xdg
    run -0 tpctl terminate "$name/$output"
    rm -rf "$(theirs)"
}

@test "login, cron, su and batch find the same programs and claims" {
    elsewhere
    mkdir -m 700 xdg tmp home
    local login=(HOME="$HOME" PATH="$PATH" XDG_RUNTIME_DIR="$PWD/xdg" XDG_SESSION_ID=1 TERM=xterm)
    local cron=(HOME="$HOME" PATH=/usr/bin:/bin SHELL=/bin/sh LOGNAME=root)
    local su=(HOME="$PWD/home" PATH="$PATH" USER=somebody LOGNAME=somebody)
    local batch=(HOME="$HOME" PATH="$PATH" TMPDIR="$PWD/tmp" ENVIRONMENT=BATCH)
    local holder=("${login[@]}") from other name
    for from in login cron su batch; do
        local -n of=$from
        run -0 env -i "${of[@]}" TEST_MARK="$TEST_MARK" "$TPRUN" -d -R R.json sleep 60
        name=$(basename "$(theirs)")/$output
        for other in login cron su batch; do
            local -n by=$other
            run -1 --separate-stderr env -i "${by[@]}" timeout 20 "$TPRUN" --no-wait -R R.json true
            has_line "$stderr" "tprun: every core is held by other running programs *holds core 0 of*"
            equal "$(env -i "${by[@]}" "$TPCTL" info "$name" --format=json | jq -r .state)" running
        done
        run -0 env -i "${by[@]}" "$TPCTL" terminate "$name"
    done
    rm -rf "$(theirs)"
}

# ---- a full disk ----

@test "a disk that is full when an event is written: the program goes on, and that is said once" {
    [ "$(id -u)" = 0 ] || skip "only root can mount a small disk"
    mkdir -m 700 small
    mount -t tmpfs -o size=256k,mode=700 none small || skip "no tmpfs here"
    export TPRUN_RUNTIME_DIR=$PWD/small
    # The log has to grow beyond the pages that it has: its first events are as long as one.
    local length pad fill
    fill() { head -c 1000000 /dev/zero >small/ballast 2>/dev/null || true; }
    start "$TPRUN" sh -c "echo ready; $WAITS" ''
    wait_for 10 lines_are out 1
    wait_for 10 grep -q running "$(instance)/programs/1/events"
    length=$(stat -c %s "$(instance)/programs/1/events")
    touch go
    finish
    pad=$(head -c $((4096 - length - 60)) /dev/zero | tr '\0' x)
    # attached: at once
    rm go
    start "$TPRUN" sh -c "echo ready; $WAITS; exit 3" "$pad"
    wait_for 10 lines_are out 1
    wait_for 10 grep -q running "$(instance)/programs/2/events"
    fill
    touch go
    finish
    [ "$status" = 3 ]
    equal "$(grep -c 'cannot write .*/events: No space left on device; the program goes on' err)" 1
    rm small/ballast go
    equal "$(tpctl list -a --format=json | jq -c '.programs[] | select(.id == "2") | .state')" '"complete"'
    # detached: to who comes next
    run -0 tprun -d sh -c "echo ready; $WAITS; exit 3" "$pad"
    wait_for 10 eval '[ "$(tpctl logs 3)" = ready ]'
    wait_for 10 grep -q running "$(instance)/programs/3/events"
    fill
    touch go
    tpctl wait 3 2>/dev/null
    run --separate-stderr tpctl attach 3
    [[ "$stderr" == *"No space left on device"* ]]
    [[ "$output" == ready* ]]
    run -0 --separate-stderr tpctl list -a --format=json
    equal "$(jq -c '.programs[] | select(.id == "3") | .state' <<<"$output")" '"complete"'
    equal "$stderr" "tpctl: $(instance): what is known of program 3 cannot be kept yet: No space left on device"
    rm small/ballast
    equal "$(tpctl list -a --format=json | jq -c '.programs[] | select(.id == "3") | .state')" '"complete"'
    run -0 tprun --no-wait -n "$(nproc)" true
}
