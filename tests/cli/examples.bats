# shellcheck disable=SC2154 # bats sets stderr and stderr_lines
# What examples/ shows, works.
load ../lib/common
load ../lib/tpctl
setup_file() { build_programs; }
setup() { start_test; }
teardown() { nothing_left 4; }

@test "the MPI ring runs with 64 tasks on this machine" {
    need_mpich
    LIMIT=120 run -0 --separate-stderr tprun -n 64 --map-by numa "$PROGRAMS/mpi-ring"
    equal "$(grep -c 'is on my left$' <<<"$output")" 64
}

@test "the program of the MPI ABI runs with each MPI that has a library of it, or what is missing is said" {
    run --separate-stderr timeout -k 5 120 "$ROOT/examples/mpi-abi.sh" 2
    if [ "$status" = 77 ]; then
        [[ "$stderr" == "mpi-abi: skipped: no "*" here"* ]]
        equal "${#stderr_lines[@]}" 1
        skip "${stderr#mpi-abi: skipped: }"
    fi
    equal "$status" 0
    [ "$(grep -c '^tprun --mpi' <<<"$output")" -ge 1 ]
    equal "$(grep -c 'is on my left$' <<<"$output")" "$(($(grep -c '^tprun --mpi' <<<"$output") * 2))"
}

@test "64 tasks are refused without --oversubscribe where they do not fit, and it is named" {
    [ "$(nproc)" -lt 64 ] || skip "they fit here"
    TPRUN_OPTIONS='' run -1 --separate-stderr tprun -n 64 --map-by numa true
    [[ "$stderr" == *--oversubscribe* ]]
}

@test "the R of one machine runs here, once it has this machine's name" {
    jq --arg host "$(hostname)" '.execution.nodelist = [$host]' "$ROOT/examples/R-one-machine.json" >R
    local last
    last=$(jq -r '.execution.R_lite[0].children.core | split("[-,]"; "") | last' R)
    need_cores $((last + 1))
    run -0 --separate-stderr tprun -R R sh -c 'echo $TPRUN_SIZE'
    equal "$output" 1
}

@test "the R of four nodes maps over topologies that need not exist" {
    local hosts
    hosts=$(jq -r '.execution.nodelist | join(",")' "$ROOT/examples/R-4-nodes.json")
    tprun --dry-run --format=json -R "$ROOT/examples/R-4-nodes.json" -n 8 --map-by node \
        --topology "$hosts=package:4 core:16 pu:2" true >plan.json
    jq -e '.taskmap.map == [[0, 4, 1, 2]]' plan.json
}

@test "the batch script runs its steps, two of them side by side on different cores" {
    need_cores 2
    TPRUN_OPTIONS='' run -0 --separate-stderr sh "$ROOT/examples/batch.sh"
    has_line "$output" "rank 1 of 2 on $(hostname)"
    equal "$(sed '1,/side by side/d' <<<"$output" | grep Cpus_allowed | sort -u | wc -l)" 2
}

@test "the script of tpbatch runs three programs side by side and twenty in sequence, between its prolog and epilog" {
    local id said all
    all=$(TPRUN_OPTIONS='' tprun --dry-run -n all --format=json true | jq .ntasks)
    ln -s "$TPRUN" tpbatch
    cd "$ROOT/examples/tpbatch"
    run -0 --separate-stderr timeout --foreground -k 5 60 env TPRUN_OPTIONS= PATH="${TPRUN%/*}:$PATH" "$OLDPWD/tpbatch" job.sh
    equal "$stderr" ""
    said=$(grep "on $(uname -n), cores .*, with what $(uname -n) has prepared$" <<<"$output" | cut -d: -f1)
    equal "$(head -n 3 <<<"$said" | sort | xargs)" "left middle right"
    equal "$(sed 1,3d <<<"$said" | uniq -c | sed 's/^ *//')" "$(for i in $(seq 20); do echo "$all step $i"; done)"
    id=$(tpctl list -a --format=json | jq -r '.programs[] | select(.command[-1] | endswith("job.sh")) | .id')
    equal "$(tpctl info --format=json "$id" | jq -r '.hooks[] | .hook + ": " + .output' | xargs)" "prolog: prepared epilog: cleared up"
}

