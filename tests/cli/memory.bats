# Where the memory of tasks is: --mem-bind.
load ../lib/common
setup_file() { build_programs; }
setup() {
    start_test
    "$PROGRAMS/memory" >own 2>&1 || skip "this kernel, or this container, has no memory policies: $(cat own)"
}
teardown() { nothing_left; }

@test "memory is bound to the NUMA node next to the task's cores" {
    command -v hwloc-calc >/dev/null || skip "no hwloc-calc here"
    local rank mode nodes cpu
    tprun -n "$(nproc)" --map-by core --mem-bind local sh -c \
        'echo "$("$PROGRAMS/memory") $("$PROGRAMS/where" | cut -d" " -f3)"' >out
    equal "$(wc -l <out)" "$(nproc)"
    while read -r rank mode nodes cpu; do
        echo "rank $rank on $cpu"
        equal "$mode $nodes" "bind $(hwloc-calc --physical-input --physical-output -I numanode "pu:${cpu%%[,-]*}")"
    done <out
}

@test "without --mem-bind local the caller's policy is passed on" {
    run -0 --separate-stderr tprun "$PROGRAMS/memory"
    equal "${output#* }" "$(cut -d' ' -f2- own)"
    run -0 --separate-stderr tprun --mem-bind none "$PROGRAMS/memory"
    equal "${output#* }" "$(cut -d' ' -f2- own)"
    run -0 --separate-stderr "$PROGRAMS/memory" "$TPRUN" "$PROGRAMS/memory"
    [[ "$output" == "0 interleave "* ]]
    run -0 --separate-stderr "$PROGRAMS/memory" "$TPRUN" --mem-bind local "$PROGRAMS/memory"
    [[ "$output" == "0 bind "* ]]
}

@test "each part of a program says it for itself" {
    run -0 --separate-stderr tprun --mem-bind local "$PROGRAMS/memory" : "$PROGRAMS/memory"
    equal "$(sort <<<"$output" | cut -d' ' -f2)" "$(printf 'bind\n%s' "$(cut -d' ' -f2 own)")"
}

@test "a task that is not bound has the memory of all that its node gave" {
    run -0 --separate-stderr tprun --bind-to none --mem-bind local "$PROGRAMS/memory"
    [[ "$output" == "0 bind "* ]]
}

@test "a dry run shows where memory would be, of the parts that ask" {
    local machine='n[0-1]=package:2 numa:2 core:2 pu:2'
    TPRUN_OPTIONS='' tprun --dry-run --format=json --topology "$machine" -n 6 --map-by numa:span \
        --mem-bind local a : -n 1 --map-by socket b : -n 1 --map-by socket --mem-bind local \
        --bind-to node c >plan.json
    jq -e '[.tasks[] | [.node, .mems]] == [[0, "0"], [0, "1"], [0, "2"], [0, "3"],
        [1, "0"], [1, "1"], [0, null], [0, "0-3"]]' plan.json
    TPRUN_OPTIONS='' run -0 --separate-stderr tprun --dry-run --display bind --topology "$machine" \
        -n 1 --map-by numa --mem-bind local a : -n 1 b : -n 1 --map-by numa --mem-bind local c
    has_line "$output" "    rank  cpus (OS)  cores (logical)  in                memory of (OS)"
    has_line "$output" "    0     0-3        0-1              socket 0, numa 0  0"
    has_line "$output" "    1     4-7        2-3              socket 0, numa 1"
    TPRUN_OPTIONS='' run -0 --separate-stderr tprun --dry-run --display bind --topology "$machine" -n 1 a
    [[ "$output" != *memory* ]]
}

@test "tasks that differ in nothing but their memory are not shown as going on alike" {
    TPRUN_OPTIONS='' run -0 --separate-stderr tprun --dry-run --display bind --topology 'n0=core:32 pu:1' \
        -n 16 --map-by core --mem-bind local a : -n 16 b
    has_line "$output" "    15    15         15               0"
    has_line "$output" "    16    16         16"
    has_line "$output" "    31    31         31"
}

@test "ordinary memory is local where there are other kinds, and none where there is none" {
    TPRUN_OPTIONS='' run -0 --separate-stderr tprun --dry-run --display bind -n 4 --map-by numa \
        --mem-bind local --topology "n0=@$ROOT/tests/data/topology-memories.xml"
    equal "$(sed '1,3d' <<<"$output" | awk '{ print $NF }' | paste -sd' ')" "1 2 4 none"
}
