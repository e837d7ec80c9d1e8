# What examples/ shows, works.
load ../lib/common
setup_file() { build_programs; }
setup() { start_test; }
teardown() { nothing_left 4; }

@test "the MPI ring runs with 64 tasks on this machine" {
    need_mpich
    LIMIT=120 run -0 --separate-stderr tprun -n 64 --map-by numa "$PROGRAMS/mpi-ring"
    equal "$(grep -c 'is on my left$' <<<"$output")" 64
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