# A batch script in a job of two cores of this machine; what its program says.
in_a_job() { # SCRIPT VARIABLE=VALUE...
    printf '#!/bin/sh\necho "rank $TPRUN_RANK of $TPRUN_SIZE on $OMP_NUM_THREADS core"\n' >app
    chmod +x app
    timeout --foreground -k 5 60 env -u TPRUN_OPTIONS -u OMP_NUM_THREADS PATH="$(dirname "$TPRUN"):$PATH" \
        APP=./app TASKS=2 CORES=1 "${@:2}" sh "$ROOT/examples/$1" ./app 2>err | sort
}

@test "the batch scripts run on what the batch system gave to the job" {
    need_cores 2
    local host two
    host=$(hostname)
    two=$(printf 'rank %s of 2 on 1 core\n' 0 1)
    printf '%s\n%s\n' "$host" "$host" >hosts
    equal "$(in_a_job slurm.sh SLURM_JOB_ID=1 SLURM_JOB_NODELIST="$host" SLURM_JOB_CPUS_PER_NODE=2 \
        SLURM_JOB_NUM_NODES=1 SLURM_NTASKS=2 SLURM_CPUS_PER_TASK=1)" "$two"
    equal "$(in_a_job pbs.sh PBS_JOBID=1 PBS_NODEFILE="$PWD/hosts" PBS_O_WORKDIR="$PWD")" "$two"
    equal "$(in_a_job lsf.sh LSB_JOBID=1 LSB_DJOB_HOSTFILE="$PWD/hosts")" "$two"
    printf '%s 2 all.q UNDEFINED\n' "$host" >pe
    equal "$(in_a_job sge.sh JOB_ID=1 PE_HOSTFILE="$PWD/pe")" "$two"
    equal "$(in_a_job pals.sh PBS_JOBID=1 PBS_NODEFILE="$PWD/hosts" PBS_O_WORKDIR="$PWD" BOOTSTRAP=auto)" "$two"
    mkdir flux
    printf '{"version":1,"execution":{"R_lite":[{"rank":"0","children":{"core":"0-1"}}],"nodelist":["%s"]}}\n' "$host" >R
    printf '#!/bin/sh\nexec cat %s/R\n' "$PWD" >flux/flux
    chmod +x flux/flux
    PATH=$PWD/flux:$PATH
    equal "$(in_a_job flux.sh FLUX_URI=local:///x)" "$two"
    # A job of fewer cores is what is used, not this machine.
    head -n 1 hosts >one
    equal "$(in_a_job lsf.sh LSB_JOBID=1 LSB_DJOB_HOSTFILE="$PWD/one")" ''
    grep -q 'asked for 2 tasks, 1 fit' err
}

@test "the batch scripts ask for eight tasks of four cores, as their first lines do" {
    local script
    mkdir bin
    printf '#!/bin/sh\nexec "%s" --print-spec "$@"\n' "$TPRUN" >bin/tprun
    chmod +x bin/tprun
    for script in slurm pbs pals lsf sge flux; do
        env PATH="$PWD/bin:$PATH" APP=./app PBS_O_WORKDIR=. SLURM_JOB_NUM_NODES=2 SLURM_NTASKS=8 \
            SLURM_CPUS_PER_TASK=4 sh "$ROOT/examples/$script.sh" ./app >spec
        jq -e '.parts[0] | .ntasks == 8 and .cores_per_task == 4 and .argv == ["./app"]' spec
    done
}

@test "the launcher of the Kubernetes job starts as many tasks as its workers have slots" {
    local yaml=$ROOT/examples/mpijob.yaml args
    sed -n 's/^ *args: \(\["-n".*\)/\1/p' "$yaml" | jq -r '.[]' >words
    mapfile -t args <words
    run -0 "$TPRUN" --print-spec "${args[@]}"
    equal "$(jq '.parts[0].ntasks' <<<"$output")" 8
    equal "$(($(sed -n 's/^ *slotsPerWorker: //p' "$yaml") * $(sed -n 's/^ *replicas: //p' "$yaml" | tail -n 1)))" 8
}
