# Hosts that cannot be reached: all at once, each with the stage it came to and ssh's own words.
load common
setup_file() { start_cluster 8; }
teardown_file() { stop_cluster; }
setup() { start_cluster_test; }
teardown() {
    [ -z "${NO_CLUSTER:-}" ] || return 0
    "$CLUSTER" heal 3>&-
    local host
    for host in node0 node1 node2 node3 node4; do
        rm -f "$("$CLUSTER" dir $host)/home/.bashrc"
        cp "$CLUSTER_DIR/key.pub" "$("$CLUSTER" dir $host)/authorized_keys"
    done
    hosts_clean 8
}

node_dir() { "$CLUSTER" dir "$1"; }

@test "a name that does not resolve, a refused port, a key not accepted and a missing agent are listed together" {
    : >"$(node_dir node2)/authorized_keys"
    "$CLUSTER" sshd node3 KILL
    SECONDS=0
    run_tprun -1 -n 4 --hosts 'nosuch,node[0-3]' --map-by node touch "$PWD/started"
    local took=$SECONDS
    "$CLUSTER" boot node3 3>&-
    [ ! -e started ]
    has_line "$stderr" "tprun: nosuch: *resolve*"
    has_line "$stderr" "tprun: node3: *connect*refused*"
    has_line "$stderr" "tprun: node2: *authenticate*denied*"
    [[ "$stderr" != *node0:* && "$stderr" != *node1:* ]]
    within 10 "$took"
}

@test "an agent that is not there is said to be at the stage exec" {
    run_tprun -1 -n 2 --hosts 'node[0-1]' --agent /nosuch/tpagent --map-by node true
    has_line "$stderr" "tprun: node?0-1?: not started: exec: */nosuch/tpagent*; install tprun there, or name its tpagent with --agent PATH (after *"
    has_line "$stderr" "tprun: 2 of 2 hosts did not start; nothing was run"
}

@test "an ssh command that is not there is named, and no fault of the hosts" {
    run_tprun -1 -n 2 --hosts 'node[0-1]' --ssh nosuchssh --map-by node true
    has_line "$stderr" "tprun: node?0-1?: not started: exec: cannot run nosuchssh: *"
}

@test "a host whose sshd has stopped is given up at the deadline, beside the others' failures" {
    "$CLUSTER" sshd node1 STOP
    SECONDS=0
    run_tprun -1 -n 3 --start-timeout 6s --hosts 'node[0-1],nosuch' --map-by node true
    local took=$SECONDS
    "$CLUSTER" sshd node1 CONT
    has_line "$stderr" "tprun: node1: *connect*"
    has_line "$stderr" "tprun: nosuch: *resolve*"
    [ "$took" -ge 5 ] && within 11 "$took"
}

@test "a host that is switched off is given up at the deadline" {
    "$CLUSTER" link node4 down
    SECONDS=0
    run_tprun -1 -n 2 --start-timeout 6s --hosts node0,node4 --map-by node true
    "$CLUSTER" link node4 up
    has_line "$stderr" "tprun: node4: *"
    [[ "$stderr" != *node0:* ]]
    within 12 "$SECONDS"
}

@test "what a login script prints before the agent speaks is skipped" {
    printf 'echo "Welcome to $(hostname)"; echo; printf "no newline \\001\\377"; echo on stderr >&2\n' \
        >"$(node_dir node1)/home/.bashrc"
    run_tprun -0 -n 2 --hosts 'node[0-1]' --map-by node hostname
    equal "$(sort <<<"$output")" "$(printf 'node0\nnode1')"
}

@test "a login script that prints very much is skipped too" {
    echo 'seq 30000; seq 30000 >&2' >"$(node_dir node1)/home/.bashrc"
    run_tprun -0 -n 2 --hosts 'node[0-1]' --map-by node hostname
    equal "$(sort <<<"$output")" "$(printf 'node0\nnode1')"
}

@test "a login script that exits is shown with what it printed" {
    echo 'echo "This account is closed"; exit 5' >"$(node_dir node1)/home/.bashrc"
    run_tprun -1 -n 2 --hosts 'node[0-1]' --map-by node true
    has_line "$stderr" "tprun: node1: *exec*"
    [[ "$stderr" == *"This account is closed"* ]]
}

@test "a login script that hangs is given up at the deadline" {
    echo 'echo thinking; sleep 10' >"$(node_dir node1)/home/.bashrc"
    run_tprun -1 -n 2 --start-timeout 5s --hosts 'node[0-1]' --map-by node true
    has_line "$stderr" "tprun: node1: *"
    [[ "$stderr" == *thinking* ]]
}

@test "a failing host behind the first of a tree is named as well" {
    : >"$(node_dir node3)/authorized_keys"
    run_tprun -1 --fanout 2 -n 8 --hosts 'node[0-7]' --map-by node true
    has_line "$stderr" "tprun: node3: *authenticate*"
    [[ "$stderr" != *node2:* ]]
}

