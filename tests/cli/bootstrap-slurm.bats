# shellcheck disable=SC2154 # bats sets stderr
# Agents that Slurm's srun starts, where it does not do what it should. A script stands in for it; the
# real one is in cluster/slurm-start.bats.
load ../lib/common
setup() {
    start_test
    mkdir bin
    export SLURM_JOB_ID=5 SLURM_JOB_NODELIST=n0 PATH=$PWD/bin:$PATH
}
teardown() { nothing_left; }

# The body of srun. $agent is what it starts; its input is one stream for all agents.
srun_is() {
    printf '#!/bin/bash\nexport agent=${!#}\necho "$*" >>%q\n%s\n' "$PWD/srun.args" "$1" >bin/srun
    chmod +x bin/srun
}
START='SLURMD_NODENAME=n0 exec "$agent"'
starts() { equal "$(wc -l <srun.args)" "$1"; } # N: so often it was run

@test "in a job of Slurm one srun starts the agents, and knows nothing of another srun's options" {
    srun_is "env >srun.env; $START"
    SLURM_CPU_BIND=quiet SLURM_NTASKS=7 SLURM_EXACT=1 SRUN_CPUS_PER_TASK=3 SLURM_JOB_QOS=fast \
        run -0 --separate-stderr tprun --hosts n0 -n 1 \
        sh -c 'echo "$TPRUN_RANK"; tr "\0" " " <"/proc/$PPID/cmdline"'
    equal "${lines[0]}" 0
    [[ "${lines[1]}" = */tpagent\  ]]
    starts 1
    [[ " $(cat srun.args) " = *" --overlap "*" --nodes=1 --ntasks=1 --nodelist=n0 "* ]]
    run ! grep -E '^(SLURM_(CPU_BIND|NTASKS|EXACT)|SRUN_)' srun.env
    grep -qx SLURM_JOB_QOS=fast srun.env
    grep -qx SLURM_EXTERNAL_LAUNCHER=1 srun.env
}

@test "with -v a line says that srun starts the agents, and none where it does not" {
    srun_is "$START"
    run -0 --separate-stderr tprun -v --hosts n0 -n 1 true
    has_line "$stderr" 'tprun: agents: started by srun of Slurm, --bootstrap slurm'
    run -0 --separate-stderr tprun -v --hosts "$(hostname)" -n 1 true
    [[ "$stderr" != *'agents: started by'* ]]
}

@test "an srun that fails is quoted" {
    srun_is 'echo "srun: error: Unable to create step for job 5: Invalid account" >&2; exit 3'
    run -1 --separate-stderr tprun --hosts n0 -n 1 true
    has_line "$stderr" "tprun: n0: not started: exec: srun, which starts the agent, ended with status 3; srun: error: Unable to create step for job 5: Invalid account*"
}

@test "an srun that hangs is ended, and what it says is told" {
    srun_is 'echo "srun: Requested nodes are busy" >&2; echo $$ >srun.pid; exec sleep 1000'
    run -1 --separate-stderr tprun --start-timeout 1 --hosts n0 -n 1 true
    has_line "$stderr" "tprun: n0: not started: exec: no answer within 1 s; srun: Requested nodes are busy*"
    run ! kill -0 "$(cat srun.pid)"
}

@test "an srun that starts fewer agents than it should is found out" {
    srun_is '[ "$agent" ]; tee >(SLURMD_NODENAME=n0 "$agent") | sleep 1000'
    run -1 --separate-stderr tprun --start-timeout 2 --hosts n0,n1 -N 2 -n 2 true
    has_line "$stderr" "tprun: n1: not started: *"
}

