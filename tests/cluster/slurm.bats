# Inside of jobs of a real Slurm, on hosts node0 and node1 of two CPUs each; and beside its srun.
load common
load slurm
setup_file() {
    start_slurm CR_CPU CPUs=2
}
teardown_file() { stop_cluster; }
setup() {
    start_cluster_test
    unset TPRUN_OPTIONS
    need_cores 2
}
teardown() {
    [ -z "${NO_CLUSTER:-}" ] || return 0
    slurm scancel --user=root
    hosts_clean 8
}

# OPTIONS... -- COMMAND...: as a batch job, to its end and with its status; job.out and job.err are
# its output.
batch() {
    local options=()
    while [ "$1" != -- ]; do
        options+=("$1")
        shift
    done
    rm -f job.rc
    printf '#!/bin/bash\n%s\necho $? >%s\n' "${*:2}" "$PWD/job.rc" >job
    slurm sbatch --quiet -o "$PWD/job.out" -e "$PWD/job.err" "${options[@]}" "$PWD/job"
    wait_for 40 test -s job.rc
    return "$(cat job.rc)"
}
WHERE="sh -c 'echo \$TPRUN_RANK \$(hostname)'"

@test "in a batch job tprun uses the nodes of the job, each for as many tasks as it has CPUs" {
    batch -N 2 -n 3 -- "$TPRUN -v -n 3 $WHERE"
    local busy
    busy=$(sort job.out)
    [ "$busy" = "$(printf '0 node0\n1 node0\n2 node1')" ] || [ "$busy" = "$(printf '0 node0\n1 node1\n2 node1')" ]
    has_line "$(cat job.err)" 'tprun: resources: Slurm job * (SLURM_JOB_NODELIST), 2 nodes; *'
}

@test "more tasks than CPUs were granted are refused, and the job is named" {
    run ! batch -N 2 -n 2 --ntasks-per-node 1 -- "$TPRUN -n 3 $WHERE"
    has_line "$(cat job.err)" 'tprun: asked for 3 tasks, 2 fit * 1 slot granted by Slurm job *'
    equal "$(cat job.out)" ""
    batch -N 2 -n 2 --ntasks-per-node 1 -- "$TPRUN --oversubscribe -n 3 $WHERE"
    equal "$(wc -l <job.out)" 3
}

@test "without -n mpirun starts the job's tasks where Slurm would; tprun one, and says so" {
    ln -s "$TPRUN" mpirun
    batch -N 2 -n 2 --ntasks-per-node 1 -c 2 -- "$PWD/mpirun $WHERE"
    equal "$(sort job.out)" "$(printf '0 node0\n1 node1')"
    equal "$(cat job.err)" ""
    batch -N 2 -n 3 -- "$PWD/mpirun $WHERE"
    equal "$(wc -l <job.out)" 3
    batch -N 2 -n 2 --ntasks-per-node 1 -- "$TPRUN $WHERE"
    equal "$(cat job.out)" "0 node0"
    has_line "$(cat job.err)" \
        'tprun: 1 task is started for the 2 cores on 2 nodes of Slurm job *: -n all starts *'
}

@test "a task of several cores takes as many of those granted" {
    batch -N 1 -n 2 -- "$TPRUN -n 1 -c 2 $WHERE"
    equal "$(cat job.out)" "0 node0"
    run ! batch -N 2 -n 2 --ntasks-per-node 1 -- "$TPRUN -n 1 -c 2 $WHERE"
    has_line "$(cat job.err)" 'tprun: -c: Slurm job * grants fewer cores on each node *'
}

@test "two jobs on one node run on the CPUs that Slurm gave each" {
    printf '#!/bin/bash\n%s\n' "$TPRUN -n 1 sh -c '\"$PROGRAMS/where\"; sleep 2'" >job
    local i
    for i in 1 2; do slurm sbatch --quiet -w node0 -n 1 -o "$PWD/out.$i" "$PWD/job"; done
    wait_for 30 lines_are out.1 1
    wait_for 30 lines_are out.2 1
    cat out.1 out.2
    equal "$(cut -d' ' -f2 out.1 out.2)" "$(printf 'node0\nnode0')"
    [ "$(cut -d' ' -f3 out.1)" != "$(cut -d' ' -f3 out.2)" ]
}