@test "silent hosts of a tree, first and behind others, are given up within one deadline" {
    "$CLUSTER" link node2 down
    "$CLUSTER" link node4 down
    SECONDS=0
    run_tprun -1 --fanout 2 --start-timeout 6s -n 8 --hosts 'node[0-7]' --map-by node true
    local took=$SECONDS
    "$CLUSTER" link node2 up
    "$CLUSTER" link node4 up
    has_line "$stderr" "tprun: node?2,4?: not started: connect: no answer within * s (after up to * s)"
    has_line "$stderr" "tprun: 2 of 8 hosts did not start*"
    [ "$took" -ge 5 ] && within 8 "$took"
}

@test "hosts that can't reach each other are reached from tprun's own host" {
    local home
    home=$(node_dir head)/home
    mkdir -p -m 700 "$home/.ssh"
    mv "$CLUSTER_DIR/key" "$home/.ssh/key"
    printf 'Host *\n  IdentityFile ~/.ssh/key\n' >"$home/.ssh/config"
    run on node0 ssh node1 true
    [ "$status" != 0 ]
    run_tprun -0 --fanout 2 -n 8 --hosts 'node[0-7]' --map-by node hostname
    mv "$home/.ssh/key" "$CLUSTER_DIR/key"
    rm -r "$home/.ssh"
    equal "$(sort <<<"$output")" "$(printf 'node%d\n' 0 1 2 3 4 5 6 7)"
}

@test "hosts that fail in the same way share one line, with all names and the longest time" {
    "$CLUSTER" sshd node1 KILL
    "$CLUSTER" sshd node2 KILL
    run_tprun -1 -n 6 --hosts 'nosuch[1-3],node[0-2]' --map-by node true
    "$CLUSTER" boot node1 3>&-
    "$CLUSTER" boot node2 3>&-
    has_line "$stderr" "tprun: nosuch?1-3?: not started: resolve: ssh: Could not resolve hostname nosuch?1-3?: * (after up to * s)"
    has_line "$stderr" "tprun: node?1-2?: not started: connect: ssh: connect to host node?1-2? port 22: Connection refused (after up to * s)"
    equal "$(wc -l <<<"$stderr")" 3
}

@test "many names of one host make one line" {
    # a name that ssh knows, without asking anybody
    local home
    home=$(node_dir head)/home
    mkdir -p -m 700 "$home/.ssh"
    printf 'Host alias*\n  HostName node1\n' >"$home/.ssh/config"
    run_tprun -0 -n 1 --hosts 'alias[1-20]' hostname
    rm -r "$home/.ssh"
    equal "$output" node1
    has_line "$stderr" "tprun: alias* and alias* are one machine: it is used once"
    equal "$(wc -l <<<"$stderr")" 1
}

@test "a host that does not start is left out where -N needs fewer, and that is one line" {
    "$CLUSTER" sshd node0 KILL
    run_tprun -0 -N 1 --hosts 'node[0-1]' hostname
    local stderr1=$stderr output1=$output
    run_tprun -0 -N 2 -n 4 --hosts 'node[0-2]' --map-by node hostname
    "$CLUSTER" boot node0 3>&-
    equal "$output1" node1
    has_line "$stderr1" "tprun: node0: not started: connect: *refused*; left out, since the other hosts suffice"
    equal "$(wc -l <<<"$stderr1")" 1
    equal "$(sort <<<"$output")" "$(printf 'node1\nnode1\nnode2\nnode2')"
}

@test "where all hosts are needed, the message says how to go on without those that did not start" {
    "$CLUSTER" sshd node0 KILL
    run_tprun -1 -N 2 --hosts 'node[0-1]' touch "$PWD/started"
    local stderr1=$stderr
    run_tprun -1 -n 2 --map-by node --hosts 'node[0-1]' touch "$PWD/started"
    [ ! -e started ]
    has_line "$stderr1" "tprun: 1 of 2 hosts did not start; nothing was run; -N 1 goes on without it"
    has_line "$stderr" "tprun: 1 of 2 hosts did not start; nothing was run; --exclude node0 goes on without it"
    run_tprun -0 -N 1 --hosts 'node[0-1]' hostname
    equal "$output" node1
    run_tprun -0 -n 2 --map-by node --hosts 'node[0-1]' --exclude node0 --oversubscribe hostname
    "$CLUSTER" boot node0 3>&-
    equal "$output" "$(printf 'node1\nnode1')"
}

@test "of a set of resources the next host is used in place of one that does not start" {
    "$CLUSTER" sshd node0 KILL
    printf '{"version":1,"execution":{"R_lite":[{"rank":"0-2","children":{"core":"0"}}],"nodelist":["node[0-2]"]}}' >R
    run_tprun -0 -n 2 -R "$PWD/R" hostname
    "$CLUSTER" boot node0 3>&-
    equal "$(sort <<<"$output")" "$(printf 'node1\nnode2')"
    has_line "$stderr" "tprun: node0: *; left out, since the other hosts suffice"
}
