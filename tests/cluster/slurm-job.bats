# What the allocation of a job of a real Slurm holds for agents, where Slurm starts them: what Slurm accounts, GPUs,
# jobs of several components.
load common
load slurm

# slurmdbd and its database do not go together everywhere: the other tests need neither.
no_accounting() {
    sed -i '/^[[:space:]]*AccountingStorage/d' "$SLURM_CONF"
    "$CLUSTER" exec head grep -m 1 -E 'fatal|error: mysql' /tmp/slurmdbd.log >"$CLUSTER_DIR/no-accounting"
}
# Each node is made to show four GPUs. Slurm's are these, in their order; it knows GPUs by device files, for which some
# that each machine has stand in.
before_slurm() {
    local host device
    for host in node0 node1; do "$CLUSTER" exec $host "$ROOT/tests/cluster/standins/gpus" 4; done
    for device in null zero full random; do
        echo "NodeName=node[0-1] Name=gpu File=/dev/$device"
    done >"$CLUSTER_DIR/gres.conf"
    [ -z "$ACCOUNTED" ] || start_accounting >&2 || no_accounting
}
setup_file() {
    export ACCOUNTED='' SLURM_LINES='JobAcctGatherType=jobacct_gather/linux'$'\n'JobAcctGatherFrequency=task=1
    # the backfill scheduler alone starts jobs of several components
    SLURM_LINES+=$'\n'SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0,bf_interval=1
    if PATH=$PATH:/usr/sbin type slurmdbd mariadbd >/dev/null 2>&1; then
        ACCOUNTED=yes
        SLURM_LINES+=$'\n'AccountingStorageType=accounting_storage/slurmdbd$'\n'AccountingStorageHost=head
    fi
    start_slurm CR_CPU $'CPUs=2 Gres=gpu:4\nGresTypes=gpu'
    [ -n "${NO_CLUSTER:-}" ] || for host in node0 node1; do "$CLUSTER" sshd $host KILL; done
}
teardown_file() { stop_cluster; }
setup() {
    start_cluster_test
    unset TPRUN_OPTIONS DISPLAY XAUTHORITY
    need_cores 2
}
teardown() {
    [ -z "${NO_CLUSTER:-}" ] || return 0
    slurm scancel --user=root
    hosts_clean 12
}

# The file `job`, with these options of sbatch, to its end and with its status.
run_job() { # OPTIONS...
    rm -f job.rc
    slurm sbatch --quiet -o "$PWD/job.out" -e "$PWD/job.err" "$@" "$PWD/job"
    wait_for 60 test -s job.rc || { cat job.err; return 1; }
    return "$(cat job.rc)"
}
# The lines of a batch job on both nodes.
batch() { # LINES OPTIONS...
    printf '#!/bin/bash\n%s\necho $? >%s\n' "$1" "$PWD/job.rc" >job
    run_job -N 2 "${@:2}"
}

# Lines "JOB.STEP|NAME|STATE|SECONDS" of the job's steps.
accounted() { # JOB
    slurm sacct -nP -j "$1" -o jobid,jobname,state,cputimeraw,totalcpu
}
is_accounted() { accounted "$1" | grep -q '|tpagent|COMPLETED|'; }

@test "sacct shows the agents' step with the processor time of the tasks, and that it ended well" {
    [ -n "$ACCOUNTED" ] || skip "no slurmdbd or no mariadbd here"
    [ ! -e "$CLUSTER_DIR/no-accounting" ] || skip "slurmdbd does not run here: $(cat "$CLUSTER_DIR/no-accounting")"
    local job used
    # a second and a half of one processor on the node that srun reaches
    batch "echo \$SLURM_JOB_ID >id
        $TPRUN --per 1:node -N 2 --pmi none sh -c '[ \$TPRUN_RANK = 0 ] || python3 -c \"import time
while time.process_time() < 1.5: pass\"'" -n 2 --ntasks-per-node 1 -D "$PWD"
    job=$(cat id)
    wait_for 20 is_accounted "$job" || { accounted "$job"; return 1; }
    accounted "$job"
    used=$(accounted "$job" | awk -F'|' '$2 == "tpagent" { n = split($5, t, ":"); print int(t[n] + 60 * t[n - 1]) }')
    [ "$used" -ge 1 ]
}

# shellcheck disable=SC2016
SEES='echo "$(hostname) $ROCR_VISIBLE_DEVICES"'
hold_gpu() { # HOST
    printf '#!/bin/sh\necho >%s\nsleep 1000\n' "$PWD/held" >holder
    slurm sbatch --quiet -w "$1" -n 1 --overcommit --gres=gpu:1 -o /dev/null "$PWD/holder"
    wait_for 20 test -e held
}

@test "tasks get the GPUs that the job has on each node, and no others" {
    hold_gpu node1
    batch "$TPRUN -N 2 -n 2 -g 1 sh -c '$SEES'; $TPRUN -N 2 -n 2 -g 2 sh -c '$SEES'" -n 2 --ntasks-per-node 1 --gres=gpu:2
    cat job.out job.err
    equal "$(sort job.out)" "$(printf 'node0 0\nnode0 0,1\nnode1 1\nnode1 1,2')"
}

@test "more GPUs than the job has are refused, though the nodes have more" {
    run ! batch "$TPRUN -N 2 -n 2 -g 3 sh -c '$SEES'" -n 2 --ntasks-per-node 1 --gres=gpu:2
    cat job.err
    equal "$(cat job.out)" ""
    has_line "$(cat job.err)" 'tprun: *GPU*'
}

@test "under salloc, where no node is this machine, each agent says what its node was granted" {
    hold_gpu node0
    slurm salloc --quiet -N 2 -n 2 --ntasks-per-node 1 --gres=gpu:2 "$TPRUN" -N 2 -n 2 -g 2 sh -c "$SEES" >said
    equal "$(sort said)" "$(printf 'node0 1,2\nnode1 0,1')"
}

@test "the agents' step leaves the job's GPUs to steps of the job that run meanwhile" {
    batch "$TPRUN -N 2 -n 2 sh -c '[ \$TPRUN_RANK = 0 ] || { touch up; until [ -e go ]; do sleep 0.05; done; }' &
        until [ -e up ]; do sleep 0.05; done
        timeout 20 srun --overlap -N 2 -n 2 --gres=gpu:2 sh -c '$SEES'; touch go; wait \$!" \
        -n 2 --ntasks-per-node 1 --gres=gpu:2 -D "$PWD"
    equal "$(sort job.out)" "$(printf 'node0 0,1\nnode1 0,1')"
}

@test "of a job of several components one is used, and a line says which nodes are not" {
    printf '#!/bin/bash\n#SBATCH -N 1 -n 2\n#SBATCH hetjob\n#SBATCH -N 1 -n 2\n%s\necho $? >%s\n' \
        "$TPRUN -n 2 hostname; $TPRUN --hosts \$SLURM_JOB_NODELIST -n 1 hostname" "$PWD/job.rc" >job
    run_job
    cat job.err
    equal "$(cat job.out)" "$(printf 'node0\nnode0\nnode0')"
    equal "$(grep -c . job.err)" 1
    has_line "$(cat job.err)" 'tprun: Slurm job * has 2 components: the nodes of the first are used, node1 is not*'
}
