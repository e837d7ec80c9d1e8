# srun binds as tprun-migrate(7) says. A real Slurm is shown nodes of 16 cores, which these are not: what
# it chooses for a task is read from what it tells the task.
load common
load slurm
load ../lib/migrate
setup_file() {
    lstopo-no-graphics -i "$NODE" --of xml "$BATS_FILE_TMPDIR/node.xml" || {
        export NO_CLUSTER="no lstopo-no-graphics here"
        return
    }
    [[ "$(PATH=$PATH:/usr/sbin slurmctld -V 2>/dev/null)" == 'slurm-wlm 22.'* ]] || {
        export NO_CLUSTER="no Slurm 22 here"
        return
    }
    # Binding to a core that is not there would fail.
    echo 'int sched_setaffinity(void) { return 0; }' |
        "${CC:-cc}" -shared -fPIC -fno-builtin -x c -o "$BATS_FILE_TMPDIR/bound.so" -
    cat >"$BATS_FILE_TMPDIR/cores" <<-'END'
	#!/bin/bash
	IFS=, read -ra masks <<<"${SLURM_CPU_BIND_LIST:-}"
	mask=${masks[SLURM_LOCALID]:-${masks[0]:-0xFFFF}}
	for ((i = 0; i < 16; i++)); do out+=$((mask >> i & 1)); done
	echo "$SLURM_PROCID $SLURMD_NODENAME $out"
	END
    chmod +x "$BATS_FILE_TMPDIR/cores"
    start_slurm CR_Core 'CPUs=16 Boards=1 SocketsPerBoard=2 CoresPerSocket=8 ThreadsPerCore=1' \
        LD_PRELOAD="$BATS_FILE_TMPDIR/bound.so" HWLOC_COMPONENTS=xml HWLOC_THISSYSTEM=1 \
        HWLOC_XMLFILE="$BATS_FILE_TMPDIR/node.xml"
}
teardown_file() { stop_cluster; }
setup() { start_cluster_test; }
teardown() { [ -n "${NO_CLUSTER:-}" ] || hosts_clean 8; }

@test "srun binds to the cores that tprun-migrate(7) shows for its lines" {
    local line own cores got
    common_lines srun | grep -v gpus >lines
    cut -f 1 lines | sed "s|\./app|$BATS_FILE_TMPDIR/cores; echo|" >job
    slurm salloc --quiet -N 2 --exclusive sh job >said
    split_said() { awk -v RS= -v n="$1" 'NR == n' said | sort -n; }
    while IFS=$'\t' read -r line own cores; do
        count=$((${count:-0} + 1))
        split_said "$count" >tasks
        got=$(paste -d' ' <(cut -d' ' -f 2 tasks) <(cut -d' ' -f 3 tasks | lists) |
            awk '{ sub("node", "n", $1); out = out ($1 == at ? "" : " " $1 ":") " " $2; at = $1 }
                END { print substr(out, 2) }')
        equal "$line: $got" "$line: $cores"
    done <lines
    [ "$count" -eq 9 ]
}
