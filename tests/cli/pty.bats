# --pty: a terminal on rank 0. What somebody types and sees.
load ../lib/common
load ../lib/tmux
setup_file() { build_programs; }
setup() {
    start_test
    need_tmux
}
teardown() {
    close_terminal
    nothing_left 5
}

# A shell on rank 0 of a tprun in the shell of the terminal, whose modes are in `before`.
run_shell() {
    open_terminal
    type_line 'stty -g >before'
    wait_for 5 test -s before
    run_inner
}
run_inner() {
    type_line "TEST_MARK=$TEST_MARK '$TPRUN' --pty env PS1='inner> ' bash --norc --noprofile -i"
    see 'inner>'
}
front_end() { pgrep -P "$(terminal list-panes -F '#{pane_pid}')" -x tprun; }
at_outer() { screen | grep . | tail -n 1 | grep -q '^outer>'; }
# The terminal is as it was, and the exit status was that.
ended_with() { # STATUS
    wait_for 15 at_outer
    # shellcheck disable=SC2016 # for the shell on the terminal
    type_line 'echo status $?; stty -g | cmp - before && echo rest""ored'
    see "status $1"
    see restored
}

# ---- a shell on it ----

@test "a shell with --pty has a terminal of its own, of the size of the user's" {
    run_shell
    type_line 'tty; stty size; [ -t 0 ] && [ -t 1 ] && [ -t 2 ] && echo a"" terminal'
    see '/dev/pts/[0-9]+'
    see '24 80'
    see 'a terminal'
    # shellcheck disable=SC2016
    type_line 'ps -o sid= -p $$ | tr -d " " | sed s/^$$\$/leads/; echo "$TERM" of it'
    see leads
    see "tmux.* of it|screen.* of it"
    type_line 'exit 7'
    see 'tprun: rank 0 on .*: exited with status 7'
    ended_with 7
}

@test "keys and modes that the user has set on the terminal hold inside" {
    open_terminal
    type_line 'stty erase ^H -ixon intr ^T; stty -g >before'
    wait_for 5 test -s before
    run_inner
    type_line 'stty -a | grep -o -e "erase = ^H" -e -ixon -e "intr = ^T"'
    see 'erase = \^H'
    see 'intr = \^T'
    see '-ixon'
    type_line exit
    ended_with 0
}

@test "Ctrl-C ends a command of the shell inside, and not the shell" {
    run_shell
    type_line 'echo sleeps; sleep 300'
    see sleeps
    type_keys C-c
    # shellcheck disable=SC2016
    type_line 'echo it was $?'
    see 'it was 130'
    type_line 'echo sleeps; sleep 301'
    wait_for 5 pgrep -f '^sleep 301$'
    # shellcheck disable=SC1003 # a key of tmux's
    type_keys 'C-\'
    # shellcheck disable=SC2016
    type_line 'echo it was $?'
    see 'it was 131'
    type_keys C-d
    see exit
    ended_with 0
}

@test "jobs of the shell inside are stopped, listed and go on" {
    run_shell
    type_line 'sleep 302'
    wait_for 5 pgrep -f '^sleep 302$'
    type_keys C-z
    see '.*Stopped +sleep 302'
    type_line 'bg'
    see '.*sleep 302 &'
    type_line 'jobs'
    see '.*Running +sleep 302 &'
    type_line 'fg'
    see 'sleep 302'
    type_keys C-c
    type_line 'exit'
    ended_with 130
}

@test "a window that gets another size does so inside" {
    run_shell
    type_line 'trap "stty size" WINCH; echo tra""pped'
    see trapped
    resize_terminal 100 30
    see '.*30 100'
    type_line 'echo on""wards' # bash forgets a signal that comes while its trap runs
    see onwards
    resize_terminal 60 20
    see '.*20 60'
    type_line exit
    ended_with 0
}

