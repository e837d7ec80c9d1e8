# All or none: what one host cannot execute is started on no host.
load common
setup_file() { start_cluster 4; }
teardown_file() { stop_cluster; }
setup() {
    start_cluster_test
    local host
    for host in node0 node1 node2 node3; do # /tmp is each host's own
        on $host sh -c "printf '#!/bin/sh\ntouch $PWD/started\n' >/tmp/own && chmod +x /tmp/own"
    done
}
teardown() {
    local host
    [ -n "${NO_CLUSTER:-}" ] || for host in node0 node1 node2 node3; do
        on $host rm -rf /tmp/own /tmp/place
    done
    hosts_clean
}

@test "no task of any host runs where some cannot execute it, and each reason names its ranks and hosts" {
    run_tprun -0 -n 8 --hosts 'node[0-3]' --map-by node /tmp/own
    rm started
    on node1 chmod -x /tmp/own
    on node2 rm /tmp/own
    on node3 rm /tmp/own
    run_tprun -126 -n 8 --hosts 'node[0-3]' --map-by node /tmp/own
    [ ! -e started ]
    equal "$stderr" "$(cat <<'EOF'
tprun: ranks 1,5 on node1: cannot run /tmp/own: found, but not executable (chmod +x makes it so)
tprun: ranks 2-3,6-7 on node[2-3]: cannot run /tmp/own: no such file
EOF
)"
}

@test "no task runs where a host further down the tree, or one part of a program, cannot execute it" {
    on node3 rm /tmp/own
    run_tprun -127 --fanout 1 -n 4 --hosts 'node[0-3]' --map-by node /tmp/own
    [ ! -e started ]
    equal "$stderr" "tprun: rank 3 on node3: cannot run /tmp/own: no such file"
    run_tprun -127 -n 3 --hosts 'node[0-3]' --map-by node touch "$PWD/started" : -n 1 /tmp/own
    [ ! -e started ]
    equal "$stderr" "tprun: rank 3 on node3: cannot run /tmp/own: no such file"
}

@test "a program that this machine has and the hosts have not is one to stage" {
    local there="no such file there; --stage /tmp/mine copies it from this machine"
    on head cp /bin/true /tmp/mine
    run_tprun -127 -n 2 --hosts 'node[0-1]' --map-by node /tmp/mine
    equal "$stderr" "tprun: ranks 0-1 on node[0-1]: cannot run /tmp/mine: $there"
    run_tprun -127 --hosts node0 /tmp/mine
    equal "$stderr" "tprun: rank 0 on node0: cannot run /tmp/mine: $there"
    run_tprun -0 --hosts node0 --stage /tmp/mine /tmp/mine
    on head rm /tmp/mine
}

@test "a working directory that is not on every host is named with those that lack it" {
    on node0 mkdir /tmp/place
    run_tprun -1 -n 3 --hosts 'node[0-2]' --map-by node --chdir /tmp/place touch "$PWD/started"
    [ ! -e started ]
    equal "$stderr" "tprun: ranks 1-2 on node[1-2]: cannot enter directory /tmp/place: No such file or directory"
    on head mkdir /tmp/typed
    run -1 --separate-stderr on head sh -c "cd /tmp/typed && '$TPRUN' -n 2 --hosts 'node[0-1]' --map-by node true"
    equal "$stderr" "tprun: ranks 0-1 on node[0-1]: cannot enter directory /tmp/typed: No such file or directory; --chdir names another"
    on head rmdir /tmp/typed
}

@test "a group whose program one host cannot execute is refused, starts nowhere, and the program goes on" {
    on node1 rm /tmp/own
    run_tprun -0 -v -n 2 --map-by node --oversubscribe --hosts 'node[0-1]' sh -c \
        "[ \$TPRUN_RANK != 0 ] || $PROGRAMS/pmi-spawn run map_by=node -- 2 /tmp/own"
    [ ! -e started ]
    has_line "$output" "cmd=spawn_result rc=1*"
    has_line "$stderr" "tprun: group 1: not started: cannot run /tmp/own: no such file"
}

@test "an MPI program of MPICH's on one host and one of Open MPI's on another are refused as one" {
    [ -x "$OPENMPI/mpi-hello" ] && [ -x "$PROGRAMS/mpi-hello" ] || skip "there are not both MPIs"
    run_tprun -1 --map-by node --hosts 'node[0-1]' -n 1 "$PROGRAMS/mpi-hello" : -n 1 "$OPENMPI/mpi-hello"
    has_line "$stderr" "tprun: ranks 0-1 on node*: $PROGRAMS/mpi-hello uses MPICH*, $OPENMPI/mpi-hello uses Open MPI, *: give each a tprun of its own*"
    equal "$(wc -l <<<"$stderr")" 1
}
