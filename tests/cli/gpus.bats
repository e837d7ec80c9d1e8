# GPUs: which a task gets, where it then runs, and what it sees of them.
load ../lib/common
setup_file() { build_programs; }
setup() {
    start_test
    unset TPRUN_OPTIONS CUDA_VISIBLE_DEVICES CUDA_DEVICE_ORDER ROCR_VISIBLE_DEVICES \
        HIP_VISIBLE_DEVICES GPU_DEVICE_ORDINAL ZE_AFFINITY_MASK ZE_FLAT_DEVICE_HIERARCHY
}
teardown() { nothing_left; }

NVIDIA=n0=@$ROOT/tests/data/topology-gpu-nvidia.xml
AMD=n0=@$ROOT/tests/data/topology-gpu-amd.xml
INTEL=n0=@$ROOT/tests/data/topology-gpu-intel.xml

# "CORES/GPUS ..." of each rank, for these arguments.
planned() {
    tprun --dry-run --format=json "$@" >plan.json || return
    jq -r '[.tasks[] | "\(.cores)/\(.gpus)"] | join(" ")' plan.json
}
granted() { jq -c '[.R.execution.R_lite[] | [.rank, .children.core, .children.gpu]]' plan.json; }

# An R of this machine with GPUs that nobody can see here.
need_no_gpus() {
    ls /sys/class/drm/renderD* /proc/driver/nvidia/gpus/* >/dev/null 2>&1 &&
        skip "this machine has GPUs of its own"
    printf '{"version":1,"execution":{"R_lite":[{"rank":"0","children":{"core":"0-%s","gpu":"%s"}}],"nodelist":["%s"]}}' \
        "$(($(nproc) - 1))" "$1" "$(hostname)" >R
}
# shellcheck disable=SC2016
SEEN='echo "$TPRUN_RANK ${CUDA_VISIBLE_DEVICES-unset} ${ZE_AFFINITY_MASK-unset} ${ROCR_VISIBLE_DEVICES-unset}"'

# ---- planned ----

@test "on two sockets with 8 NVIDIA GPUs each task gets the GPU next to its cores" {
    equal "$(planned --topology "$NVIDIA" -n 8 -g 1)" \
        "16/2 17/3 48/0 49/1 80/6 81/7 112/4 113/5"
    equal "$(planned --topology "$NVIDIA" -n 4 -g 2 -c 16)" \
        "16-31/2-3 48-63/0-1 80-95/6-7 112-127/4-5"
}

@test "on a node whose GPUs are numbered unlike its NUMA domains they still go with their cores" {
    equal "$(planned --topology "$AMD" -n 8 -g 1 -c 8)" \
        "0-7/4 8-15/5 16-23/2 24-31/3 32-39/6 40-47/7 48-55/0 56-63/1"
    equal "$(planned --topology "$AMD" -n 4 --map-by numa --gpu-bind closest)" \
        "0-15/4-5 16-31/2-3 32-47/6-7 48-63/0-1"
}

@test "on a node with 3 Intel GPUs a socket, GPUs of one socket go together first" {
    equal "$(planned --topology "$INTEL" -n 3 -g 2)" "0/0-1 52/3-4 1/2,5"
}

@test "the R of a dry run holds the GPUs, and no others" {
    planned --topology "$AMD" -n 3 -g 1
    equal "$(granted)" '[["0","0-1,16","2,4-5"]]'
    planned --topology "$AMD" -n 3
    equal "$(granted)" '[["0","0-2",null]]'
}

@test "--per 1:gpu runs one task a GPU, on the cores of its domain" {
    equal "$(planned --topology "$AMD" --per 1:gpu)" \
        "0-15/4 0-15/5 16-31/2 16-31/3 32-47/6 32-47/7 48-63/0 48-63/1"
    equal "$(planned --topology "$AMD" --per 1:gpu -n 3 -c 8)" "0-7/4 8-15/5 16-23/2"
}

@test "--per N:LEVEL runs so many tasks on each object, or at most -n" {
    equal "$(planned --topology 'n[0-1]=numa:2 core:4 pu:1' --per 1:numa)" "0-3/ 4-7/ 0-3/ 4-7/"
    equal "$(planned --topology 'n[0-1]=numa:2 core:4 pu:1' --per 1:numa -n 3)" "0-3/ 4-7/ 0-3/"
    planned --topology 'n[0-3]=core:4 pu:1' --per 3:node -N 2
    jq -e '.ntasks == 6 and .taskmap.map == [[0, 2, 1, 3]]' plan.json
}

@test "--per beside what it says itself is refused" {
    run -2 --separate-stderr tprun --dry-run --topology "$AMD" --per 1:gpu --map-by core
    [[ "$stderr" == *--per*--map-by* ]]
    run -2 --separate-stderr tprun --dry-run --topology "$AMD" --per 2:numa --mppr 1:c
    [[ "$stderr" == *--per*--mppr* ]]
    run -2 --separate-stderr tprun --dry-run --topology "$AMD" --per 1:gpu -g 2
    [[ "$stderr" == *--per*-g\ 2* ]]
}

@test "more GPUs than there are: the message says how many each node has and what would run" {
    run -1 --separate-stderr tprun --dry-run --topology "$AMD" -g 1 -n 9
    [[ "$stderr" == *"8 fit with 1 GPU for each task"*"8 on n0 (8 GPUs"*"-n 8 would run"* ]]
    run -1 --separate-stderr tprun --dry-run --topology "$AMD" -g 9
    [[ "$stderr" == *"n0, has 8; -g 8 would run"* ]]
    run -1 --separate-stderr tprun --dry-run --topology 'n0=core:4 pu:1' -g 1
    [[ "$stderr" == *"n0 has no GPU"* ]]
}

@test "only GPUs in R exist, and they stay with the cores in R" {
    printf '{"version":1,"execution":{"R_lite":[{"rank":"7","children":{"core":"8-15,48-55","gpu":"1,5"}}],"nodelist":["n0"]}}' >R
    equal "$(planned -R R --topology "$AMD" -n 2 -g 1 -c 8)" "8-15/5 48-55/1"
    equal "$(granted)" '[["7","8-15,48-55","1,5"]]'
    run -1 --separate-stderr tprun --dry-run -R R --topology "$AMD" -n 3 -g 1 -c 8
}

@test "an R that gives GPUs which the node does not have is refused" {
    printf '{"version":1,"execution":{"R_lite":[{"rank":"0","children":{"core":"0-7","gpu":"0-8"}}],"nodelist":["n0"]}}' >R
    run -1 --separate-stderr tprun --dry-run -R R --topology "$AMD" -g 1
    [[ "$stderr" == *"n0: GPUs 0-8 were allocated"*"0-7"* ]]
}

@test "a slot may have more GPUs than any machine" {
    printf '{"version":1,"execution":{"R_lite":[{"rank":"0","children":{"core":"0-1","gpu":"0-1499"}}],"nodelist":["n0"]}}' >R
    equal "$(planned -R R --topology 'n0=core:2 pu:1' --shape 'slot/[core=1;gpu=1500]')" "0/0-1499"
}

# ---- real ----

@test "each task sees its own GPUs and no others" {
    need_cores 2
    need_no_gpus 0-3
    tprun -R R -n 2 -g 2 sh -c "$SEEN" | sort >real
    equal "$(cat real)" "$(printf '0 0,1 0,1 unset\n1 2,3 2,3 unset')"
}

@test "a task that was given none sees none" {
    need_cores 2
    need_no_gpus 0-3
    tprun -R R -n 1 -g 4 sh -c "$SEEN" : -n 1 --map-by core sh -c "$SEEN" | sort >real
    equal "$(cat real)" "$(printf '0 0,1,2,3 0,1,2,3 unset\n1 -1 -1 unset')"
}

@test "what each task of a run is bound to is shown with its GPUs" {
    need_cores 2
    need_no_gpus 0-3
    tprun -R R -n 1 -g 3 --display bind true : -n 1 --map-by core true 2>shown
    equal "$(awk '$1 == "rank" || $1 ~ /^[01]$/ { print $1, $($1 == "rank" ? 6 : 4) }' shown)" \
        "$(printf 'rank gpus\n0 0-2\n1 none')"
    tprun -R R -n 2 --map-by core --display bind true 2>shown
    run ! grep gpus shown
}

@test "without -g, and with --gpu-bind none, the variables are left alone" {
    need_no_gpus 0-3
    export CUDA_VISIBLE_DEVICES=0,1 ZE_AFFINITY_MASK=7
    equal "$(tprun -R R sh -c "$SEEN")" "0 0,1 7 unset"
    equal "$(tprun -R R -g 1 --gpu-bind none sh -c "$SEEN")" "0 0,1 7 unset"
    equal "$(tprun -R R -g 1 --gpu-bind none -x CUDA_VISIBLE_DEVICES=5 sh -c "$SEEN")" "0 5 7 unset"
}

@test "what -g gives takes the place of what the caller, or -x, had set" {
    need_no_gpus 0-3
    equal "$(HIP_VISIBLE_DEVICES=0 ROCR_VISIBLE_DEVICES=3 tprun -R R -g 2 \
        -x ZE_AFFINITY_MASK=1 sh -c "$SEEN; echo \${HIP_VISIBLE_DEVICES-unset}")" \
        "$(printf '0 0,1 0,1 unset\nunset')"
}

@test "GPUs that tprun itself may not see are not given out" {
    need_no_gpus 0-3
    export CUDA_VISIBLE_DEVICES=1,3
    equal "$(tprun -R R -g 2 sh -c "$SEEN")" "0 1,3 1,3 unset"
    run -1 --separate-stderr tprun -R R -g 3 true
    [[ "$stderr" == *"has 2; -g 2 would run"*CUDA_VISIBLE_DEVICES* ]]
    CUDA_VISIBLE_DEVICES=GPU-01234567 run -1 --separate-stderr tprun -R R -g 1 true
    [[ "$stderr" == *"by UUID"* ]]
}

@test "--gpu-bind closest shares" {
    need_cores 2
    need_no_gpus 0-1
    tprun -R R -n 2 --gpu-bind closest --map-by core sh -c "$SEEN" | sort >real
    equal "$(cat real)" "$(printf '0 0,1 0,1 unset\n1 0,1 0,1 unset')"
}

@test "--per 1:gpu really starts one task a GPU" {
    need_no_gpus 0-2
    tprun -R R --per 1:gpu sh -c "$SEEN" | sort >real
    equal "$(cat real)" "$(printf '0 0 0 unset\n1 1 1 unset\n2 2 2 unset')"
}

@test "two runs never get one GPU, and the second is told who holds the others" {
    need_cores 2
    need_no_gpus 0-2
    start "$TPRUN" -R R -g 2 sh -c "$SEEN; exec $PROGRAMS/stay"
    wait_for 5 lines_are out 2
    equal "$(tprun -R R -g 1 sh -c "$SEEN")" "0 2 2 unset"
    run -1 --separate-stderr tprun --no-wait -R R -g 2 true
    [[ "$stderr" == *"has 1; -g 1 would run"*"2 GPUs held by other running programs"* ]]
    equal "$(tprun -R R --overlap -g 3 sh -c "$SEEN")" "0 0,1,2 0,1,2 unset"
    kill "$job"
    finish
    equal "$(head -n 1 out)" "0 0,1 0,1 unset"
    equal "$(tprun -R R -g 3 sh -c "$SEEN")" "0 0,1,2 0,1,2 unset"
}

@test "a run inside a task draws on that task's GPUs" {
    need_cores 2
    need_no_gpus 0-3
    # shellcheck disable=SC2016
    tprun -R R -n 2 -g 2 --bind-to none sh -c \
        '"$TPRUN" -g 2 -R R sh -c "echo $TPRUN_RANK \$CUDA_VISIBLE_DEVICES"' | sort >real
    equal "$(cat real)" "$(printf '0 0,1\n1 2,3')"
}