@test "an editor runs on it" {
    run_shell
    type_line 'vi -u NONE text'
    see '~'
    type_keys i
    type_line 'a line'
    type_keys Escape
    resize_terminal 100 30
    type_line ':wq'
    see 'inner>.*'
    wait_for 5 test -s text
    equal "$(head -n 1 text)" "a line"
    type_line 'exit'
    ended_with 0
}

@test "top runs on it, and is ended by its key" {
    run_shell
    type_line 'top -d 1'
    see ' +PID +USER.*'
    type_keys q
    see 'inner>' # what is typed before top has set the terminal back is dropped
    type_line 'echo after""wards'
    see afterwards
    type_line exit
    ended_with 0
}

# ---- other ranks ----

@test "other ranks read the end of file, and their lines begin in the first column" {
    open_terminal
    type_line 'stty -g >before'
    wait_for 5 test -s before
    # shellcheck disable=SC2016
    type_line "'$TPRUN' --pty -l -n 3 sh -c '[ \$TPRUN_RANK = 0 ] || { cat; sleep 0.\$TPRUN_RANK; echo one; echo two; exit; }; printf pro; read a; echo \"got \$a\"'"
    see pro
    see '2: two'
    see '1: one'
    type_line 'word'
    see 'got word'
    ended_with 0
}

@test "with -o the terminal's output is shown, and others' goes to files" {
    # shellcheck disable=SC2016
    run -0 tprun --pty -n 2 -o 'out.%r' sh -c 'echo of $TPRUN_RANK' </dev/null
    equal "${output//$'\r'/}" "of 0"
    equal "$(cat out.1)" "of 1"
    [ ! -e out.0 ]
    # shellcheck disable=SC2016
    run -0 tprun --pty --tee -n 1 -o 'out.%r' sh -c 'echo of $TPRUN_RANK' </dev/null
    equal "$(tr -d '\r' <out.0)" "of 0"
}

@test "without --pty no task has a terminal, and with it rank 0 alone" {
    run -0 tprun -n 1 sh -c 'tty || :' </dev/null
    equal "$output" "not a tty"
    # shellcheck disable=SC2016
    run -0 tprun --pty -n 1 sh -c 'tty' : -n 2 sh -c 'tty; [ -t 1 ] || echo $TPRUN_RANK has none' </dev/null
    has_line "${output//$'\r'/}" "/dev/pts/*"
    has_line "$output" "not a tty"
    has_line "$output" "2 has none"
}

# ---- stdin that is no terminal ----

@test "what is read from a pipe is typed, and so is its end" {
    run -0 bash -c "printf 'one\ntwo' | '$TPRUN' --pty sh -c 'stty -echo; cat; cat; echo; echo end'"
    has_line "${output//$'\r'/}" "end"
    run -0 bash -c "printf 'echo a\$((1 + 1))b\n' | '$TPRUN' --pty bash --norc --noprofile -i"
    has_line "${output//$'\r'/}" "*a2b"
    run -3 tprun --pty sh -c 'read a && exit 1; exit 3' </dev/null
}

@test "more than a terminal holds at a time is typed without loss" {
    seq 30000 >lines
    run -0 bash -c "'$TPRUN' --pty sh -c 'stty -echo; touch ready; cksum' < <(until [ -e ready ]; do sleep 0.1; done; cat lines)"
    equal "${output//$'\r'/}" "$(cksum <lines)"
    run -0 tprun --pty -i lines sh -c 'stty -echo; while read line; do last=$line; done; echo "last $last"'
    has_line "${output//$'\r'/}" "*last 30000"
}

@test "a program that closes its terminal goes on" {
    run -3 tprun --pty sh -c 'exec </dev/null >/dev/null 2>&1; sleep 0.5; exit 3' </dev/null
}

# shellcheck disable=SC2154 # bats sets stderr
@test "with --pty only rank 0 may read" {
    local what
    for what in all none 1 0-1 tools; do
        run -2 --separate-stderr tprun --pty -i "$what" true
        has_line "$stderr" "tprun: --pty: --input $what: *"
    done
    run -0 tprun --pty -i 0 true </dev/null
}

