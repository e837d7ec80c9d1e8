# Inside of jobs of a real Slurm whose nodes have no sshd: Slurm starts the agents.
load common
load slurm
setup_file() {
    export SLURM_LINES=MaxStepCount=4
    start_slurm CR_CPU CPUs=2
    [ -n "${NO_CLUSTER:-}" ] || for host in node0 node1; do "$CLUSTER" sshd $host KILL; done
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
    hosts_clean 12
}

# The lines of a batch job on both nodes, which may use all of them.
batch() {
    rm -f job.rc
    printf '#!/bin/bash\n%s\necho $? >%s\n' "$1" "$PWD/job.rc" >job
    slurm sbatch --quiet -N 2 -n 4 -o "$PWD/job.out" -e "$PWD/job.err" "${@:2}" "$PWD/job"
    wait_for 60 test -s job.rc
    return "$(cat job.rc)"
}

# A program on both nodes, and tprun and srun on head: sets $job.
start_program() {
    start_on head salloc --quiet -N 2 -n 4 "$TPRUN" -N 2 -n 2 "$PROGRAMS/stay" ignore fork escape
    wait_for 30 lines_are out 2 || { cat err; return 1; }
}

@test "a batch job of two nodes runs to its end: its agents are a step of the job, and leave no port open" {
    # shellcheck disable=SC2016
    local task='echo $TPRUN_RANK $(hostname)
        [ $TPRUN_RANK != 0 ] || { scontrol show step $SLURM_JOB_ID.0; ss -ltnpH; } >step'
    batch "$TPRUN -N 2 -n 4 --pmi none sh -c '$task'"
    equal "$(sort job.out)" "$(printf '0 node0\n1 node0\n2 node1\n3 node1')"
    cat job.err step
    [[ "$(cat step)" = *NodeList=node1*Name=tpagent* ]]
    run ! grep -E 'tprun|tpagent' <(tail -n +2 step | grep LISTEN)
}

@test "agents further down the tree are started by an srun of the agent above" {
    batch "$TPRUN --bootstrap slurm --fanout 1 -N 2 -n 2 sh -c 'echo \$TPRUN_RANK \$(hostname)'"
    equal "$(sort job.out)" "$(printf '0 node0\n1 node1')"
    equal "$(cat job.err)" ""
}

@test "tasks keep to the CPUs of the job, and may use srun themselves" {
    batch "$TPRUN -N 2 -n 2 --bind-to none sh -c '\"$PROGRAMS/where\"; srun --overlap -N 1 -n 1 -w \$(hostname) hostname'" \
        -n 2 --ntasks-per-node 1
    cat job.out job.err
    equal "$(grep -c '^node[01]$' job.out)" 2
    equal "$(grep -c '^[01] node[01] [01]$' job.out)" 2
}

@test "tasks are added on a node whose agent is started for them" {
    batch "$TPRUN -n 1 '$PROGRAMS/pmi-spawn' tree 1 3"
    equal "$(grep -c '^depth' job.out)" 4
}

@test "a job that has had all of its steps starts no agents, and srun says why" {
    run batch "for i in 1 2 3 4; do srun -N 1 -n 1 true || exit; done; $TPRUN -N 2 -n 2 true"
    [ "$status" = 1 ]
    cat job.err
    has_line "$(cat job.err)" "tprun: node1: not started: exec: srun, which starts the agent, ended with status 1; srun: error: Unable to create step for job *limit*"
}

@test "soft limits of the job hold for tasks on each node" {
    batch "ulimit -Sn 700; ulimit -Sv 4000000; $TPRUN -N 2 -n 2 sh -c 'echo \$(hostname) \$(ulimit -Sn) \$(ulimit -Sv)'"
    equal "$(sort job.out)" "$(printf 'node0 700 4000000\nnode1 700 4000000')"
}

@test "whoever is killed, nothing is left, and srun is named where it was the one" {
    local victim
    for victim in srun tprun-manager tpagent tprun; do
        start_program
        case $victim in
        tpagent) processes node0 tpagent | tail -n 1 ;;
        *) processes head $victim | head -n 1 ;;
        esac >victims
        cat victims
        [ -s victims ]
        xargs kill -KILL <victims
        finish
        echo "$victim: status $status: $(cat err)"
        [ "$status" != 0 ] || [ $victim = tprun ] # then it is salloc's
        hosts_clean 12
        case $victim in
        srun) has_line "$(cat err)" "tprun: *node*srun, which started the agent, was killed by signal 9 (Killed)*" ;;
        tpagent) has_line "$(cat err)" "tprun: *node0*" ;;
        esac
    done
}

@test "a job that is cancelled while tprun runs beside it ends it, and nothing is left" {
    start_program
    slurm scancel --user=root
    finish
    [ "$status" != 0 ]
    hosts_clean 12
}

@test "a job that is cancelled while its agents start is told in Slurm's words, and nothing is run or left" {
    printf '#!/bin/sh\necho >>%s\nsleep 50\nexec %s\n' "$PWD/begun" "$(dirname "$TPRUN")/tpagent" >slow
    chmod +x slow
    start_on head salloc --quiet --no-shell -N 2 -n 4
    finish
    [ "$status" = 0 ]
    local id
    id=$(slurm squeue -h -o %i)
    start_on head env SLURM_JOB_ID="$id" SLURM_JOB_NODELIST='node[0-1]' "$TPRUN" --agent "$PWD/slow" \
        --start-timeout 60 --bootstrap slurm --hosts 'node[0-1]' -N 2 -n 2 sh -c "echo >$PWD/ran"
    wait_for 20 lines_are begun 2
    slurm scancel "$id"
    finish
    cat err
    [ "$status" = 1 ]
    # What srun says is "CANCELLED", or, where its tasks have ended before it was told, "Terminated".
    has_line "$(cat err)" "tprun: node?0-1?: not started: exec: srun, which starts the agent, *@(CANCELLED|Terminated)*"
    has_line "$(cat err)" "tprun: 2 of 2 hosts did not start; nothing was run*"
    [ ! -e ran ]
}
