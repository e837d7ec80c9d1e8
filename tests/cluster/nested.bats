# What a task's run may use on several hosts, whose instances are not one.
load common
setup_file() { start_cluster 2; }
teardown_file() { stop_cluster; }
setup() { start_cluster_test && unset TPRUN_OPTIONS; }
teardown() { hosts_clean; }

@test "a task's run has what its program holds of its node, and no more, whatever it asks for" {
    local bind
    for bind in core none; do
        run_tprun -0 -n 2 --hosts 'node[0-1]' --map-by node --bind-to core \
            "$TPRUN" --bind-to $bind "$TPRUN" --bind-to $bind "$PROGRAMS/where"
        equal "$(sort -k2 <<<"$output")" "$(printf '0 node0 0\n0 node1 0')"
    done
}

@test "a task's run has all nodes that its program holds, also those without tasks" {
    write_R "$BATS_TEST_TMPDIR/R" 2
    run -0 on node0 "$TPRUN" -R "$BATS_TEST_TMPDIR/R" --shape node=2/slot/core=1 -n 1 "$TPRUN" -N 2 "$PROGRAMS/where"
    equal "$(sort <<<"$output")" "$(printf '0 node0 0\n1 node1 0')"
}

@test "what is no part of the program is refused on its other nodes, too" {
    need_cores 2
    write_R "$BATS_TEST_TMPDIR/R" 2
    run_tprun -1 -n 1 --hosts node1 --bind-to core "$TPRUN" -R "$BATS_TEST_TMPDIR/R" true
    [[ "$stderr" == *"tprun: R file $BATS_TEST_TMPDIR/R names node0, but program "*" has only node1"* ]]
    run_tprun -1 -n 1 --hosts node1 --bind-to core "$TPRUN" --hosts node0 true
    [[ "$stderr" == *"tprun: --hosts names node0, but program "*", which this run is a task of, has only node1"* ]]
}

@test "an instance of the same path and number on another host is not taken for the outer one" {
    # node1's own first program holds its core 0 while a task there of the head's first one runs.
    start_on node1 "$TPRUN" -n 1 --bind-to core sh -c "echo up; until [ -e $BATS_TEST_TMPDIR/go ]; do sleep 0.05; done"
    wait_for 10 lines_are out 1
    run_tprun -0 -n 1 --hosts node1 --bind-to core "$TPRUN" --no-wait sh -c "$PROGRAMS/where; sleep 0.5"
    equal "$output" "0 node1 0"
    # Both bind to core 0 there, and are told.
    has_line "$stderr" "tprun: node1: processor* also bound by a run of sh in *"
    : >"$BATS_TEST_TMPDIR/go"
    finish
    [ "$status" = 0 ]
}

@test "a task's run on another host has numbers of its own, and its programs are told only of these" {
    local tpctl
    tpctl=$(dirname "$TPRUN")/tpctl
    on node0 "$TPRUN" true
    run_tprun -0 -n 1 --hosts node1 "$TPRUN" sh -c 'echo "$TPRUN_PROGRAM $TPRUN_ENCLOSING"'
    equal "$output" '1 1'
    run_tprun -0 -n 1 --hosts node1 "$TPRUN" "$TPRUN" sh -c "echo \"\$TPRUN_PROGRAM \$TPRUN_ENCLOSING\"; $tpctl --parent current"
    equal "$output" $'2 1-2\n1'
    run_tprun -3 -n 1 --hosts node1 "$TPRUN" "$tpctl" --parent current
    has_line "$stderr" "tpctl: --parent: program 1 was started by a task of program * of */this-machine-*, which is not on this machine"
}
