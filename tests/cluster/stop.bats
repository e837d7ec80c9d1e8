# Programs on several hosts that are told to end.
load common
setup_file() { start_cluster 3; }
teardown_file() { stop_cluster; }
setup() { start_cluster_test; }
teardown() { hosts_clean 8; }

on_all=(--hosts 'node[0-2]' --map-by node)
# The front end, behind the command that took us to its host.
front_end() { processes head tprun | head -n 1; }

@test "on every host of a tree each process hears one signal, and tprun says to how many tasks" {
    # shellcheck disable=SC2016
    start_on head "$TPRUN" --fanout 1 "${on_all[@]}" --kill-grace 0.5s -n 6 sh -c \
        'exec "$PROGRAMS/heard" "heard.$TPRUN_RANK" exit 1'
    wait_for 20 lines_are out 6
    kill -TERM "$(front_end)"
    finish
    equal "$status" 1
    local file
    equal "$(ls heard.* | wc -l)" 24
    for file in heard.*; do
        equal "$(cat "$file")" 15 || { echo "$file"; return 1; }
    done
    # from outside of the host's namespace there is no pid to be told
    equal "$(cat err)" "tprun: told to end: sent SIGTERM to 6 tasks; SIGTERM again within 1 s ends them
tprun: ranks 0-5 on node[0-2]: exited with status 1"
}

@test "tasks that have ended before another host answers are among those that a signal was sent to" {
    start_on head "$TPRUN" "${on_all[@]}" -n 3 sh -c 'echo ready; exec sleep 30'
    wait_for 20 lines_are out 3
    # shellcheck disable=SC2046 # pids
    kill -STOP $(processes node2 tpagent)
    kill -TERM "$(front_end)"
    wait_for 5 grep -q "sent SIGTERM to" err
    # shellcheck disable=SC2046 # pids
    kill -CONT $(processes node2 tpagent)
    finish
    equal "$status" 143
    equal "$(head -n 1 err)" "tprun: told to end: sent SIGTERM to 3 tasks; SIGTERM again within 1 s ends them"
}

# node1 is reached when `go` is there; the agent of node2 is stopped before that, so that the others
# have said that they can start their tasks and wait for its word.
@test "a signal that comes before all hosts can start their tasks reaches all tasks" {
    local file
    printf 'while [ ! -e "%s/go" ]; do sleep 0.05; done\n' "$PWD" >"$("$CLUSTER" dir node1)/home/.bashrc"
    start_on head "$TPRUN" -v "${on_all[@]}" -n 3 sleep 30
    wait_for 20 grep -q 'node2: agent is up' err
    # shellcheck disable=SC2046 # pids
    kill -STOP $(processes node2 tpagent)
    touch go
    wait_for 20 grep -q 'program .*: 3 tasks on 3 nodes' err
    sleep 1
    kill -USR1 "$(front_end)"
    sleep 0.5
    # shellcheck disable=SC2046 # pids
    kill -CONT $(processes node2 tpagent)
    finish
    rm "$("$CLUSTER" dir node1)/home/.bashrc"
    equal "$status" 138
    has_line "$(cat err)" "tprun: ranks 0-2 on node?0-2?: killed by signal 10*"
}

@test "after SIGTERM tasks on all hosts have the time to save" {
    # shellcheck disable=SC2016
    start_on head "$TPRUN" --fanout 1 "${on_all[@]}" -n 6 sh -c '
        trap "sleep $((2 + 4 * TPRUN_RANK))e-1; echo saved; exit 143" TERM
        echo ready; while :; do sleep 0.05; done'
    wait_for 20 lines_are out 6
    kill -TERM "$(front_end)"
    finish
    equal "$status" 143
    equal "$(grep -c saved out)" 6
    has_line "$(cat err)" "tprun: waiting up to 30 s for * tasks to end after SIGTERM"
}

@test "SIGTERM to all processes of tprun on its host, ssh as well, leaves tasks the time to save" {
    # shellcheck disable=SC2016
    start_on head "$TPRUN" "${on_all[@]}" -n 3 sh -c '
        trap "sleep 0.6; echo saved; exit 143" TERM
        echo ready; while :; do sleep 0.05; done'
    wait_for 20 lines_are out 3
    equal "$(processes head ssh | wc -l)" 3
    # shellcheck disable=SC2046 # pids
    kill -TERM $(front_end) $(processes head tprun-manager) $(processes head ssh)
    finish
    equal "$status" 143
    equal "$(grep -c saved out)" 3
    equal "$(grep -c lost err)" 0
}

@test "tasks of a task's tprun hear a signal once on every host, and it goes on" {
    local name number
    write_R "$BATS_TEST_TMPDIR/R" 2
    for name in TERM INT USR1; do
        number=$(printf %02d "$(kill -l $name)")
        rm -f heard.*
        # shellcheck disable=SC2016
        start_on node0 "$TPRUN" -R "$BATS_TEST_TMPDIR/R" --shape node=2/slot/core=1 -n 1 "$TPRUN" -N 2 \
            sh -c 'exec "$PROGRAMS/heard" "heard.$TPRUN_RANK"'
        wait_for 20 lines_are out 2
        kill -$name "$(processes node0 tprun | head -n 1)"
        wait_for 5 all_heard 8 "$number"
        sleep 0.5
        all_heard 8 "$number"
        equal "$(processes node1 heard | wc -l)" 4
        equal "$(processes node0 ssh | wc -l)" 2 # one of each tprun
        kill -KILL "$(processes node0 tprun | head -n 1)"
        finish
        hosts_clean 8
    done
}
all_heard() { # FILES NUMBER: that and nothing else is in each of them
    local file
    equal "$(ls heard.* | wc -l)" "$1"
    for file in heard.*; do
        equal "$(cat "$file")" "$2" || { echo "$file"; return 1; }
    done
}

@test "tasks that do not end after the first exit are killed on every host" {
    # shellcheck disable=SC2016
    start_on head "$TPRUN" "${on_all[@]}" --kill-grace 1s -n 3 sh -c '
        [ $TPRUN_RANK = 1 ] && trap "exit 0" TERM || trap "" TERM
        echo ready; while :; do sleep 0.05; done'
    wait_for 20 lines_are out 3
    kill -TERM "$(front_end)"
    finish
    equal "$status" 143
    has_line "$(cat err)" "tprun: 2 tasks did not end within 1 s of the first exit after SIGTERM: killed"
}
