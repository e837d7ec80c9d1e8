# PMIx tools on the hosts of a program.
load common
setup_file() { start_cluster 2; }
teardown_file() { stop_cluster; }
setup() {
    start_cluster_test
    TOOL=$PROGRAMS/pmix-tool
    { [ -x "$TOOL" ] && serves_pmix; } || skip "no PMIx here"
}
teardown() {
    hosts_clean 4
    [ -n "${NO_CLUSTER:-}" ] || equal "$(for host in node0 node1; do contact $host; done)" ""
}

contact() { on "$1" find /tmp -name 'pmix.*.tool.*'; } # HOST: the file that tools look for
watch_on() {                                            # HOST FILE ARGUMENT...
    local uri
    uri=file:$(contact "$1")
    on "$1" "$TOOL" "$uri" watch "${@:3}" >"$2" 2>"$2.err" 3>&- &
    wait_for 5 grep -q watching "$2.err"
}

@test "a tool on any host sees what tasks of all hosts write" {
    start_on head "$TPRUN" --tools --hosts 'node[0-1]' -n 4 --map-by node sh -c \
        "until [ -e $PWD/go ]; do sleep 0.05; done; echo it is \$TPRUN_RANK; until [ -e $PWD/over ]; do sleep 0.05; done"
    wait_for 10 grep -q ' --uri ' err
    equal "$(grep -c ' on node0: --uri ' err)" 1
    local namespace
    namespace=$(sed -n 's/.*\.tool\.//p' err).0
    equal "$(contact node1 | sed 's/.*\.tool\.//')" "${namespace%.0}"
    watch_on node0 zero o "$namespace"
    watch_on node1 one o "$namespace"
    sleep 0.3
    : >go
    wait_for 5 lines_are zero 4
    wait_for 5 lines_are one 4
    : >over
    finish
    wait
    equal "$status" 0
    equal "$(sort zero)" "$(printf 'o%d: it is %d\n' 0 0 1 1 2 2 3 3)"
    equal "$(sort one)" "$(sort zero)"
}
