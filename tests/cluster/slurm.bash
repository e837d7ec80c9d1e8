# shellcheck shell=bash
# Slurm on the hosts of a cluster.

# Hosts node0 and node1, with a real Slurm that takes them for such nodes; the environment of its
# slurmd may be given, too. $SLURM_LINES are further lines of slurm.conf, which take the place of those
# before them, and before_slurm, where a file has such a function, is run on the hosts before Slurm's daemons.
start_slurm() { # SELECT NODE [VARIABLE=VALUE...]
    local select=$1 node=$2 tool host
    shift 2
    for tool in munged slurmctld slurmd sbatch salloc srun; do
        PATH=$PATH:/usr/sbin command -v $tool >/dev/null || {
            export NO_CLUSTER="no $tool here: Slurm and munge are not installed"
            return
        }
    done
    start_cluster 2
    [ -z "${NO_CLUSTER:-}" ] || return 0
    export SLURM_CONF=$CLUSTER_DIR/slurm.conf
    export PATH=$PATH:/usr/sbin
    cat >"$SLURM_CONF" <<-END
	ClusterName=rack
	SlurmctldHost=head
	SlurmUser=root
	AuthType=auth/munge
	CredType=cred/munge
	StateSaveLocation=/tmp/slurm.state
	SlurmdSpoolDir=/tmp/slurm.spool
	SlurmctldPidFile=/run/slurmctld.pid
	SlurmdPidFile=/run/slurmd.pid
	SlurmctldLogFile=/tmp/slurmctld.log
	SlurmdLogFile=/tmp/slurmd.log
	SlurmdParameters=config_overrides
	ProctrackType=proctrack/linuxproc
	TaskPlugin=task/affinity
	SelectType=select/cons_tres
	SelectTypeParameters=$select
	JobAcctGatherType=jobacct_gather/none
	SwitchType=switch/none
	MpiDefault=none
	KillWait=5
	SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0
	MinJobAge=2
	NodeName=node[0-1] $node
	PartitionName=all Nodes=ALL Default=YES State=UP
	${SLURM_LINES:-}
	END
    (umask 077 && head -c 1024 /dev/urandom >"$CLUSTER_DIR/munge.key")
    for host in head node0 node1; do
        "$CLUSTER" exec $host mkdir -p /run/munge
        "$CLUSTER" exec $host munged --force --key-file="$CLUSTER_DIR/munge.key" \
            --log-file=/run/munge/log --pid-file=/run/munge/pid --seed-file=/run/munge/seed
    done 3>&- >/dev/null 2>&1
    ! declare -F before_slurm >/dev/null || before_slurm 3>&- || return
    "$CLUSTER" exec head slurmctld 3>&- >/dev/null 2>&1
    for host in node0 node1; do "$CLUSTER" exec $host env "$@" slurmd -N $host 3>&- >/dev/null 2>&1; done
    wait_for 30 both_idle
    # What runs now is part of the hosts.
    for host in head node0 node1; do "$CLUSTER" pids $host >"$CLUSTER_DIR/$host/base"; done
}
both_idle() { [ "$(slurm sinfo -h -t idle -o %D)" = 2 ]; }

# The accounting's own database and slurmdbd on head, with all of it on a file system in memory.
start_accounting() {
    local sql=/usr/share/mysql/mysql_system_tables.sql
    # shellcheck disable=SC2016
    "$CLUSTER" exec head sh -c 'mkdir -p /run/mysqld /tmp/db &&
        { echo "create database mysql;"; echo "use mysql;"; cat "$0"; } |
        mariadbd --no-defaults --user=root --datadir=/tmp/db --bootstrap &&
        { mariadbd --no-defaults --user=root --datadir=/tmp/db --skip-networking --skip-grant-tables \
            --socket=/run/mysqld/mysqld.sock --pid-file=/run/mysqld/pid & }' $sql </dev/null >"$CLUSTER_DIR/db.log" 2>&1
    wait_for 20 "$CLUSTER" exec head test -S /run/mysqld/mysqld.sock || { cat "$CLUSTER_DIR/db.log"; return 1; }
    cat >"$CLUSTER_DIR/slurmdbd.conf" <<-END
	AuthType=auth/munge
	DbdHost=head
	SlurmUser=root
	LogFile=/tmp/slurmdbd.log
	PidFile=/run/slurmdbd.pid
	StorageType=accounting_storage/mysql
	StorageHost=localhost
	StorageUser=root
	StorageLoc=acct
	END
    chmod 600 "$CLUSTER_DIR/slurmdbd.conf"
    "$CLUSTER" exec head slurmdbd >/dev/null 2>&1
    wait_for 20 slurm sacctmgr -i add cluster rack || { "$CLUSTER" exec head cat /tmp/slurmdbd.log; return 1; }
}
slurm() { timeout -k 5 60 "$CLUSTER" exec head "$@"; }
