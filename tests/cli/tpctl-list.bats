# shellcheck disable=SC2154,SC2030,SC2031 # bats sets stderr, common.bash job; each test has its own environment
# tpctl list, info and current: what programs there are, and what is known of them.
load ../lib/common
setup() {
    start_test
    PATH=${TPRUN%/*}:$PATH
}
teardown() { nothing_left 5; }

STATE() { echo "$XDG_STATE_HOME"/tprun/this-machine-*; }
states() { tpctl list "$@" --format=json | jq -r '.programs[] | "\(.id) \(.state) \(.status)"'; }
until_runs() { wait_for 5 eval "[ \"\$(tpctl list --format=json | jq -r '.programs[-1].state')\" = running ]"; }

@test "list shows what is not complete, and everything with -a" {
    equal "$(tpctl list -a)" ''
    run tprun -n 2 sh -c 'exit $TPRUN_RANK'
    start "$TPRUN" -n 3 sleep 60
    until_runs
    equal "$(states)" '2 running null'
    equal "$(states -a)" $'1 complete 1\n2 running null'
    run -0 tpctl list
    [[ ${lines[0]} = *ID*STATE*STATUS*TASKS*NODES*TIME*COMMAND ]]
    [[ ${lines[1]} =~ ^\ *2\ running\ +-\ +3\ +1\ +[0-9.]+s\ sleep\ 60$ ]]
    [ "${#lines[@]}" = 2 ]
    kill "$job"
    finish
    equal "$(states -a)" $'1 complete 1\n2 complete 143'
    equal "$(tpctl list)" ''
}

@test "a program that ends while the list is printed is complete in it" {
    local i long
    long=$(head -c 100000 /dev/zero | tr '\0' a)
    for i in 1 2; do
        tprun -n 1 true "$long"
    done
    start "$TPRUN" -n 1 sleep 60
    until_runs
    # The list waits for its reader before it comes to the last program.
    mkfifo list
    exec 8<>list
    "${TPRUN%/*}"/tpctl list -a --format=json >list 3>&- 8>&- &
    local writer=$!
    wait_for 5 is_full 8
    kill "$job"
    finish
    jq -c '.programs[-1] | [.id, .state, .status, .command[0]]' <list >last 3>&- 8>&- &
    local reader=$!
    exec 8>&-
    wait "$writer" "$reader"
    equal "$(cat last)" '["3","complete",143,"sleep"]'
}
is_full() { # DESCRIPTOR: of a pipe
    python3 -c 'import array, fcntl, termios; n = array.array("i", [0]); fcntl.ioctl('"$1"', termios.FIONREAD, n); exit(n[0] < 65000)'
}

@test "list --format=json has what programs need" {
    tprun -n 2 true 'a b'
    run -0 tpctl list -a --format=json
    jq -e --arg user "$(id -un)" '.version == 1 and (.programs | length) == 1 and (.programs[0] |
        .id == "1" and .state == "complete" and .ntasks == 2 and .nnodes == 1 and .command == ["true", "a b"] and
        .user == $user and .status == 0 and .t_new > 1e9 and .t_end > .t_new and .lost == false)' <<<"$output"
}

@test "info says where each task ran, and how it ended" {
    run tprun -n 3 sh -c 'case $TPRUN_RANK in 0) exec sleep 60 ;; 1) exit 5 ;; esac'
    run -0 tpctl info 1
    for line in 'program    1' 'instance   this machine' 'state      complete' 'status     5' 'tasks      3 on 1 node' \
        'reason     rank 1 on '*; do
        grep -q "^$line" <<<"$output"
    done
    grep -Eq "^ +1 $(hostname) .* exit 5$" <<<"$output"
    grep -Eq "^ +0 $(hostname) .* SIGTERM, by tprun$" <<<"$output"
    run -0 tpctl info 1 --format=json
    jq -e --arg host "$(hostname)" '.version == 1 and .R.version == 1 and .taskmap.version == 1 and
        .nodes == [{id: 0, host: $host}] and (.tasks | length) == 3 and
        (.tasks[1] | .rank == 1 and .host == $host and .pid > 1 and .state == "ended" and .status == 5 and .signal == null and
            .t_start > 1e9 and .t_end >= .t_start and .maxrss_kib > 0 and .utime >= 0 and .stime >= 0) and
        (.tasks[0] | .signal == 15 and .status == null and .by_tprun)' <<<"$output"
}

@test "info of a run shows the processors that the kernel had for its tasks" {
    start "$TPRUN" -n 2 --map-by core --bind-to core sleep 60
    until_runs
    for rank in 0 1; do
        pid=$(tpctl info 1 --format=json | jq ".tasks[$rank].pid")
        equal "$(tpctl info 1 --format=json | jq -r ".tasks[$rank].cpus")" "$(sed -n 's/Cpus_allowed_list:\t//p' "/proc/$pid/status")"
    done
    kill "$job"
    finish
}

@test "list and info name the states pending, starting, running and complete" {
    start "$TPRUN" -n 1 sh -c 'until [ -e go ]; do sleep 0.05; done'
    until_runs
    tprun --after 1 true &
    wait_for 5 eval '[ "$(states)" = "1 running null
2 pending null" ]'
    local id
    for id in 1 2; do
        run -0 tpctl info "$id"
        grep -qx "state      $([ "$id" = 1 ] && echo running || echo pending)" <<<"$output"
    done
    touch go
    finish
    tpctl wait --for pending 2
    tpctl wait --for starting 2
    tpctl wait --for running 2
    tpctl wait 2
    equal "$(states -a)" $'1 complete 0\n2 complete 0'
}

@test "a program whose tasks take long to start is starting, and running once they all have" {
    need_plain_build "another library cannot come first"
    cat >slow.c <<'END'
#include <sys/syscall.h>
#include <unistd.h>
int execve(const char *path, char *const *argv, char *const *envp)
{
    while (access("start", F_OK) < 0)
        usleep(10000);
    return (int)syscall(SYS_execve, path, argv, envp);
}
END
    "${CC:-cc}" -shared -fPIC -o slow.so slow.c
    LD_PRELOAD=$PWD/slow.so start "$TPRUN" -n 2 sh -c 'until [ -e go ]; do sleep 0.05; done'
    wait_for 10 eval '[ "$(states)" = "1 starting null" ]'
    run -0 tpctl list
    [[ ${lines[1]} =~ ^\ *1\ starting\ +-\ +2\ +1\  ]]
    run -0 tpctl info 1
    grep -qx 'state      starting' <<<"$output"
    tpctl wait --for starting 1
    run -124 tpctl wait --for running --timeout 0.2 1
    touch start
    tpctl wait --for running 1
    equal "$(states)" "1 running null"
    touch go
    finish
    equal "$(states -a)" "1 complete 0"
}

@test "the spec that is kept of a program gives the same layout again" {
    local places='[.tasks[] | [.rank, .app, .cpus]]' kept
    tprun -n 2 --map-by core --bind-to core --order sequential true : -n 1 --bind-to none true
    kept=$(tpctl info 1 --format=json)
    jq .spec <<<"$kept" | tprun --spec - --dry-run --format=json >planned
    equal "$(jq -c "$places" planned)" "$(jq -c "$places" <<<"$kept")"
    jq .spec <<<"$kept" | tprun --spec -
    equal "$(tpctl info 2 --format=json | jq -c "$places")" "$(jq -c "$places" <<<"$kept")"
}

@test "an id that a task names is of the instance that the task runs in" {
    tpres discover >R.json
    tprun true
    tprun -R R.json -n 1 true
    equal "$(tprun -R R.json -n 1 tpctl info 1 | grep ^instance)" "instance   R file $(realpath R.json)"
    equal "$(tprun -n 1 tpctl info 1 | grep ^instance)" "instance   this machine"
}

@test "--why says where an option was said, in the order in which they hold" {
    echo '--map-by core' >site.conf
    export TPRUN_CONFIG=$PWD/site.conf
    tprun -n 1 --map-by socket true : -n 2 true
    run -0 tpctl info 1 --why map-by
    equal "$output" "--map-by core (part 1)    $PWD/site.conf, line 1
--map-by socket (part 1)    command line
--map-by core (part 2)    $PWD/site.conf, line 1"
    equal "$(tpctl info --why=--oversubscribe 1 | head -1)" "--oversubscribe (part 1)    TPRUN_OPTIONS"
    equal "$(tpctl info --why bind_to 1)" "--bind-to was not given: the default"
    equal "$(tpctl info --why umask 1)" "--umask was not given: the caller's"
    equal "$(tpctl info --why resources 1)" "--resources was not given: those of the program or the batch job around it, or this machine"
    equal "$(tpctl info --why -n 1 | head -1)" "$(tpctl info --why ntasks 1 | head -1)"
    run -2 --separate-stderr tpctl info --why task 1
    equal "${stderr%%$'\n'*}" "tpctl: --why task: tprun has no such option ('tprun --help options' lists them)"
}

@test "@ and current are the program that the caller is a task of" {
    run -3 --separate-stderr tpctl current
    [ -z "$output$stderr" ]
    run -3 --separate-stderr tpctl info @
    equal "$stderr" "tpctl: @ is the caller's own program, and this process is a task of none"
    equal "$(tprun -n 1 tpctl current)" 1
    equal "$(tprun -n 1 tpctl info @ --format=json | jq -r .id)" 2
    equal "$(tprun -n 1 "$TPRUN" -n 1 tpctl current)" 4
    # what was copied from a task is not believed once that is over
    tprun -n 1 sh -c 'env | grep ^TPRUN_ >saved'
    run -3 env $(cat saved) tpctl current
}

@test "--parent is the program that encloses the caller's, and may be repeated" {
    inner='for up in "" --parent "--parent --parent"; do tpctl $up current; done; tpctl --parent --parent --parent current'
    run -3 --separate-stderr tprun "$TPRUN" "$TPRUN" sh -c "$inner"
    equal "$output" $'3\n2\n1'
    has_line "$stderr" "tpctl: --parent: program 1 is a task of no other"
    equal "$(tprun "$TPRUN" sh -c 'tpctl --parent info @ --format=json; tpctl info --parent @ --format=json' | jq -r .id)" $'4\n4'
    # ids are those of the parent's instance, and a signal reaches the parent
    tpres discover >R.json
    tprun -R R.json true
    file=$(basename "$TPRUN_RUNTIME_DIR"/*R-json-*)
    equal "$(tprun -R R.json "$TPRUN" tpctl list --parent --format=json | jq -r '.programs[] | "\(.instance)/\(.id)"')" "$file/2
$file/3"
    run -143 tprun "$TPRUN" sh -c 'tpctl --parent terminate --no-wait @; sleep 60'
}

@test "--parent is refused where there is no parent here" {
    run -1 --separate-stderr tpctl list --parent
    equal "$stderr" "tpctl: --parent: @ is the caller's own program, and this process is a task of none"
    run -3 --separate-stderr tpctl --parent current
    [ -z "$output$stderr" ]
    run -2 --separate-stderr tprun tpctl --parent --instance x list
    has_line "$stderr" "tpctl: --parent and --instance both say where to look: give one of them"
    # on another host the instance of the task's program is not found
    tprun true
    run -3 --separate-stderr tprun sh -c "TPRUN_INSTANCE_ID=0 exec \"$TPRUN\" sh -c 'echo \$TPRUN_ENCLOSING; tpctl --parent current'"
    equal "$output" 1
    has_line "$stderr" "tpctl: --parent: program 1 was started by a task of program 3 of $TPRUN_RUNTIME_DIR/this-machine-*, which is not on this machine"
}

@test "options may stand before the method" {
    tprun true
    name=$(basename "$TPRUN_RUNTIME_DIR"/this-machine-*)
    equal "$(tpctl --instance "$name" list -a --format=json)" "$(tpctl list -a --format=json)"
    equal "$(tpctl --format=json -a list)" "$(tpctl list -a --format=json)"
    run -2 --separate-stderr tpctl --status list
    equal "${stderr_lines[0]}" "tpctl: unknown option \"--status\" of list"
    run -0 tpctl -a list --help
    [[ ${lines[0]} = "Usage: tpctl list "* ]]
}

@test "current knows a task's program by its cgroup where the environment says nothing" {
    tpres discover >R.json
    tprun -R R.json true # another instance, whose program has the same number
    # shellcheck disable=SC2016 # for the task's shell
    run -0 tprun -n 1 sh -c 'grep -q "/tprun\." /proc/self/cgroup || { echo none; exit; }
        env -i TPRUN_RUNTIME_DIR="$TPRUN_RUNTIME_DIR" XDG_STATE_HOME="$XDG_STATE_HOME" "$0" current' "${TPRUN%/*}/tpctl"
    [ "$output" != none ] || skip "tasks have no cgroup here"
    equal "$output" 1
}

@test "a program that lost its manager is complete (lost), and what was known of it stays" {
    start "$TPRUN" -n 2 sleep 60
    until_runs
    kill -KILL "$(pgrep -P "$job" -x tprun-manager)"
    finish
    run -0 tpctl list -a
    [[ ${lines[1]} = *"1 complete (lost) "*" sleep 60" ]]
    run -0 tpctl info 1
    grep -q '^reason     the manager of the program was gone before its end$' <<<"$output"
}

@test "ids that nobody has are refused with status 3, and a wrong command line with 2" {
    tprun true
    for id in 9 01 x 1.2 nosuch/1; do
        run -3 --separate-stderr tpctl info "$id"
        equal "$stderr" "tpctl: there is no program $id"
    done
    run -2 --separate-stderr tpctl
    equal "${stderr_lines[0]}" "tpctl: missing method"
    run -2 --separate-stderr tpctl lst
    equal "${stderr_lines[0]}" "tpctl: unknown method \"lst\": the nearest is list"
    run -2 --separate-stderr tpctl cancel 1
    equal "${stderr_lines[0]}" "tpctl: unknown method \"cancel\": write terminate"
    run -2 --separate-stderr tpctl info
    equal "${stderr_lines[0]}" "tpctl: missing operand (expected tpctl info [OPTION...] ID)"
    run -2 --separate-stderr tpctl list --format xml
    equal "${stderr_lines[0]}" 'tpctl: --format: unknown format "xml" (expected text or json)'
    run -1 --separate-stderr tpctl list --instance nosuch
    equal "$stderr" 'tpctl: nosuch: there is no such instance; "tpctl list -a --format=json" has their names'
}

@test "each command that takes an id refuses one that nobody has, in one sentence" {
    local id command
    tprun true
    for id in 9 18446744073709551615 99999999999999999999 -1 '' . .. ../1 1/1 /1 1/ $'1\n' $'\x1b[2J'; do
        for command in info ps logs attach wait terminate reap "signal USR1" "wait --status"; do
            # shellcheck disable=SC2086 # words
            set -- $command
            if [ "$1" = signal ]; then set -- signal "$id" USR1; else set -- "$@" "$id"; fi
            run --separate-stderr tpctl "$@"
            [[ $status = [23] ]] || { echo "status $status: $*"; return 1; }
            [ -z "$output" ]
            [[ $stderr = "tpctl: "* ]]
            [[ $stderr != *$'\x1b'* ]]
            [ "$status" = 2 ] || [ "${#stderr_lines[@]}" = 1 ] || { echo "$*: $stderr"; return 1; }
        done
    done
    equal "$(states -a)" '1 complete 0'
}

@test "programs of several instances are told apart" {
    tpres discover >R.json
    tprun true
    tprun -R R.json true
    tprun -R R.json true
    run -0 tpctl list -a
    [[ ${lines[0]} = *INSTANCE* ]]
    [ "${#lines[@]}" = 4 ]
    equal "$(tpctl info 1 | grep ^instance)" "instance   this machine"
    equal "$(tpctl info 2 | grep ^instance)" "instance   R file $(realpath R.json)"
    file=$(tpctl info 2 --format=json | jq -r .instance)
    equal "$(tpctl info "$file/1" | grep ^instance)" "instance   R file $(realpath R.json)"
    equal "$(tpctl list -a --instance "$file" --format=json | jq -r '.programs[].id' | paste -sd' ')" '1 2'
    equal "$(tpctl list -a --instance "$TPRUN_RUNTIME_DIR/$file" --format=json | jq '.programs | length')" 2
    # where neither is the usual one
    tpres discover >other.json
    tprun -R other.json true
    tprun -R other.json true
    run -1 --separate-stderr tpctl info 2
    [[ $stderr = "tpctl: several instances have a program 2: write one of "* ]]
}

@test "what is over is found when the runtime directory is gone, as after a boot" {
    tprun true
    tpctl list -a >/dev/null
    rm -r "${TPRUN_RUNTIME_DIR:?}"/*
    equal "$(states -a)" '1 complete 0'
    tprun true
    equal "$(states -a)" $'1 complete 0\n2 complete 0'
}

@test "a state directory that cannot be written is said, and nothing is missing" {
    tprun true
    mkdir -p "$XDG_STATE_HOME"
    : >"$XDG_STATE_HOME/tprun"
    run -0 --separate-stderr tpctl list -a --format=json
    [[ $stderr = "tpctl: what is known of complete programs stays in $TPRUN_RUNTIME_DIR/this-machine-"*": "* ]]
    equal "$(jq -r '.programs[] | "\(.id) \(.status)"' <<<"$output")" '1 0'
    rm "$XDG_STATE_HOME/tprun"
    equal "$(states -a)" '1 complete 0'
}

# COMMAND where the state directory is mounted like that.
with_state() {
    local options=$1
    shift
    { [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null; } || skip "a file system can be mounted by root, in a namespace"
    mkdir -p "$XDG_STATE_HOME"
    run -0 --separate-stderr unshare -m sh -c "mount $options \"\$XDG_STATE_HOME\" && exec \"\$@\"" - "$@"
}

@test "a state directory that is full is said, and nothing is missing" {
    for i in 1 2 3; do tprun true; done
    with_state '-t tmpfs -o size=4k,nr_inodes=8 none' tpctl list -a --format=json
    [[ $stderr = "tpctl: what is known of complete programs stays in "*": cannot keep what is known of program "*": No space left on device"* ]]
    equal "$(jq -r '.programs[] | "\(.id) \(.status)"' <<<"$output")" $'1 0\n2 0\n3 0'
    equal "$(states -a)" $'1 complete 0\n2 complete 0\n3 complete 0'
}

@test "a state directory that is read-only is listed, with what could not be moved there" {
    tprun true
    tpctl list -a >/dev/null
    rm "$(STATE)"/index-*
    run tprun false
    with_state "-o bind,ro \"\$XDG_STATE_HOME\"" tpctl list -a --format=json
    [[ $stderr = "tpctl: what is known of complete programs stays in "*": Read-only file system" ]]
    equal "$(jq -r '.programs[] | "\(.id) \(.status)"' <<<"$output")" $'1 0\n2 1'
    with_state "-o bind,ro \"\$XDG_STATE_HOME\"" tpctl info 2
    run -0 tpctl reap --all
    equal "$(states -a)" ''
}

@test "what is listed is the same with the index of what is kept, and without" {
    for i in 1 2 3; do run tprun sh -c "exit $i"; done
    tpctl list -a --format=json >moved
    [ "$(wc -l <"$(STATE)/index-2")" = 3 ]
    tpctl reap 2
    tpctl list -a --format=json >indexed
    rm "$(STATE)/index-2"
    tpctl list -a --format=json >made
    [ "$(wc -l <"$(STATE)/index-2")" = 2 ]
    equal "$(jq -c '.programs[]' moved | grep -v '"id":"2"')" "$(jq -c '.programs[]' indexed)"
    equal "$(cat indexed)" "$(cat made)"
    # without a look at the logs
    command -v strace >/dev/null || skip "no strace here"
    strace -f -qq -e trace=openat -o trace tpctl list -a >/dev/null || skip "strace may not trace here"
    run -1 grep '"events"' trace
}

@test "a clock that was set back while a program ran harms nothing" {
    tprun true
    tpctl list -a >/dev/null
    sed -i 's/"timestamp":[0-9.]*,"name":"\(running\|complete\)"/"timestamp":1000000000.5,"name":"\1"/' "$(STATE)/1/events"
    rm "$(STATE)"/index-*
    equal "$(states -a)" '1 complete 0'
    run -0 tpctl list -a
    [[ ${lines[1]} =~ ^\ +1\ complete\ +0\ +1\ +1\ +0.0s\ true$ ]]
    tpctl info 1 >/dev/null
    tpctl wait 1
}

@test "a log that is cut at any byte is shown as far as it goes" {
    tprun -n 2 true
    tpctl list -a >/dev/null
    log=$(STATE)/1/events
    cp "$log" whole
    size=$(stat -c %s whole)
    for ((i = 0; i < size; i += 29)); do
        head -c "$i" whole >"$log"
        rm -f "$(STATE)"/index-*
        tpctl info 1 >/dev/null || { echo "cut at $i"; return 1; }
        [ "$(states -a)" = '1 complete null' ] || { echo "cut at $i: $(states -a)"; return 1; }
    done
    head -c 100 /dev/urandom >"$log"
    run -0 tpctl list -a
}

@test "a program whose log cannot be read is listed as unknown, and its file is named" {
    for i in 1 2 3; do tprun true; done
    tpctl list -a >/dev/null
    log=$(STATE)/1/events
    rm "$log" "$(STATE)/2/events" "$(STATE)"/index-*
    truncate -s 300M "$log"
    run -0 --separate-stderr tpctl list -a
    equal "$stderr" "tpctl: the log of program 1 cannot be read: $log: File too large
tpctl: the log of program 2 cannot be read: $(STATE)/2/events: it is missing"
    [[ ${lines[1]} =~ ^\ +1\ unknown\ +-\ +0\ +0\ +-\ $ ]]
    [[ ${lines[3]} =~ ^\ +3\ complete\ +0\  ]]
    run -0 --separate-stderr tpctl list -a --format=json
    jq -e --arg log "$log" '.programs[0] | .state == "unknown" and .lost == false and .command == null and .status == null and
        .t_new == null and .reason == "the log of program 1 cannot be read: \($log): File too large"' <<<"$output"
    run -1 --separate-stderr tpctl info 1
    equal "$stderr" "tpctl: the log of program 1 cannot be read: $log: File too large"
    tpctl reap 1 2
    equal "$(states -a)" '3 complete 0'
    # one that runs, too
    start "$TPRUN" sleep 60
    until_runs
    log=$TPRUN_RUNTIME_DIR/$(basename "$TPRUN_RUNTIME_DIR"/this-machine-*)/programs/4/events
    mv "$log" away
    mkdir "$log"
    run -0 --separate-stderr tpctl list
    equal "$stderr" "tpctl: the log of program 4 cannot be read: $log: Invalid argument"
    [[ ${lines[1]} =~ ^\ +4\ unknown\  ]]
    kill "$job"
    finish
}

@test "what another user has is not looked at" {
    tprun true
    tpctl list -a >/dev/null
    chown 12345 "$(STATE)"
    run -0 --separate-stderr tpctl list -a
    [[ $stderr = *"belongs to user 12345"* ]]
    [ "${#lines[@]}" -le 1 ]
    chown 0 "$(STATE)"
    chmod 755 "$TPRUN_RUNTIME_DIR"/this-machine-*
    run -0 --separate-stderr tpctl list -a
    [[ $stderr = *"has mode 0755 and lets others in"* ]]
    chmod 700 "$TPRUN_RUNTIME_DIR"/this-machine-*
}
