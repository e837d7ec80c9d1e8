# shellcheck disable=SC2154 # bats sets stderr
# What tasks find out about their program by PMIx_Query_info().
load ../lib/common
setup_file() { build_programs; }
setup() {
    start_test
    need_pmix_programs
}
teardown() { nothing_left; }

QUERY=$PROGRAMS/pmix-query
SPAWN=$PROGRAMS/pmix-spawn
CONNECTED='PROC HAS CONNECTED TO LOCAL PMIX SERVER'
# The answer, with names of namespaces, hosts and programs that are always the same.
told() {
    run -0 --separate-stderr tprun "$@"
    equal "$stderr" ""
    output=$(sed "s/tprun\.[0-9a-f]*\.[0-9]*/N/g; s/$(hostname)/HOST/g; s|$PROGRAMS/||g" <<<"$output")
}

@test "a query tells the job's name, parts, size, hosts and state" {
    told -n 1 "$QUERY" pmix.qry.ns pmix.qry.nsinfo pmix.qry.jst pmix.job.size pmix.job.napps \
        pmix.num.nodes pmix.nlist : -n 2 "$QUERY" x
    equal "$output" "$(cat <<'EOF_'
pmix.qry.ns N.0
pmix.qry.nsinfo [pmix.job.arr=[pmix.nspace=N.0 pmix.cmd.line=pmix-query pmix.qry.ns pmix.qry.nsinfo pmix.qry.jst pmix.job.size pmix.job.napps pmix.num.nodes pmix.nlist : pmix-query x pmix.job.size=3 pmix.num.nodes=1]]
pmix.qry.jst SUCCESS
pmix.job.size 3
pmix.job.napps 2
pmix.num.nodes 1
pmix.nlist HOST
EOF_
)"
}

@test "the table of processes has every task with its host, program, process and state" {
    told "$QUERY" pmix.qry.ptable : "$QUERY" x
    equal "$output" "pmix.qry.ptable [0:HOST:pmix-query:me:$CONNECTED:0 1:HOST:pmix-query:pid:$CONNECTED:0]"
    told -n 2 "$QUERY" pmix.nspace=. pmix.qry.lptable
    equal "$output" "pmix.qry.lptable [0:HOST:pmix-query:me:$CONNECTED:0 1:HOST:pmix-query:pid:$CONNECTED:0]"
}

@test "of several jobs one has to be named where only one can be meant" {
    # shellcheck disable=SC2016
    told --on-failure=continue sh -c '"$0" 1 "$@" || exit; sleep 2' "$SPAWN" \
        "$QUERY" pmix.qry.ns / pmix.nspace=. pmix.qry.ptable pmix.qry.nsinfo / pmix.job.size
    has_line "$output" "QUERY-PARTIAL-SUCCESS" # pmix.job.size: of which?
    told sh -c '"$0" 1 "$@" || exit; sleep 2' "$SPAWN" \
        "$QUERY" pmix.qry.ns / pmix.nspace=. pmix.qry.ptable pmix.qry.nsinfo
    has_line "$output" "pmix.qry.ns N.0,N.1"
    has_line "$output" "pmix.qry.ptable \[0:HOST:pmix-query:me:$CONNECTED:0\]"
    has_line "$output" "pmix.qry.nsinfo \[pmix.job.arr=\[pmix.nspace=N.1 * pmix.parent=.0.0\]\]"
}

@test "a query tells process sets, which --pset names, one name for several parts as well" {
    told --pset left "$QUERY" pmix.qry.psetnum pmix.qry.psets / pmix.pset.nm=left pmix.qry.pmems \
        / pmix.pset.nm=right pmix.qry.pmems : -n 2 "$QUERY" x : --pset right "$QUERY" x : --pset left -n 2 "$QUERY" x
    equal "$output" "$(cat <<'EOF_'
pmix.qry.psetnum 2
pmix.qry.psets left,right
pmix.qry.pmems [.0.0 .0.4 .0.5]
pmix.qry.pmems [.0.3]
EOF_
)"
    told "$QUERY" pmix.qry.psetnum pmix.qry.psets
    equal "$output" "$(printf 'pmix.qry.psetnum 0\npmix.qry.psets ')"
}