@test "runs of one job do not get each other's CPUs" {
    batch -N 1 -n 2 -- "$TPRUN -n 1 sh -c 'until [ -e $PWD/go ]; do sleep 0.05; done' & sleep 1
        $TPRUN --no-wait -n 2 true; $TPRUN -n 1 $WHERE; touch $PWD/go; wait"
    has_line "$(cat job.err)" 'tprun: asked for 2 tasks, 1 fits *1 core held by other running programs was left out*'
    equal "$(cat job.out)" "0 node0"
}

@test "under salloc the nodes are those of the job, not the one where it was asked for" {
    equal "$(slurm salloc --quiet -N 2 -n 2 "$TPRUN" -n 2 sh -c 'hostname' | sort)" "$(printf 'node0\nnode1')"
}

@test "under srun on one node of the job it is still the job's nodes" {
    equal "$(slurm srun -w node1 -N 1 -n 1 -c 2 "$TPRUN" -n 2 hostname)" "$(printf 'node1\nnode1')"
}

@test "hosts may be named inside of a job" {
    batch -N 2 -n 2 -- "$TPRUN --hosts node1 -n 1 hostname"
    equal "$(cat job.out)" node1
}

@test "a job that is cancelled leaves nothing on any of its nodes" {
    printf '#!/bin/bash\n%s\n' "exec $TPRUN -N 2 -n 2 sh -c 'echo up; exec sleep 1000'" >job
    slurm sbatch --quiet -N 2 -n 2 --ntasks-per-node 1 -o "$PWD/out" "$PWD/job"
    wait_for 30 lines_are out 2
    slurm scancel --user=root
    hosts_clean 20
}

# Four tasks of a PMI program on both hosts: "ok", or the end of what was said.
cell() { # COMMAND...
    local said status=0
    said=$(slurm "$@" 2>&1 </dev/null) || status=$?
    if [ "$status" = 0 ] && [ "$(grep -o '[0-3] of 4' <<<"$said" | sort -u | wc -l)" = 4 ]; then
        echo ok
    else
        echo "not ($status: $(grep -v '^ *$' <<<"$said" | tail -n 1 | cut -c1-70))"
    fi
}
launchers() { # NAME PROGRAM: a line of the table
    local ours hydras sruns
    ours=$(cell "$TPRUN" --hosts node0,node1 -n 4 "$2")
    hydras=$(cell mpiexec.hydra -launcher ssh -hosts node0:2,node1:2 -n 4 "$2")
    sruns=$(cell srun --mpi=pmi2 -N 2 -n 4 "$2")
    printf '# %-22s tprun: %s; mpiexec.hydra: %s; srun: %s\n' "$1" "$ours" "$hydras" "$sruns" >&3
    # Slurm's library under MPICH's launcher is neither's of ours: it fails with that of MPICH 4.2.
    [ "$1" != "libpmi2 of Slurm" ] || hydras=ok
    equal "$ours $hydras $sruns" "ok ok ok"
}

@test "PMI programs run under tprun, mpiexec.hydra and srun" {
    [ -f /usr/include/slurm/pmi2.h ] || skip "no libpmi2-0-dev"
    need_mpich
    local built slurms=$BATS_TEST_TMPDIR/hello
    built=$(dirname "$TPRUN")/examples
    [ -x "$built/pmi-hello" ] || skip "no examples/pmi-hello beside tprun"
    "${CC:-cc}" -o "$slurms" -I/usr/include/slurm "$ROOT/examples/pmi2-hello.c" -lpmi2
    launchers "libpmi" "$built/pmi-hello"
    launchers "libpmi2" "$built/pmi2-hello"
    launchers "libpmi2 of Slurm" "$slurms"
    launchers "MPICH (PMI-1 built in)" "$PROGRAMS/mpi-ring"
}
