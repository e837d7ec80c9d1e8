# shellcheck disable=SC2154 # bats sets stderr
# What tasks of two jobs do together on several hosts.
load common
setup_file() { start_cluster 4; }
teardown_file() { stop_cluster; }
setup() {
    start_cluster_test
    need_pmix_programs
}
teardown() { hosts_clean; }

CONNECT=$PROGRAMS/pmix-connect

# on_hosts HOSTS TASKS ARGUMENTS...: a task on each host
on_hosts() { run_tprun "$status_wanted" --hosts 'node[0-3]' --oversubscribe --map-by node -n "$@"; }

@test "two jobs that share their hosts connect" {
    status_wanted=-0 on_hosts 4 "$CONNECT" 4 'node0,node1,node2,node3'
    equal "$stderr" ""
    equal "$output" "$(printf 'the other job is 4 on node0,node1,node2,node3\n%.0s' 1 2)"
}

@test "two jobs on different hosts connect" {
    status_wanted=-0 on_hosts 1 "$CONNECT" 2 'node2'
    equal "$stderr" ""
    equal "$(sort <<<"$output")" "$(printf 'the other job is %s\n' '1 on node0' '2 on node2')"
}

@test "who waits for a job on another host that has ended is told" {
    status_wanted=-0 on_hosts 1 "$CONNECT" leave 2 node2
    equal "$stderr" ""
    [[ $output = LOST-CONNECTION || $output = NOT-FOUND ]]
}

@test "who waits for a job on another host of which a task is killed is told" {
    status_wanted=-137 on_hosts 1 --on-failure=continue "$CONNECT" die 2 node2
    equal "$output" LOST-CONNECTION
}

@test "who waits for tasks of another host that come too late gives up in time" {
    status_wanted=-0 on_hosts 1 "$CONNECT" late 2 node2
    equal "$output$stderr" "TIMEOUT"
}