@test "spawned tasks are in the set that the spawn names, and in none of their parent's" {
    told --pset old "$SPAWN" pmix.pset.nm=new 2 "$QUERY" pmix.pset.nm=new pmix.qry.pmems
    has_line "$output" "pmix.qry.pmems \[.1.0 .1.1\]"
}

@test "a query tells what the program holds, and how long it may run" {
    told -n 2 --oversubscribe "$QUERY" pmix.num.anodes pmix.alist pmix.num.slots
    has_line "$output" "pmix.num.anodes 1"
    has_line "$output" "pmix.alist HOST"
    has_line "$output" "pmix.num.slots [12]"
    told --time-limit 90s "$QUERY" pmix.time.remaining
    has_line "$output" "pmix.time.remaining 8[0-9]"
    told "$QUERY" pmix.time.remaining
    equal "$output" "NOT-FOUND"
}

# openpmix 5.0 and later asks for these in PMIx_Resolve_nodes() and PMIx_Resolve_peers().
@test "a query tells the nodes of a job or of all jobs, and their tasks on a node" {
    if [ "$(pmix_major)" -lt 5 ]; then
        told "$QUERY" pmix.qry.node pmix.qry.peers
        equal "$output" "NOT-SUPPORTED"
        return
    fi
    told "$QUERY" pmix.qry.node pmix.qry.peers / pmix.nspace=. pmix.qry.node pmix.qry.peers \
        / pmix.nspace=. pmix.hname=nowhere pmix.qry.peers : "$QUERY" x
    equal "$output" "$(cat <<'EOF_'
pmix.qry.node HOST
pmix.qry.peers [.0.0 .0.1]
pmix.qry.node HOST
pmix.qry.peers [.0.0 .0.1]
pmix.qry.peers []
EOF_
)"
    told sh -c '"$0" 1 "$@" || exit; sleep 2' "$SPAWN" \
        "$QUERY" pmix.qry.node pmix.qry.peers / pmix.nspace=. pmix.qry.peers
    has_line "$output" "pmix.qry.node HOST"
    has_line "$output" "pmix.qry.peers \[.0.0 .1.0\]"
    has_line "$output" "pmix.qry.peers \[.1.0\]"
    told "$QUERY" pmix.nspace=nobody pmix.qry.node
    equal "$output" "NOT-FOUND"
}

@test "a query tells which keys can be queried, and which directives a spawn takes" {
    told "$QUERY" pmix.qry.keys pmix.qry.spawn pmix.qry.debug
    has_line "$output" "pmix.qry.keys pmix.qry.ns,*,pmix.qry.ptable,*"
    has_line "$output" "pmix.qry.spawn *pmix.wdir,*pmix.host,*"
    has_line "$output" "pmix.qry.debug "
}

@test "keys that are not known, and qualifiers that are wrong or missing, have a status" {
    told "$QUERY" pmix.nonsense
    equal "$output" "NOT-SUPPORTED"
    told "$QUERY" pmix.nonsense pmix.qry.ns
    equal "$output" "QUERY-PARTIAL-SUCCESS"
    told "$QUERY" pmix.nspace=nobody pmix.qry.jst
    equal "$output" "NOT-FOUND"
    told "$QUERY" pmix.nspace=nobody pmix.qry.ptable
    equal "$output" "NOT-FOUND"
    told "$QUERY" pmix.qry.pmems
    equal "$output" "BAD-PARAM"
    told "$QUERY" pmix.pset.nm=nobody pmix.qry.pmems
    equal "$output" "NOT-FOUND"
}
