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
    [ "$took" -le 10 ]
}

@test "an agent that is not there is said to be at the stage exec" {
    run_tprun -1 -n 2 --hosts 'node[0-1]' --agent /nosuch/tpagent --map-by node true
    has_line "$stderr" "tprun: node0: *exec*"
    has_line "$stderr" "tprun: node1: *exec*"
    [[ "$stderr" == */nosuch/tpagent* ]]
}

@test "a host whose sshd has stopped is given up at the deadline, beside the others' failures" {
    "$CLUSTER" sshd node1 STOP
    SECONDS=0
    run_tprun -1 -n 3 --start-timeout 3s --hosts 'node[0-1],nosuch' --map-by node true
    local took=$SECONDS
    "$CLUSTER" sshd node1 CONT
    has_line "$stderr" "tprun: node1: *connect*"
    has_line "$stderr" "tprun: nosuch: *resolve*"
    [ "$took" -ge 2 ] && [ "$took" -le 8 ]
}

@test "a host that is switched off is given up at the deadline" {
    "$CLUSTER" link node4 down
    SECONDS=0
    run_tprun -1 -n 2 --start-timeout 2s --hosts node0,node4 --map-by node true
    "$CLUSTER" link node4 up
    has_line "$stderr" "tprun: node4: *"
    [[ "$stderr" != *node0:* ]]
    [ "$SECONDS" -le 8 ]
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
    echo 'echo thinking; sleep 6' >"$(node_dir node1)/home/.bashrc"
    run_tprun -1 -n 2 --start-timeout 2s --hosts 'node[0-1]' --map-by node true
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
    has_line "$stderr" "tprun: node2: *"
    has_line "$stderr" "tprun: node4: *"
    has_line "$stderr" "tprun: 2 of 8 hosts did not start*"
    [ "$took" -ge 5 ] && [ "$took" -le 8 ]
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

@test "an ssh command that is not there is named" {
    run_tprun -1 -n 2 --hosts 'node[0-1]' --ssh /nosuch/ssh true
    [[ "$stderr" == */nosuch/ssh* ]]
}