# ---- the end ----

@test "~. ends the program with all of its terminal, jobs of others sessions too" {
    run_shell
    type_line 'sleep 310 & nohup setsid sleep 311 >/dev/null 2>&1 &'
    wait_for 5 pgrep -f '^sleep 311$'
    type_line ''
    type_keys -l '~.'
    see 'tprun: ended by signal 1 .*'
    ended_with 129
    nothing_left 5
}

@test "~? shows what there is, ~~ is a tilde, and ~^Z suspends tprun alone" {
    run_shell
    type_line ''
    type_keys -l '~?'
    see ' ~\. +end the program.*'
    type_line '~~/nothing'
    see 'bash: .*/nothing: No such file or directory'
    type_line ''
    type_keys '~' C-z
    see '.*Stopped.*'
    ended_with 147
    type_line fg
    type_line 'echo ba""ck'
    see back
    type_line exit
    see exit
}

@test "a tprun that is suspended from outside gives the terminal back, and takes it again" {
    run_shell
    type_line 'kill -TSTP '"$(front_end)"
    see '.*Stopped.*'
    type_line 'stty -g | cmp - before && echo rest""ored'
    see restored
    type_line fg
    type_line 'echo ba""ck'
    see back
    type_line exit
    ended_with 0
}

@test "the terminal is restored when a signal ends tprun, or its manager is killed" {
    run_shell
    kill -ALRM "$(front_end)"
    ended_with 142
    run_inner
    kill -HUP "$(front_end)"
    ended_with 129
    run_inner
    kill -KILL "$(pgrep -P "$(front_end)" -x tprun-manager)"
    see 'tprun: the manager of this run is gone .*'
    ended_with 1
    run_inner
    kill -INT "$(front_end)"
    type_line 'exit 5'
    ended_with 5
}

@test "a front end that is killed leaves nothing, also of other sessions" {
    run_shell
    type_line 'sleep 312 & nohup setsid sleep 313 >/dev/null 2>&1 & sleep 314'
    wait_for 5 pgrep -f '^sleep 314$'
    kill -KILL "$(front_end)"
    see 'Killed.*'
    ended_with 137
    nothing_left 5
}

@test "what follows a typed line as wide as the terminal is seen" {
    open_terminal
    type_line "$(printf 'echo next %0*d | cut -c-4' 52 0)" # with the prompt 80 columns
    see "next"
    close_terminal
}

@test "a terminal that is closed ends the shell inside" {
    open_terminal
    cat >hear <<'END'
trap 'echo heard >hup; exit' HUP
echo ready
while :; do sleep 0.1; done
END
    type_line "TEST_MARK=$TEST_MARK '$TPRUN' --pty sh hear"
    see ready
    close_terminal
    wait_for 10 test -s hup
    nothing_left 5
}

# ---- none can be made ----

@test "without a pseudo terminal a sentence names the host" {
    [ "$(id -u)" = 0 ] || skip "not root, who may mount"
    unshare -m true || skip "namespaces are not permitted here"
    # shellcheck disable=SC2016
    run -1 --separate-stderr unshare -m sh -c 'mount -t tmpfs none /dev/pts; exec "$@"' x \
        timeout 60 "$TPRUN" --pty true </dev/null
    has_line "$stderr" "tprun: rank 0 on *: cannot make a terminal (--pty): /dev/ptmx: *: /dev/pts must be mounted (devpts)"
    # shellcheck disable=SC2016
    run -1 --separate-stderr unshare -m sh -c 'mount -t devpts -o newinstance,max=1,ptmxmode=666 devpts /dev/pts
        mount --bind /dev/pts/ptmx /dev/ptmx; exec 5<>/dev/ptmx; "$@"' x timeout 60 "$TPRUN" --pty true </dev/null
    has_line "$stderr" "tprun: rank 0 on *: cannot make a terminal (--pty): all * that /proc/sys/kernel/pty/max permits are in use*"
}
