# shellcheck disable=SC2154 # bats sets stderr
# Ctrl-C Ctrl-Z on the terminal of a run that was not started to go on: it does, in the background.
load ../lib/common
load ../lib/tmux
setup() {
    start_test
    export TPCTL=${TPRUN%/*}/tpctl
}
teardown() {
    close_terminal
    nothing_left 10
}

# A task that lives until `go` is there.
WAITS='until [ -e go ]; do sleep 0.05; done'
is_running() { "$TPCTL" list | grep -q '^ *1 *running'; }
is_over() { "$TPCTL" list -a | grep -q '^ *1 *complete'; }

background() {
    local pid
    for pid in $(marked); do
        [ "$(cat "/proc/$pid/comm")" != tprun ] || echo "$pid"
    done
}

# on_terminal COMMAND: in a shell of tmux.
on_terminal() {
    need_tmux
    open_terminal
    type_line "export TEST_MARK=$TEST_MARK; $1"
}
leave() {
    type_keys C-c C-z
    see 'tprun: program 1 goes on: "tpctl attach 1" shows it'
}

@test "Ctrl-C Ctrl-Z leaves a default run to itself, and the shell goes on" {
    # shellcheck disable=SC2016 # for the task
    on_terminal '"$TPRUN" -n 2 sh -c '\''echo ready; until [ -e go ]; do sleep 0.05; done; exit 3'\''; echo "status $?"'
    see ready
    leave
    see "status 0"
    type_line 'jobs; echo "typed ""here"'
    see "typed here"
    is_running
    local pid
    pid=$(background)
    [ "$(ps -o sid= -p "$pid")" -eq "$pid" ]
    [ "$(ps -o tty= -p "$pid")" = "?" ]
    equal "$(find "/proc/$pid/fd" -lname '/dev/pts/*')" ""
    close_terminal
    sleep 0.2
    is_running
    touch go
    run -3 "$TPCTL" wait --status 1
    wait_for 5 is_over
    tprun --no-wait -n "$(nproc)" true
}

@test "output is saved from when a default run is left, and what is missing is told" {
    # shellcheck disable=SC2016
    on_terminal '"$TPRUN" -l -n 2 sh -c '\''echo before; until [ -e go ]; do sleep 0.05; done; echo after; echo err >&2; sleep 0.5; exit 5'\'
    see '0: before'
    see '1: before'
    leave
    start "$TPCTL" attach -l 1
    wait_for 5 lines_are err 1
    has_line "$(cat err)" "tprun: output before *:*:* was not saved"
    touch go
    finish
    [ "$status" = 5 ]
    equal "$(sort out)" "0: after
1: after"
    has_line "$(cat err)" "0: err"
    has_line "$(cat err)" "tprun: rank* on *: exited with status 5"
    run -0 --separate-stderr "$TPCTL" logs 1
    equal "$(sort <<<"$output")" "0: after
1: after"
    has_line "$stderr" "tprun: output before *:*:* was not saved"
}

@test "nothing is lost between what the terminal shows and what is saved" {
    # else keys have the terminal itself drop what it has not shown, and stand inside of lines
    mkfifo answers
    # shellcheck disable=SC2016
    start sh -c 'timeout 30 script -qefc "stty noflsh -echo; exec \"$TPRUN\" sh -c \"i=0; until [ -e go ]; do echo line \\\$((i += 1)); done; echo \\\$i >last\"" typescript <answers'
    exec 8>answers
    wait_for 10 in_typescript "line 1000" 1
    printf '\003\032' >&8
    finish
    exec 8>&-
    [ "$status" = 0 ]
    sleep 0.3
    touch go
    "$TPCTL" wait 1
    "$TPCTL" logs --stdout 1 | sed -n 's/^line //p' >saved
    tr -d '\r' <typescript | sed -n 's/^.*line \([0-9]*\)$/\1/p' >shown
    equal "$(cat shown)" "$(seq "$(tail -n 1 shown)")"
    equal "$(cat saved)" "$(seq "$(head -n 1 saved)" "$(cat last)")"
    [ "$(head -n 1 saved)" -le $(($(tail -n 1 shown) + 1)) ]
}

@test "files of -o are written to the end by the process in the background, and lines stay whole" {
    # shellcheck disable=SC2016
    on_terminal '"$TPRUN" -o out.%r --tee -n 2 sh -c '\''echo before; printf par; echo ready >&2; until [ -e go ]; do sleep 0.05; done; echo tial'\'
    wait_for 10 grep -q before out.1
    see before
    leave
    touch go
    run -0 "$TPCTL" wait --status 1
    equal "$(cat out.0)" "before
partial"
    equal "$(cat out.1)" "before
partial"
    run -0 "$TPCTL" logs --stdout 1
    [[ "$(sort <<<"$output")" = *tial* ]]
}

@test "what waits for the end of another rank's line is written once, on the terminal and into a file" {
    # rank 0 is inside of a line that is too long to wait for its end in the agent
    cat >ranks <<'END'
if [ "$TPRUN_RANK" = 0 ]; then
    printf '%0200000d' 1
    : >inside
    until [ -e go ]; do sleep 0.05; done
    echo
else
    until [ -e inside ]; do sleep 0.05; done
    sleep 0.2
    echo the other rank
    : >waits
    until [ -e go ]; do sleep 0.05; done
fi
END
    on_terminal '"$TPRUN" -o out --tee -n 2 sh ranks'
    wait_for 10 test -e waits
    leave
    sleep 2.5 # longer than a rank waits for another
    touch go
    "$TPCTL" wait 1
    screen >terminal
    equal "$(grep -c 'the other rank' out terminal)" "out:1
terminal:1"
}

@test "a task that reads stdin has what was typed before, and its end; what comes then is the shell's" {
    on_terminal '"$TPRUN" sh -c '\''echo ready; cat >read; echo end >>read; until [ -e go ]; do sleep 0.05; done'\'
    see ready
    type_line "for the task"
    wait_for 5 grep -q "for the task" read
    leave
    type_line 'echo "for the ""shell"'
    see "for the shell"
    wait_for 5 grep -q end read
    equal "$(cat read)" "for the task
end"
    touch go
    "$TPCTL" wait 1
}

@test "--input FILE is read on" {
    mkfifo words
    on_terminal '"$TPRUN" --input words sh -c '\''echo ready; cat'\'
    exec 8>words
    see ready
    echo one >&8
    see one
    leave
    echo two >&8
    exec 8>&-
    run -0 "$TPCTL" wait --status 1
    equal "$("$TPCTL" logs --stdout 1)" two
}

@test "SIGKILL of the process in the background ends the program, and of the manager, too" {
    local name pid
    for name in tprun tprun-manager; do
        rm -rf run state
        mkdir -m 700 run
        on_terminal '"$TPRUN" -n 2 sh -c '\''echo ready; exec sleep 600'\'
        see ready
        leave
        for pid in $(marked); do
            [ "$(cat "/proc/$pid/comm")" != "$name" ] || kill -KILL "$pid"
        done
        wait_for 10 is_over
        close_terminal
        nothing_left 10
    done
}

@test "tpctl attach gives orders to a program that was left" {
    # shellcheck disable=SC2016
    on_terminal '"$TPRUN" -n 2 sh -c '\''trap "echo usr1" USR1; echo ready; while :; do sleep 0.05; done'\'
    see ready
    leave
    "$TPCTL" signal 1 USR1
    wait_for 5 eval '[ "$("$TPCTL" logs --stdout 1)" = "usr1
usr1" ]'
    "$TPCTL" terminate 1
    is_over
}

@test "Ctrl-C alone is a signal, soon, and twice is the end" {
    # shellcheck disable=SC2016
    on_terminal '"$TPRUN" sh -c '\''trap "echo caught; exit 6" INT; echo ready; while :; do sleep 0.05; done'\''; echo "status $?"'
    see ready
    type_keys C-c
    see caught
    see "status 6"
    # shellcheck disable=SC2016
    type_line '"$TPRUN" --kill-grace 60s sh -c '\''trap "" INT TERM; echo steady; while :; do sleep 0.05; done'\'''
    see steady
    type_keys C-c
    sleep 0.2 # two signals that come at once are one
    type_keys C-c
    see "tprun: ended by signal 2 .Interrupt."
    type_line 'echo "again $?"' # it is not run if it stands behind the command on its line
    see "again 13[07]"
}

@test "a program that cannot be saved stays with its terminal, and says why" {
    # shellcheck disable=SC2016
    on_terminal '"$TPRUN" sh -c '\''mkdir "$TPRUN_INSTANCE/programs/1/output.0"; echo ready; until [ -e go ]; do sleep 0.05; done'\''; echo "status $?"'
    see ready
    type_keys C-c C-z
    see 'tprun: cannot leave this program to itself: its output cannot be saved'
    is_running
    touch go
    see "status 0"
}
