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
