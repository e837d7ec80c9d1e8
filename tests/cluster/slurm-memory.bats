# Jobs whose memory a real Slurm limits by cgroups: the agents' step is in the job's cgroup on each node, and so are
# the tasks.
load common
load slurm

# Of version 1: with version 2 Slurm before 23.02 needs systemd. Each node has directories of its own.
has_cgroups() {
    [ -e /sys/fs/cgroup/memory/memory.limit_in_bytes ] && [ -d /sys/fs/cgroup/freezer ] &&
        mkdir /sys/fs/cgroup/{memory,freezer}/"$GROUP" 2>/dev/null
}
before_slurm() {
    local host kind
    for host in node0 node1; do
        for kind in memory freezer; do
            mkdir "/sys/fs/cgroup/$kind/$GROUP/$host" &&
                "$CLUSTER" exec $host mount --bind "/sys/fs/cgroup/$kind/$GROUP/$host" "/sys/fs/cgroup/$kind" || return
        done
    done
    printf 'CgroupPlugin=cgroup/v1\nCgroupMountpoint=/sys/fs/cgroup\nConstrainRAMSpace=yes\n' >"$CLUSTER_DIR/cgroup.conf"
}
setup_file() {
    export GROUP=tprun-slurm-$$
    if ! has_cgroups; then
        export NO_CLUSTER="no cgroups of version 1 for memory here"
        return
    fi
    export SLURM_LINES=ProctrackType=proctrack/cgroup$'\n'TaskPlugin=task/cgroup
    start_slurm CR_CPU_Memory 'CPUs=2 RealMemory=1000'
    [ -n "${NO_CLUSTER:-}" ] || for host in node0 node1; do "$CLUSTER" sshd $host KILL; done
}
teardown_file() {
    stop_cluster
    find /sys/fs/cgroup/{memory,freezer}/"$GROUP" -depth -type d -exec rmdir {} + 2>/dev/null || true
}
setup() {
    start_cluster_test
    unset TPRUN_OPTIONS
    need_cores 2
}
teardown() {
    [ -z "${NO_CLUSTER:-}" ] || return 0
    slurm scancel --user=root
    hosts_clean 12
}

@test "a task that needs more memory than the job has on a node is killed, and that and why is said" {
    run -137 --separate-stderr slurm salloc --quiet -N 2 -n 2 --ntasks-per-node 1 --mem 200 "$TPRUN" -N 2 -n 2 sh -c '
        echo "$(hostname) $(sed -n "s/.*memory:.*\(job_.*step_0\).*/\1/p" /proc/self/cgroup)" >>groups
        [ $TPRUN_RANK = 0 ] || exec python3 -c "import time
all = bytearray(400 << 20); print(len(all)); time.sleep(60)"; sleep 60'
    echo "$stderr"
    equal "$(sed 's/job_[0-9]*/job/' groups | sort)" "$(printf 'node0 job/step_0\nnode1 job/step_0')"
    has_line "$stderr" 'tprun: rank 1 on node1: killed by signal 9 (Killed)*'
    has_line "$stderr" 'tprun: srun: error: node1: task 1: Out Of Memory*'
    equal "$output" ""
}
