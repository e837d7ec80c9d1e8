# shellcheck disable=SC2154 # bats sets stderr and stderr_lines
# Whose library of the MPI ABI tasks load, on several hosts: each host looks for it by itself.
load common
load ../lib/mpi-abi
setup_file() {
    start_cluster 4
    abi_stand_ins "$BATS_FILE_TMPDIR"
}
teardown_file() { stop_cluster; }
setup() {
    start_cluster_test
    ABI=$BATS_FILE_TMPDIR
}
teardown() { hosts_clean 4; }

@test "tasks of all hosts load what --mpi names; a host that does not have it is named" {
    local mpi
    for mpi in mpich openmpi; do
        run_tprun -0 --hosts 'node[0-3]' -N 4 -x LD_LIBRARY_PATH="$ABI/both" --mpi $mpi "$ABI/abi"
        equal "$(cut -d' ' -f1 <<<"$output" | uniq -c | awk '{ print $1, $2 }')" "4 $mpi"
    done
    # of each host its own: /tmp is
    for mpi in 0 1 3; do on node$mpi cp -r "$ABI/mpich" /tmp/abi-own; done
    run_tprun -0 --hosts 'node[0,1,3]' -N 3 --mpi /tmp/abi-own "$ABI/abi"
    equal "$output" "$(printf 'mpich pmi1\n%.0s' 1 2 3)"
    run_tprun -1 --hosts 'node[0-3]' -n 8 --map-by slot --mpi /tmp/abi-own "$ABI/abi"
    for mpi in 0 1 3; do on node$mpi rm -r /tmp/abi-own; done
    equal "$output" ""
    has_line "$stderr" "tprun: rank* on node2: --mpi /tmp/abi-own: No such file or directory"
    equal "${#stderr_lines[@]}" 1
    # none has it
    run_tprun -1 --hosts 'node[0-3]' -N 4 --mpi nosuch "$ABI/abi"
    has_line "$stderr" "tprun: ranks 0-3 on node?0-3?: --mpi nosuch: no libmpi_abi.so.1 *"
}

@test "hosts where one program would load different libraries are named, and nothing is run" {
    local way
    on node0 cp -r "$ABI/mpich" /tmp/abi-own
    for way in 1 2 3; do on node$way cp -r "$ABI/openmpi" /tmp/abi-own; done
    for way in "-x LD_LIBRARY_PATH=/tmp/abi-own/lib" "--mpi /tmp/abi-own"; do
        # shellcheck disable=SC2086 # words
        run_tprun -1 --hosts 'node[0,3]' -N 2 $way "$ABI/abi"
        equal "$output" ""
        equal "$stderr" "tprun: ranks 0-1 on node[0,3]: $ABI/abi uses MPICH or one of its family on node0, Open MPI on node3, and no \
MPI_COMM_WORLD holds both: have one MPI for it on all hosts (--mpi chooses one for a program of the MPI ABI)"
        # tasks that are worlds of their own may differ
        # shellcheck disable=SC2086 # words
        run_tprun -0 --pmi none --hosts 'node[0,3]' -N 2 $way "$ABI/abi"
        equal "$(cut -d' ' -f1 <<<"$output" | sort)" "$(printf 'mpich\nopenmpi')"
    done
    for way in 0 1 2 3; do on node$way rm -r /tmp/abi-own; done
}

@test "one program of the MPI ABI runs on one host and on four with MPICH's library and with Open MPI's" {
    local mpi hosts n
    need_abis
    export OMPI_MCA_btl_tcp_if_include=10.9.0.0/24 # some systems set it to lo in openmpi-mca-params.conf
    abi_compile ring "$ROOT/examples/mpi-ring.c"
    abi_compile spawn "$ROOT/tests/programs/mpi-spawn.c"
    abi_compile version "$ROOT/tests/programs/mpi-version.c"
    for mpi in mpich:MPICH 'openmpi:Open MPI'; do
        for hosts in node0 'node[0-3]'; do
            n=8
            run_tprun -0 --hosts "$hosts" --map-by node -n $n --mpi "${mpi%:*}" ./ring
            equal "$(grep -c ' is on my left$' <<<"$output")" $n
            run_tprun -0 --hosts "$hosts" --map-by node -n $n --mpi "${mpi%:*}" ./version
            equal "$(sort -n <<<"$output" | cut -d: -f1)" "$(seq -f "%.0f of $n" 0 $((n - 1)))"
            equal "$(grep -c ": ${mpi#*:}" <<<"$output")" $n
            run_tprun -0 --hosts "$hosts" --map-by node -n 2 --mpi "${mpi%:*}" ./spawn 2
            equal "$(grep -c 'the sum is right$' <<<"$output")" 4
        done
    done
}
