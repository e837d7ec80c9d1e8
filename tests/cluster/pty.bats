# --pty over several hosts: a shell on another host, and what others write beside it.
load common
load ../lib/tmux
setup_file() { start_cluster 2; }
teardown_file() { stop_cluster; }
setup() {
    need_tmux
    start_cluster_test
}
teardown() {
    close_terminal
    hosts_clean 8
}

# A shell on rank 0, on node0, of a tprun on the head; rank 1 is on node1.
run_shell() {
    open_terminal
    type_line "stty -g >before"
    wait_for 5 test -s before
    # shellcheck disable=SC2016 # for the tasks
    echo '[ $TPRUN_RANK = 0 ] && exec env PS1="inner> " bash --norc --noprofile -i
        cat; until [ -e go ]; do sleep 0.1; done; echo "a line"; echo "of rank $TPRUN_RANK"; exec sleep "${1:-0}"' >task
    type_line "'$CLUSTER' exec head env TEST_MARK=$TEST_MARK '$TPRUN' --pty --hosts 'node[0-1]' --map-by node -n 2 -l sh '$PWD/task' $*"
    see 'inner>'
}
at_outer() { screen | grep . | tail -n 1 | grep -q '^outer>'; }
ended_with() { # STATUS
    wait_for 20 at_outer
    # shellcheck disable=SC2016 # for the shell on the terminal
    type_line 'echo status $?; stty -g | cmp - before && echo rest""ored'
    see "status $1"
    see restored
}

@test "a shell on another host is as one here" {
    run_shell
    type_line 'hostname; tty; stty size'
    see node0
    see '/dev/pts/[0-9]+'
    see '24 80'
    type_line 'echo sleeps; sleep 300'
    see sleeps
    type_keys C-c
    # shellcheck disable=SC2016
    type_line 'echo it was $?'
    see 'it was 130'
    type_line 'sleep 301'
    see 'inner> sleep 301'
    sleep 0.5
    type_keys C-z
    see '.*Stopped +sleep 301'
    type_line 'fg'
    see 'sleep 301'
    type_keys C-c
    type_line 'trap "stty size" WINCH; echo tra""pped'
    see trapped
    resize_terminal 100 30
    see '.*30 100'
    type_line 'touch go'
    see '.*1: a line'
    see '1: of rank 1'
    type_line 'exit 4'
    ended_with 4
}

@test "an editor and top run on another host" {
    run_shell
    type_line 'vi -u NONE text'
    see '~'
    type_keys i
    type_line 'of node0'
    type_keys Escape
    type_line ':wq'
    wait_for 10 test -s text
    type_line 'top -d 1'
    see ' +PID +USER.*'
    type_keys q
    see 'inner>' # what is typed before top has set the terminal back is dropped
    type_line 'touch go; echo after""wards'
    see afterwards
    type_line 'exit'
    ended_with 0
}

@test "~. ends all on all hosts" {
    run_shell 100
    type_line 'touch go; nohup setsid sleep 302 >/dev/null 2>&1 &'
    see '1: of rank 1'
    type_line ''
    type_keys -l '~.'
    see 'tprun: ended by signal 1 .*'
    ended_with 129
}

@test "a front end that is killed leaves nothing on any host" {
    run_shell 100
    type_line 'touch go; nohup setsid sleep 303 >/dev/null 2>&1 & sleep 304'
    see '1: of rank 1'
    kill -KILL "$(processes head tprun | head -n 1)"
    wait_for 20 at_outer
    hosts_clean 8
}

# shellcheck disable=SC2154 # run_tprun sets stderr
@test "without a pseudo terminal a sentence names the host" {
    "$CLUSTER" exec node0 sh -c 'mkdir -p /tmp/none; mount --bind /tmp/none /dev/pts'
    run_tprun -1 --pty --hosts 'node[0-1]' --map-by node -n 2 true </dev/null
    has_line "$stderr" "tprun: rank 0 on node0: cannot make a terminal (--pty): /dev/ptmx: *"
    "$CLUSTER" exec node0 umount /dev/pts
}
