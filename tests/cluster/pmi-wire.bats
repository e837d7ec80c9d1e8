# What is said on the wire between hosts: the cases of tests/data/pmi-wire.txt, spoken by tasks on
# four of them; groups' barriers and rings have to cross.
load common
setup_file() { start_cluster 4; }
teardown_file() { stop_cluster; }
setup() { start_cluster_test; }
teardown() { hosts_clean; }

each_case() { # OPTIONS...
    local name names cases=$ROOT/tests/data/pmi-wire.txt
    names=$("$PROGRAMS/pmi-script" "$cases" all)
    [ "$(wc -l <<<"$names")" -gt 25 ]
    for name in $names; do
        # A ring goes round the tasks of a node first.
        [[ $name = ring* && "$*" = *node* ]] && continue
        tprun "$@" "$PROGRAMS/pmi-script" "$cases" "$name" || { echo "case $name"; return 1; }
    done
}

@test "each case is answered over four hosts, neighbours being on different ones" {
    each_case -n 8 --hosts 'node[0-3]' --map-by node
}

@test "each case is answered over two levels of agents" {
    each_case -n 4 --hosts 'node[0-3]' --map-by node --fanout 1
}

@test "who leaves is missed by a group that waits on another host" {
    run --separate-stderr tprun -n 2 --hosts 'node[0-1]' --map-by node bash -c '
        say() { echo "$1" >&$PMI_FD; read -r reply <&$PMI_FD; }
        say "cmd=init pmi_version=1 pmi_subversion=2"
        if [ $PMI_RANK = 1 ]; then sleep 1; say cmd=finalize; exit 0; fi
        say "cmd=barrier_in group=0,1:3"'
    [ "$status" != 0 ]
    has_line "$stderr" "tprun: rank 1 on node1: *without entering the PMI barrier that rank 0 waits in*"
}
