# shellcheck disable=SC2154,SC2030,SC2031 # bats sets output and stderr, common.bash job and status
# Programs of another user: directories, sockets, signals, output, ids. Each way is refused, and leaves them as they are.
load ../lib/common
load ../lib/tpctl
setup() {
    start_test
    { [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; } || skip "needs to be several users"
    chmod a+x "$BATS_RUN_TMPDIR" "$(dirname "$BATS_TEST_TMPDIR")" "$BATS_TEST_TMPDIR"
    # shellcheck disable=SC2016 # for the task's shell
    run -0 tprun -d sh -c 'trap "echo heard" USR1; echo secret; while :; do sleep 0.05; done'
    wait_for 10 eval '[ "$(tpctl logs 1)" = secret ]'
    run -0 tprun -d sh -c 'echo kept; exit 4'
    tpctl wait 2
    wait_for 10 eval '[ -e "$(STATE)/2/output.0" ]'
    install -d -m 700 -o 65534 -g 65534 theirs
    cd theirs
}
teardown() {
    cd "$BATS_TEST_TMPDIR" || return
    find run state -type d -exec chmod go-rwx {} + || true
    [ ! -e "$BATS_TEST_TMPDIR/theirs" ] || tpctl terminate --kill-grace 0 1 || true
    nothing_left 10
}
STATE() { echo "$XDG_STATE_HOME"/tprun/this-machine-*; }
# Somebody else, with our directories.
other() { HOME=/ setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }
# Nothing of what the other one did came through.
is_untouched() {
    equal "$(tpctl logs 1)" secret
    [ "$(tpctl list -a --format=json | jq -c '[.programs[] | [.id, .state]]')" = '[["1","running"],["2","complete"]]' ]
}

@test "another user's tprun and tpctl refuse our directories in one sentence, and change nothing" {
    local command
    run -1 --separate-stderr other "$TPRUN" true
    equal "${#stderr_lines[@]}" 1
    [[ "$stderr" == "tprun: "*"$TPRUN_RUNTIME_DIR"* ]]
    for command in "info 1" "ps 1" "logs 1" "attach 1" "signal 1 KILL" "terminate 1" "wait 1" "reap 1" "info 2" "logs 2" \
        "attach 2" "wait 2" "reap 2" "info $(basename "$(instance)")/1" "list" "list -a" "reap --all"; do
        # shellcheck disable=SC2086 # words
        run --separate-stderr other timeout 20 "$TPCTL" $command
        { [ "$status" -lt 124 ] && [ -z "$output" ] && [ "${#stderr_lines[@]}" -le 2 ] &&
            [[ "${stderr_lines[0]}" == "tpctl: $TPRUN_RUNTIME_DIR belongs to "*" (0), not to "*" (65534) who runs this: "* ]] &&
            { [[ $command == *list* || $command == *all ]] || [ "$status" = 3 ]; }; } ||
            { echo "$command: status $status: $output$stderr"; return 1; }
    done
    is_untouched
}

@test "the kernel lets another user into no directory, no socket, no log and no process of ours" {
    local path pid
    chmod a+rx "$TPRUN_RUNTIME_DIR" "$XDG_STATE_HOME" "$XDG_STATE_HOME/tprun" # as far as a user may have opened them
    for path in "$(instance)" "$(instance)/programs" "$(instance)/programs/1" "$(instance)/claims" \
        "$(instance)/programs/1/events" "$(instance)/programs/1/output.0" "$(STATE)" "$(STATE)/2" "$(STATE)/2/events" \
        "$(STATE)/2/output.0"; do
        run other ls "$path/"
        [ "$status" != 0 ] || { echo "listed: $path"; return 1; }
        run other cat "$path"
        [ "$status" != 0 ] || { echo "read: $path"; return 1; }
        run other sh -c "echo nonsense >>'$path'"
        [ "$status" != 0 ] || { echo "written: $path"; return 1; }
        run other rm -rf "$path"
        [ -e "$path" ]
    done
    run other "$PYTHON" -c 'import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])' "$(instance)/programs/1/control"
    [ "$status" != 0 ] && [[ "$output" == *PermissionError* ]] || { echo "$output"; return 1; }
    for pid in $(marked); do
        run other kill -KILL "$pid"
        [ "$status" != 0 ]
    done
    chmod go-rwx "$TPRUN_RUNTIME_DIR" "$XDG_STATE_HOME" "$XDG_STATE_HOME/tprun"
    is_untouched
}

@test "modes that let others in are refused, whatever the directory, and said with what to do" {
    local path
    for path in "$TPRUN_RUNTIME_DIR" "$(instance)" "$(instance)/programs"; do
        chmod 755 "$path"
        run -1 --separate-stderr tprun true
        [[ "$stderr" == "tprun: $path has mode 0755 and lets others in: chmod 700 it"* ]]
        equal "${#stderr_lines[@]}" 1
        chmod 700 "$path"
    done
    is_untouched
}
