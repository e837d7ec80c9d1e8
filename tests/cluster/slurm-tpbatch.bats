# shellcheck disable=SC2154,SC2016 # bats sets output and stderr; scripts are quoted
# tpbatch in jobs of a real Slurm whose nodes have no sshd: it needs no options. A job has two steps at most, and one of
# them is the agents': programs inside take none.
load common
load slurm

before_slurm() {
    local host device
    for host in node0 node1; do "$CLUSTER" exec $host "$ROOT/tests/cluster/standins/gpus" 4; done
    for device in null zero full random; do
        echo "NodeName=node[0-1] Name=gpu File=/dev/$device"
    done >"$CLUSTER_DIR/gres.conf"
}
setup_file() {
    export SLURM_LINES=MaxStepCount=2
    start_slurm CR_CPU $'CPUs=2 Gres=gpu:4\nGresTypes=gpu'
    [ -n "${NO_CLUSTER:-}" ] || for host in node0 node1; do "$CLUSTER" sshd $host KILL; done
}
teardown_file() { stop_cluster; }
setup() {
    start_tpbatch_test
    unset DISPLAY XAUTHORITY
    need_cores 2
}
teardown() {
    [ -z "${NO_CLUSTER:-}" ] || return 0
    slurm scancel --user=root
    hosts_clean 12
}

# To its end, with the job's exit status; job.out and job.err are its output.
submit() { # OPTIONS OF sbatch... -- COMMAND
    local options=()
    while [ "$1" != -- ]; do
        options+=("$1")
        shift
    done
    slurm sbatch --quiet --wait -o "$PWD/job.out" -e "$PWD/job.err" "${options[@]}" --wrap "$2"
}

@test "sbatch --wrap 'tpbatch ./script': the script runs once on the first node, its programs on all that the job has" {
    script s <<-'END'
	uname -n
	for i in 1 2 3; do tprun -n 4 sh -c 'echo "task $TPRUN_RANK $(uname -n)"'; done
	tprun -n 5 --no-wait true
	END
    submit -N 2 -n 4 -- 'tpbatch ./s' || true
    cat job.out job.err
    equal "$(head -n 1 job.out)" node0
    equal "$(grep -c ^node job.out)" 1
    equal "$(grep ^task job.out | sort | uniq -c | awk '{ print $1, $3, $4 }')" "$(printf '3 0 node0\n3 1 node0\n3 2 node1\n3 3 node1')"
    has_line "$(cat job.err)" "tprun: asked for 5 tasks, *"
}

@test "the job's exit status is the script's" {
    local status
    script s <<<'exit "$1"'
    for status in 0 7; do
        run -$status submit -N 2 -- "tpbatch ./s $status"
    done
}

@test "an instance in an instance has its script on another node, with a part of the job" {
    script s <<-'END'
	tpbatch --hosts node1 ./inner
	echo "status $?"
	END
    script inner <<-'END'
	echo "inner on $(uname -n)"
	tprun -n all sh -c 'echo "task $(uname -n)"'
	tpbatch ./innermost
	exit 5
	END
    script innermost <<<'tprun -n all sh -c "echo innermost"'
    submit -N 2 -n 4 -- 'tpbatch ./s'
    cat job.out job.err
    equal "$(sort job.out | uniq -c | sed 's/^ *//')" "$(printf '1 inner on node1\n2 innermost\n1 status 5\n2 task node1')"
    equal "$(cat job.err)" "tprun: rank 0 on node1: exited with status 5"
}

@test "cores and GPUs of the job are those of the instance" {
    script s <<-'END'
	tprun -n all --bind-to core "$PROGRAMS/where"
	tprun -N 2 -n 2 -g 2 sh -c 'echo "gpus $(uname -n) $ROCR_VISIBLE_DEVICES"'
	tprun --no-wait -n 3 -g 2 true
	END
    submit -N 2 -n 2 --ntasks-per-node 1 --gres gpu:2 -- 'tpbatch ./s' || true
    cat job.out job.err
    equal "$(grep -c '^[0-9]* node[01] [0-9]*$' job.out)" 2
    equal "$(grep ^gpus job.out | sort)" "$(printf 'gpus node0 0,1\ngpus node1 0,1')"
    has_line "$(cat job.err)" "tprun: asked for 3 tasks, 2 fit*"
}

@test "scancel ends the script and all in it" {
    script s <<-'END'
	tprun -N 2 -n 2 "$PROGRAMS/stay" ignore fork escape &
	tprun -N 2 -n 2 -d sh -c 'echo >"there.$TPRUN_RANK"; exec sleep 1000'
	wait
	END
    slurm sbatch --quiet -N 2 -n 4 -o "$PWD/job.out" -e "$PWD/job.err" --wrap 'tpbatch ./s'
    wait_for 40 eval 'lines_are job.out 2 && [ -e there.0 ] && [ -e there.1 ]' || { cat job.out job.err; false; }
    slurm scancel --user=root
    hosts_clean 15
}

# Slurm counts in minutes, and looks twice a minute.
@test "the end of the job's time is said, and nothing goes on" {
    [ "${ROUNDS:-5}" -ge 20 ] || skip "takes two minutes: ROUNDS=20"
    script s <<<'tprun -N 2 -n 2 sh -c "echo there; exec sleep 1000"; sleep 1000'
    slurm sbatch --quiet -t 1 -N 2 -n 4 -o "$PWD/job.out" -e "$PWD/job.err" --wrap 'tpbatch ./s'
    wait_for 150 grep 'DUE TO TIME LIMIT' job.err
    hosts_clean 15
    cat job.err
    equal "$(cat job.out)" "$(printf 'there\nthere')"
    has_line "$(cat job.err)" "tprun: told to end by slurmstepd *"
}

@test "an instance in the background ends with the job" {
    script s <<<'tprun -N 2 -n 2 sh -c "echo there >there.\$TPRUN_RANK; exec sleep 1000"'
    submit -N 2 -n 4 -- 'tpbatch -d ./s; until [ -e there.0 -a -e there.1 ]; do sleep 0.1; done'
    hosts_clean 15
}
