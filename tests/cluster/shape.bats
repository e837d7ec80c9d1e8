# What is allocated by shape over several hosts.
load common
setup_file() { start_cluster 4; }
teardown_file() { stop_cluster; }
setup() { start_cluster_test; }
teardown() { hosts_clean; }

# node0 to node3, the two cores of each in a NUMA domain of their own, and properties.
write_domains() {
    printf '{"version":1,"execution":{"R_lite":[{"rank":"0-3","children":{"core":"0-1"}}],"nodelist":["node[0-3]"],
        "properties":{"odd":"1,3"}},"scheduling":{"writer":"TreePool","children":[{"ranks":"0-3",
        "topo":{"numa":[{"cores":"0"},{"cores":"1"}]}}]}}' >R
}

@test "with an R that has topology only the hosts that were granted are asked" {
    need_cores 2
    write_domains
    "$CLUSTER" link node1 down
    "$CLUSTER" link node3 down
    run_tprun -0 -v -R "$PWD/R" --requires 'not odd' --shape 'node=2/slot=2/core' "$PROGRAMS/where"
    equal "$(sort <<<"$output")" "$(printf '0 node0 0\n1 node0 1\n2 node2 0\n3 node2 1')"
    run_tprun -0 --start-timeout 20 -v -R "$PWD/R" --shape 'slot/numa{x}' "$PROGRAMS/where"
    equal "$output" "0 node0 0"
    has_line "$stderr" "*4 nodes; 1 of them asked"
    "$CLUSTER" heal
}

@test "hosts without an R are asked what they have, and then allocated from" {
    need_cores 2
    run_tprun -0 --hosts 'node[0-3]' --shape 'slot=3/node/core=2' "$PROGRAMS/where"
    equal "$(sort <<<"$output")" "$(printf '0 node0 0-1\n1 node1 0-1\n2 node2 0-1')"
    run_tprun -0 --hosts 'node[0-3]' --requires 'host:node3' --shape 'slot=2/core' "$PROGRAMS/where"
    equal "$(sort <<<"$output")" "$(printf '0 node3 0\n1 node3 1')"
}

@test "parts run on what earlier parts left, as the dry run showed it" {
    need_cores 2
    local parts=(--shape slot/core "$PROGRAMS/where" : --shape 'slot=2/node{x}' "$PROGRAMS/where" : --shape slot=2/core "$PROGRAMS/where")
    write_domains
    tprun --dry-run --format=json -R "$PWD/R" "${parts[@]}" |
        jq -r '.nodes as $n | .tasks[] | "\(.rank) \($n[.node].host) \(.cpus)"' >plan
    run_tprun -0 -R "$PWD/R" "${parts[@]}"
    equal "$(sort <<<"$output")" "$(cat plan)"
    equal "$(cat plan)" "$(printf '0 node0 0\n1 node1 0-1\n2 node2 0-1\n3 node0 1\n4 node3 0')"
}

@test "what one run was granted another one does not get" {
    need_cores 2
    write_domains
    start_on head "$TPRUN" -R "$PWD/R" --shape 'slot=3/node{x}' sh -c 'touch up.$TPRUN_RANK; while [ ! -e stop ]; do sleep 0.05; done'
    wait_for 10 test -e up.0 -a -e up.1 -a -e up.2
    run_tprun -0 -R "$PWD/R" --shape 'node{x}/slot=2/core' "$PROGRAMS/where"
    equal "$(sort <<<"$output")" "$(printf '0 node3 0\n1 node3 1')"
    run_tprun -1 -R "$PWD/R" --no-wait --shape 'node=2/slot/core' "$PROGRAMS/where"
    : >stop
    finish
    equal "$status" 0
}
