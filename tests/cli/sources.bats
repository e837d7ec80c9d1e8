# Where resources come from when no option names them; the batch systems are made up, this machine
# is their only node.
load ../lib/common
setup_file() { build_programs; }
setup() {
    start_test
    unset TPRUN_OPTIONS
    host=$(hostname)
}
teardown() { nothing_left; }

# VARIABLE=VALUE... -- ARGUMENTS...: tprun in this environment, stderr apart
given() { # -STATUS ...
    local want=$1 variables=()
    shift
    while [ "$1" != -- ]; do
        variables+=("$1")
        shift
    done
    shift
    run "$want" --separate-stderr timeout --foreground -k 5 60 env "${variables[@]}" "$TPRUN" "$@" </dev/null
}
# shellcheck disable=SC2154 # bats sets it
used() { has_line "$stderr" "tprun: resources: $1, *"; }
instances() { cat "$TPRUN_RUNTIME_DIR"/*/identity | grep -v "^register of this host" | sort; }

R() { # CORES
    printf '{"version":1,"execution":{"R_lite":[{"rank":"4","children":{"core":"%s"}}],"nodelist":["%s"]}}\n' "$1" "$host"
}

# A job of each batch system with one slot on this machine; adds to $job.
slurm_job() { job+=(SLURM_JOB_ID=17 SLURM_JOB_NODELIST="$host" SLURM_JOB_CPUS_PER_NODE="${1:-1}"); }
pbs_job() {
    echo "$host" >nodes.pbs
    job+=(PBS_JOBID=18.server PBS_NODEFILE="$PWD/nodes.pbs")
}
lsf_job() {
    echo "$host" >nodes.lsf
    job+=(LSB_JOBID=19 LSB_DJOB_HOSTFILE="$PWD/nodes.lsf" LSB_MCPU_HOSTS="$host 1 ")
}
grid_engine_job() {
    echo "$host 1 all.q@$host UNDEFINED" >nodes.sge
    job+=(JOB_ID=20 PE_HOSTFILE="$PWD/nodes.sge")
}
flux_job() { # [CORES]
    mkdir -p bin
    R "${1:-0}" >R.flux
    printf '#!/bin/sh\n[ "$*" = "job info f21 R" ] && exec cat %s/R.flux\n' "$PWD" >bin/flux
    chmod +x bin/flux
    job+=(FLUX_JOB_ID=f21 FLUX_URI=local:///x PATH="$PWD/bin:$PATH")
}

@test "without a batch job or options the nodes are this machine" {
    given -0 -- -v -n 1 true
    used 'this machine'
    equal "$(instances)" "this machine"
}

@test "the job of each batch system is used, by its name, for as many tasks as it has slots" {
    need_cores 2
    local system name
    while IFS=/ read -r system name; do
        local job=()
        "${system}_job"
        given -0 "${job[@]}" -- -v -n 1 hostname
        equal "$output" "$host"
        used "$name"
        given -1 "${job[@]}" -- -n 2 hostname
        equal "$output" ""
        has_line "$stderr" "tprun: asked for 2 tasks, 1 fits*1 slot granted by ${name% (*}*--oversubscribe*"
        given -0 "${job[@]}" -- --oversubscribe -n 2 true
    done <<-END
	slurm/Slurm job 17 (SLURM_JOB_NODELIST)
	pbs/PBS job 18.server (PBS_NODEFILE)
	lsf/LSF job 19 (LSB_DJOB_HOSTFILE)
	grid_engine/Grid Engine job 20 (PE_HOSTFILE)
	END
    equal "$(instances)" "$(printf '%s\n' 'Grid Engine job 20' 'LSF job 19' 'PBS job 18.server' 'Slurm job 17')"
}

@test "in a job of Flux the cores of its R are used, and no others" {
    need_cores 2
    local job=()
    flux_job 1
    given -0 "${job[@]}" -- -v --format=json --display bind -n 1 true
    has_line "$stderr" "tprun: resources: Flux job f21 (FLUX_JOB_ID), 1 node; *"
    equal "$(grep -v '^tprun: ' <<<"$stderr" | jq -r '.tasks[].cores')" 1
    given -1 "${job[@]}" -- -n 2 true
}

@test "sources of nodes are tried in the order program, TPRUN_R, Flux, Slurm, PBS, LSF, Grid Engine" {
    local job=()
    grid_engine_job
    given -0 "${job[@]}" -- -v true
    used 'Grid Engine job 20 (PE_HOSTFILE)'
    lsf_job
    given -0 "${job[@]}" -- -v true
    used 'LSF job 19 (LSB_DJOB_HOSTFILE)'
    pbs_job
    given -0 "${job[@]}" -- -v true
    used 'PBS job 18.server (PBS_NODEFILE)'
    slurm_job
    given -0 "${job[@]}" -- -v true
    used 'Slurm job 17 (SLURM_JOB_NODELIST)'
    flux_job
    given -0 "${job[@]}" -- -v true
    used 'Flux job f21 (FLUX_JOB_ID)'
    R 0 >R
    given -0 "${job[@]}" TPRUN_R="$PWD/R" -- -v true
    used "R file $PWD/R"
    given -0 "${job[@]}" TPRUN_R="$PWD/R" -- -n 1 "$TPRUN" -v -n 1 true
    used 'program * (TPRUN_PROGRAM)'
}

@test "options that name resources come before all batch systems" {
    local job=()
    slurm_job
    R 0 >R
    given -0 "${job[@]}" TPRUN_R=/nosuch -- -v -R R true
    used 'R file R'
    given -0 "${job[@]}" TPRUN_R=/nosuch -- -v --hosts localhost true
    used '--hosts'
    echo localhost >hosts
    given -0 "${job[@]}" TPRUN_R=/nosuch -- -v --hostfile hosts true
    used 'hostfile hosts'
    given -0 TPRUN_R=/nosuch -- --dry-run --topology 'n=core:4 pu:1' -n 4 true
}

# What is said of one task, by default, where there is more; nothing where nothing is expected.
unused() {
    equal "$stderr" "${1:+tprun: 1 task is started for $1: -n all starts as many as fit, -n 1 leaves this line out}"
}

@test "one task by default, where more was allocated, is told in one line" {
    local job=()
    printf 'localhost slots=3\n' >hosts
    given -0 -- --hostfile hosts true
    unused 'the 3 slots on 1 node of hostfile hosts'
    slurm_job 2
    given -0 "${job[@]}" -- true
    unused 'the 2 cores on 1 node of Slurm job 17 (SLURM_JOB_NODELIST)'
    for some in '-n 1' '-n all' '-c 2' '-N 1' '--bind-to none' '--per 1:node' '--dry-run'; do
        # shellcheck disable=SC2086
        given -0 "${job[@]}" -- $some true
        unused ''
    done
    given -0 "${job[@]}" -- true : true
    unused ''
    given -0 "${job[@]}" -- -n 1 "$TPRUN" true
    unused ''
    given -0 -- true
    unused ''
    given -0 -- --hosts localhost true
    unused ''
}

@test "all tasks that fit are started: a core each, or a slot each where cores may be shared" {
    printf 'localhost slots=5\n' >hosts
    given -0 -- -n all --hostfile hosts --oversubscribe echo x
    equal "${#lines[@]}" 5
    given -0 -- -n all --map-by hwthread echo x
    equal "${#lines[@]}" "$(nproc)"
    given -0 -- -n all --per 1:node echo x
    equal "$output" x
}

@test "files with a byte order mark and carriage returns are read" {
    printf '\357\273\277localhost slots=1\r\n' >hosts
    given -0 -- --hostfile hosts true
    { printf '\357\273\277'; R 0 | sed 's/,/,\r\n/g'; } >R
    given -0 -- -R R true
}

@test "an allocation that is not whole is refused, not passed over" {
    given -1 SLURM_JOB_ID=17 -- true
    has_line "$stderr" 'tprun: SLURM_JOB_ID says that this is a job of Slurm, but SLURM_JOB_NODELIST is not set: unset SLURM_JOB_ID *--hosts or -R'
    given -1 SLURM_JOB_ID=17 SLURM_JOB_NODELIST="a[" -- true
    has_line "$stderr" 'tprun: SLURM_JOB_NODELIST of Slurm job 17: *; unset SLURM_JOB_ID *'
    given -1 PBS_JOBID=18 PBS_NODEFILE=/nosuch -- true
    has_line "$stderr" 'tprun: PBS_NODEFILE of PBS job 18: /nosuch: *; unset PBS_JOBID *'
    given -1 LSB_JOBID=19 -- true
    has_line "$stderr" 'tprun: LSB_JOBID says *, but LSB_MCPU_HOSTS is not set: *'
    given -1 PE_HOSTFILE=/nosuch -- true
    has_line "$stderr" 'tprun: PE_HOSTFILE *; unset PE_HOSTFILE *'
    given -1 FLUX_URI=local:///x PATH=/nosuch -- true
    has_line "$stderr" 'tprun: the R of Flux instance local:///x: flux: it cannot be run: *; unset FLUX_URI *'
    given -1 TPRUN_R=/nosuch -- true
    has_line "$stderr" 'tprun: TPRUN_R in the environment: R file /nosuch: *'
}

@test "runs in one job share its slots, and its instance is not the machine's" {
    need_cores 2
    local job=()
    slurm_job 1
    env "${job[@]}" "$TPRUN" -n 1 sh -c 'echo up; until [ -e go ]; do sleep 0.05; done' >out 3>&- &
    local first=$!
    wait_for 20 lines_are out 1
    given -1 "${job[@]}" -- --no-wait -n 1 true
    has_line "$stderr" 'tprun: every core is held by other running programs*'
    given -0 "${job[@]}" -- --overlap -n 1 true
    given -0 -- -n 1 true
    job=() # as if two had been granted: one of them is left
    slurm_job 2
    given -0 "${job[@]}" -- -n 1 --mppr 2:c true
    given -1 "${job[@]}" -- --no-wait -n 2 --mppr 2:c true
    has_line "$stderr" 'tprun: asked for 2 tasks, 1 fits*'
    touch go
    wait "$first"
    given -0 "${job[@]}" -- -n 1 true
}

@test "hosts named in a job belong to the job's instance, an R file has its own by its real path" {
    local job=()
    slurm_job
    given -0 "${job[@]}" -- --hosts localhost -n 1 true
    equal "$(instances)" "Slurm job 17"
    R 0 >R
    ln -s R link
    given -0 "${job[@]}" -- -R link true
    given -0 "${job[@]}" -- -R "$PWD/R" true
    equal "$(instances)" "$(printf '%s\n' "R file $PWD/R" "Slurm job 17")"
}

@test "a task with -c takes as many of the cores that were granted" {
    need_cores 2
    local job=()
    slurm_job 2
    given -0 "${job[@]}" -- -n 1 -c 2 true
    given -1 "${job[@]}" -- -n 2 -c 2 true
    job=()
    slurm_job 1
    given -1 "${job[@]}" -- -c 2 true
    has_line "$stderr" 'tprun: -c: Slurm job 17 (SLURM_JOB_NODELIST) grants fewer cores on each node than a task is to have; *'
}

@test "a run inside a task has the cores of that task's program, whatever the outer one drew from" {
    need_cores 2
    local job=()
    slurm_job 2
    given -0 "${job[@]}" -- -n 1 --bind-to none "$TPRUN" -v -n 1 --bind-to core "$PROGRAMS/where"
    used 'program 1 (TPRUN_PROGRAM)'
    given -1 "${job[@]}" -- -n 1 --bind-to none "$TPRUN" -n 2 true
    has_line "$stderr" 'tprun: asked for 2 tasks, 1 fits*'
    # each task of two, bound to a core of its own, finds that one
    given -0 -- -n 2 --map-by core "$TPRUN" -n 1 "$PROGRAMS/where"
    equal "$(cut -d' ' -f3 <<<"$output" | sort)" "$(printf '0\n1')"
}