# What srun of 22.05 to 24.11 says when its job is cancelled amid the start of a step: the agent of n0 has
# connected and ends with its step, n1 has none.
CANCELLED='exec 3<&0
tee <&3 >(echo "$BASHPID" >agent.pid; SLURMD_NODENAME=n0 exec "$agent" >/dev/null) >/dev/null &
sleep 1
echo "srun: Force Terminated StepId=5.0
srun: Job step aborted: Waiting up to 32 seconds for job step to finish.
slurmstepd: error: *** STEP 5.0 ON n0 CANCELLED AT 2026-01-02T03:04:05 ***" >&2
kill -TERM "$(<agent.pid)" && echo "srun: error: n0: task 0: Terminated" >&2
exit 143'
@test "a job that ends while agents start is told in srun's words, at once, and nothing is left" {
    srun_is "$CANCELLED"
    SLURM_JOB_NODELIST='n[0-1]' run -1 --separate-stderr tprun --start-timeout 60 \
        --hosts n0,n1 -N 2 -n 2 sh -c 'echo >ran'
    has_line "$stderr" "tprun: n1: not started: exec: srun, which starts the agent, ended with status 143; srun: Force Terminated StepId=5.0; *CANCELLED AT *"
    has_line "$stderr" "tprun: 1 of 2 hosts did not start; nothing was run*"
    [ ! -e ran ]
}

@test "an agent of a host that was not asked for is not let in" {
    srun_is 'SLURMD_NODENAME=elsewhere exec "$agent"'
    run -1 --separate-stderr tprun --start-timeout 5 --hosts n0 -n 1 true
    has_line "$stderr" "tprun: n0: not started: exec: srun, which starts the agent, ended with status 1; *cannot connect back to *"
}

@test "an srun that is killed takes its agents along, and that is said" {
    srun_is 'echo $$ >srun.pid; tee >(SLURMD_NODENAME=n0 "$agent") >/dev/null'
    start "$TPRUN" --hosts n0 -n 1 sh -c 'echo up; exec sleep 1000'
    wait_for 10 lines_are out 1
    kill -KILL "$(cat srun.pid)"
    finish
    equal "$status" 1
    has_line "$(cat err)" "tprun: *n0*srun, which started the agent, was killed by signal 9 (Killed)*"
}

@test "a spare host that cannot be asked is named, not the one that it was to stand in for" {
    srun_is 'exit 3'
    TPRUN_OPTIONS='' run -1 --separate-stderr tprun --bootstrap slurm --hosts n0,n7 -N 1 -n 1 true
    equal "$stderr" "tprun: --bootstrap slurm: n7 is no node of Slurm job 5 (n0)"
}

@test "a dry run that starts no agent needs no job for --bootstrap slurm" {
    local method
    for method in slurm lsf; do
        SLURM_JOB_ID='' run -0 tprun --dry-run --topology 'n[0-1]=core:2 pu:1' --bootstrap $method -n 4
        has_line "$output" 'Map: 4 tasks on 2 nodes, *'
    done
}

@test "what is missing for --bootstrap slurm is named" {
    srun_is "$START"
    SLURM_JOB_ID='' run -1 --separate-stderr tprun --bootstrap slurm --hosts n0 -n 1 true
    equal "$stderr" "tprun: --bootstrap slurm: this is not inside a job of Slurm: SLURM_JOB_ID is not set (auto takes ssh where there is no job)"
    SLURM_JOB_NODELIST='' run -1 --separate-stderr tprun --bootstrap slurm --hosts n0 -n 1 true
    equal "$stderr" "tprun: --bootstrap slurm: Slurm job 5 does not say which nodes it has: SLURM_JOB_NODELIST is not set"
    SLURM_JOB_NODELIST='n[0-' run -1 --separate-stderr tprun --bootstrap slurm --hosts n0 -n 1 true
    has_line "$stderr" "tprun: --bootstrap slurm: SLURM_JOB_NODELIST of Slurm job 5: *"
    run -1 --separate-stderr tprun --bootstrap slurm --hosts n7 -n 1 true
    equal "$stderr" "tprun: --bootstrap slurm: n7 is no node of Slurm job 5 (n0)"
    rm bin/srun
    if ! command -v srun >/dev/null; then
        run -1 --separate-stderr tprun --bootstrap slurm --hosts n0 -n 1 true
        equal "$stderr" "tprun: --bootstrap slurm: Slurm job 5: cannot find srun in PATH"
    fi
}

@test "in a job of Slurm other hosts are reached by ssh" {
    srun_is 'exit 1'
    run -1 --separate-stderr tprun --ssh "sh -c 'echo ssh to \$* >&2; exit 1' x" --hosts n7 -n 1 true
    has_line "$stderr" "tprun: n7: not started: *ssh to * n7 *"
    [ ! -e srun.args ]
}
