# Rank files and task maps over several hosts.
load common
setup_file() { start_cluster 4; }
teardown_file() { stop_cluster; }
setup() { start_cluster_test; }
teardown() { hosts_clean; }

@test "ranks of a rank file run on the hosts and processors that it names" {
    need_cores 2
    printf 'rank 3=node0 slot=1\n0 node2 1\nrank 1=+n0 slot=0\nrank 2=node3 slot=*\n' >ranks
    run_tprun -0 --hosts 'node[0-3]' --rankfile "$PWD/ranks" "$PROGRAMS/where"
    equal "$(sort <<<"$output")" "$(printf '0 node2 1\n1 node0 0\n2 node3 0-%d\n3 node0 1' $(($(nproc) - 1)))"
}

@test "hosts that no rank is on are not asked" {
    "$CLUSTER" link node1 down
    printf '0 node3 0\n1 node0 0\n' >ranks
    run_tprun -0 --hosts 'node[0-3]' --start-timeout 20 --rankfile "$PWD/ranks" hostname
    equal "$(sort <<<"$output")" $'node0\nnode3'
    run_tprun -0 --hosts 'node[0-3]' --start-timeout 20 --taskmap '[[2,2,1,1]]' hostname
    equal "$(sort <<<"$output")" $'node2\nnode3'
    "$CLUSTER" heal
}

@test "a host that is not there is refused before any agent starts" {
    printf '0 node0 0\n1 node7 0\n' >ranks
    run_tprun -1 --hosts 'node[0-3]' --rankfile "$PWD/ranks" touch started
    equal "$stderr" 'tprun: '"$PWD"'/ranks:2: rank 1: host "node7" is not allocated (allocated: node[0-3]); the nearest is node0'
    [ ! -e started ]
}

asked() { grep -o 'node[0-9]: agent is up' <<<"$1" | cut -d: -f1 | sort | xargs; }

@test "where -N says how many of a list of hosts are used, no others are asked" {
    local -x TPRUN_OPTIONS='' # with --oversubscribe those with most room are looked for
    run_tprun -0 -v --hosts 'node[0-3]' -N 2 --map-by node -n 2 hostname
    equal "$(sort <<<"$output" | xargs)" "node0 node1"
    equal "$(asked "$stderr")" "node0 node1"
    run_tprun -0 -v --hosts 'node[0-3]' -N 3 --per 1:node hostname
    equal "$(asked "$stderr")" "node0 node1 node2"
}

@test "hosts in place of those that are down, or that are another's name, are asked then" {
    "$CLUSTER" sshd node1 KILL
    run_tprun -0 -v --hosts 'node[0-3]' -N 2 -n 2 --map-by node hostname
    "$CLUSTER" boot node1 3>&-
    equal "$(sort <<<"$output" | xargs)" "node0 node2"
    run_tprun -0 -v --hosts node0,10.9.0.1,node2 -N 2 -n 2 --map-by node hostname
    equal "$(sort <<<"$output" | xargs)" "node0 node2"
    ln -s "$TPRUN" mpiexec.hydra
    run -0 --separate-stderr on head ./mpiexec.hydra -verbose -hosts node0,10.9.0.1,node2 -ppn 1 -n 2 hostname
    equal "$(sort <<<"$output" | xargs)" "node0 node2"
}

@test "where -ppn says how many hosts the ranks are on, mpiexec asks no others" {
    ln -s "$TPRUN" mpiexec.hydra
    run -0 --separate-stderr on head ./mpiexec.hydra -verbose -hosts node0,node1,node2,node3 -ppn 2 -n 3 hostname
    equal "$(sort <<<"$output" | uniq -c | xargs)" "2 node0 1 node1"
    equal "$(asked "$stderr")" "node0 node1"
}

@test "a task map runs as --dry-run showed it, and tasks are told so" {
    local map='1,3;0,4;2'
    tprun --dry-run --format=json --hosts 'node[0-3]' --oversubscribe --taskmap "$map" >plan.json
    jq -r '.nodes as $n | .tasks[] | "\(.rank) \($n[.node].host)"' plan.json >plan
    run_tprun -0 --hosts 'node[0-3]' --oversubscribe --taskmap "$map" "$PROGRAMS/where"
    equal "$(sort <<<"$output" | cut -d' ' -f1,2)" "$(cat plan)"
    equal "$(cat plan)" "$(printf '0 node1\n1 node0\n2 node2\n3 node0\n4 node1')"
    run_tprun -0 --hosts 'node[0-3]' --oversubscribe --taskmap "$map" \
        "$ROOT/tests/programs/pmi-get" PMI_process_mapping
    equal "$(sort -u <<<"$output")" "(vector,(1,1,1),(0,1,1),(2,1,1),(0,2,1))"
}
