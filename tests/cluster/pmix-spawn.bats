# shellcheck disable=SC2154 # bats sets stderr
# PMIx_Spawn() and PMIx_Query_info() on several hosts.
load common
setup_file() { start_cluster 4; }
teardown_file() { stop_cluster; }
setup() {
    start_cluster_test
    need_pmix_programs
}
teardown() { hosts_clean; }

SPAWN=$PROGRAMS/pmix-spawn
QUERY=$PROGRAMS/pmix-query

# spread ARGUMENTS...: run_tprun on these hosts, a task each
spread() { run_tprun -0 -n 3 --map-by node --oversubscribe --hosts 'node[0-2]' "$@"; }
shown() { grep '^rank' <<<"$output" | sed 's/ of tprun\.[0-9a-f]*\.[0-9]*/ of N/; s/, in .*, spawned/, spawned/' | sort; }

@test "a spawn over all hosts is one job, whose tasks know the rank of another host that asked" {
    spread "$SPAWN" pmix.mapby=node 6 "$SPAWN" show
    equal "$stderr" ""
    equal "$(shown)" "$(printf 'rank %d of 6, app 0, spawned 1, by rank 0 of N.0\n' 0 1 2 3 4 5)"
}

@test "apps go to the hosts that they name" {
    spread "$SPAWN" pmix.host=node2:4 2 hostname + pmix.host=node1 1 hostname + pmix.addhost=node0 1 hostname
    equal "$stderr" ""
    equal "$(grep ^node <<<"$output" | sort)" "$(printf 'node%d\n' 0 1 2 2)"
}

@test "what cannot be started on one host is not started on any, and its caller is told" {
    spread "$SPAWN" pmix.host=node1 1 sh -c 'sleep 5; echo started' + pmix.host=node2 1 ./nosuch
    equal "$output" "JOB-EXE-NOT-FOUND "
    equal "$stderr" "tprun: spawn refused: cannot run ./nosuch: no such file"
    hosts_clean
}

@test "a host of R that was not needed so far gets an agent" {
    write_R R 4
    run_tprun -0 -n 1 --oversubscribe -R "$PWD/R" "$SPAWN" pmix.host=node3 1 hostname
    has_line "$output" "node3"
    has_line "$output" "SUCCESS *"
}

@test "the table of processes has those of every host, and the local one those of its own" {
    local state="PROC HAS CONNECTED TO LOCAL PMIX SERVER"
    spread "$QUERY" pmix.qry.ptable pmix.qry.lptable pmix.nlist pmix.num.anodes
    equal "$stderr" ""
    output=${output//"$PROGRAMS/"/}
    has_line "$output" "pmix.qry.ptable \[0:node0:pmix-query:me:$state:0 1:node1:pmix-query:pid:$state:0 2:node2:pmix-query:pid:$state:0\]"
    has_line "$output" "pmix.qry.lptable \[0:node0:pmix-query:me:$state:0\]"
    has_line "$output" "pmix.nlist node0,node1,node2"
    has_line "$output" "pmix.num.anodes 3"
}

@test "queries and spawns work below inner agents" {
    run_tprun -0 --fanout 1 -n 4 --map-by node --oversubscribe --hosts 'node[0-3]' "$QUERY" pmix.qry.ptable
    has_line "$output" "*0:node0:*:me:*1:node1:*:pid:*2:node2:*:pid:*3:node3:*:pid:*"
    run_tprun -0 --fanout 1 --map-by node --oversubscribe --hosts 'node[0-3]' \
        sh -c "[ \$TPRUN_RANK != 0 ] || $SPAWN pmix.host=node1 1 $QUERY pmix.qry.ns / pmix.nspace=. pmix.qry.ptable; sleep 2" : \
        -n 3 sleep 3 # which knows nothing of PMIx
    has_line "$output" "SUCCESS *"
    has_line "$output" "pmix.qry.ns *.0,*.1"
    has_line "$output" "pmix.qry.ptable \[0:node1:*:me:*\]"
}

@test "process sets of a job are known on hosts that have none of their tasks" {
    run_tprun -0 --map-by node --oversubscribe --hosts 'node[0-2]' -n 1 \
        "$QUERY" pmix.qry.psets / pmix.pset.nm=far pmix.qry.pmems : --pset far -n 2 "$QUERY" x
    equal "$output$stderr" "$(printf 'pmix.qry.psets far\npmix.qry.pmems [.0.1 .0.2]')"
}
