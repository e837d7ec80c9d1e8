# Where tasks run: what --dry-run shows, and what is so.
load ../lib/common
setup_file() { build_programs; }
setup() {
    start_test
    unset TPRUN_OPTIONS
}
teardown() { nothing_left; }

BIG='n[0-1]=package:2 numa:4 core:4 pu:2'
# JQ-TEST TPRUN-ARGUMENTS...: the test holds for what --dry-run says.
planned() {
    local test=$1
    shift
    tprun --dry-run --format=json "$@" true >plan.json || return
    jq -e "$test" plan.json >/dev/null || { echo "not so: $test"; jq -c . plan.json; return 1; }
}

# What `where` said, a processor a line.
one_by_one() {
    tr , '\n' <<<"${1##* }" | while IFS=- read -r first last; do seq "$first" "${last:-$first}"; done | sort
}

@test "64 tasks by numa on 2 nodes of 8 domains run four to a domain, each bound to its domain" {
    planned '.version == 1 and .ntasks == 64 and (.tasks | length) == 64
        and (.nodes | map([.id, .host, .target])) == [[0, "n0", 0], [1, "n1", 1]]' \
        -n 64 --map-by numa --topology "$BIG"
    jq -e '[.tasks[] | (.rank % 8) as $domain | select(.app == 0 and .gpus == ""
            and .node == (.rank / 32 | floor) and .local_rank == .rank % 32
            and .cpus == "\(8 * $domain)-\(8 * $domain + 7)"
            and .cores == "\(4 * $domain)-\(4 * $domain + 3)") | .rank] == [range(64)]' plan.json
    jq -e '.taskmap == {version: 1, map: [[0, 2, 32, 1]]}' plan.json
    jq -e '.PMI_process_mapping == "(vector,(0,2,32))"' plan.json
    jq -e '.R.version == 1 and (.R.execution.R_lite | map([.rank, .children.core])) == [["0-1", "0-31"]]' plan.json
}

@test "--display bind of a run is what the kernel says of each task" {
    need_cores 2
    run -0 --separate-stderr tprun -n 2 --map-by core --display bind --format=json "$PROGRAMS/where"
    equal "$(jq -r '.tasks[] | "\(.rank) \(.cpus)"' <<<"$stderr")" "$(sort <<<"$output" | cut -d' ' -f1,3)"
    run -0 --separate-stderr tprun -n 2 --bind-to none --display bind --format=json "$PROGRAMS/where"
    equal "$(jq -r '.tasks[] | "\(.rank) \(.cpus)"' <<<"$stderr")" "$(sort <<<"$output" | cut -d' ' -f1,3)"
    run -0 --separate-stderr tprun -n 2 --map-by core --display map,bind true
    [[ "$stderr" == *Map:*Bindings:* ]]
}

@test "a layout of 64 tasks takes less than 50 ms of processor time" {
    local i took best=999
    for i in 1 2 3 4 5; do
        took=$(processor_ms "$TPRUN" --dry-run --format=json -n 64 --map-by numa --topology "$BIG" true)
        [ "$took" -ge $best ] || best=$took
    done
    echo "# best of 5: $best ms" >&3
    [ $best -lt 50 ]
}

@test "1 Mi tasks on 16 Ki nodes are described whole, in less than 256 MiB" {
    start_watch
    tprun --dry-run --format=json -n 1048576 --map-by numa:span \
        --topology 'n[0-16383]=package:2 numa:8 core:8 pu:1' true >plan.json
    watch_below $((256 << 10))
    equal "$(grep -c '"rank":.*"cpus":"[0-9]*-[0-9]*"' plan.json)" 1048576
    equal "$(tail -n 1 plan.json | grep -o '"rank":"0-16383"')" '"rank":"0-16383"'
    [[ "$(tail -n 2 plan.json)" == *'"rank":1048575,"node":16383,"local_rank":63,'* ]]
}

@test "the most tasks that a program may have take less than 256 MiB and some seconds, and one more is refused" {
    need_plain_build "addresses are not memory"
    local took many=(--dry-run --oversubscribe --topology 'n[0-16383]=package:2 numa:8 core:8 pu:1' -n)
    run -2 --separate-stderr tprun "${many[@]}" 4194305 true
    has_line "$stderr" "tprun: -n: 4194305 tasks are more than the 4194304 that one program may have"
    ulimit -v $((256 << 10))
    run -0 --separate-stderr tprun "${many[@]}" 4194304 true
    has_line "$output" "  n?1-16383?: as n0, ranks 128 higher from node to node"
    took=$(processor_ms "$TPRUN" "${many[@]}" 4194304 true)
    echo "# $took ms" >&3
    [ "$took" -lt 5000 ]
}

@test "65 tasks on 64 cores do not fit, and the message says how many do and what would run them" {
    run -1 --separate-stderr tprun --dry-run -n 65 --map-by numa --topology "$BIG" true
    [[ "$stderr" == *65* && "$stderr" == *64* && "$stderr" == *--oversubscribe* ]]
    planned '.ntasks == 65' -n 65 --map-by numa --oversubscribe --topology "$BIG"
}

@test "limits that leave cores out let tasks share them, and one line says how many do" {
    local crowd='up to 20 tasks share a core on n0 and 1 other node; --oversubscribe leaves this line out'
    local small=(--dry-run --topology 'n[0-1]=core:2 pu:1' --bind-to core)
    for limit in '--per 40:node' '--mppr 40:n -n 80'; do
        # shellcheck disable=SC2086
        run -0 --separate-stderr tprun "${small[@]}" $limit true
        equal "$stderr" "tprun: $crowd"
    done
    for limit in '--per 40:node --oversubscribe' '--per 2:node' '--per 2:core' '--mppr 2:c -n 8' '-n 4'; do
        # shellcheck disable=SC2086
        run -0 --separate-stderr tprun "${small[@]}" $limit true
        equal "$stderr" ""
    done
    need_cores 2
    run -0 --separate-stderr tprun --per "$(($(nproc) + 1)):node" true
    [[ "$stderr" == *"up to 2 tasks share a core on $(hostname)"* ]]
}

@test "by node, tasks go round the nodes" {
    planned '.taskmap.map == [[0, 4, 1, 2]] and .PMI_process_mapping == "(vector,(0,4,1),(0,4,1))"' \
        -n 8 --map-by node --topology 'n[0-3]=package:1 core:2 pu:1'
}

@test "the tasks of -N are spread over the nodes in blocks" {
    planned '.taskmap.map == [[0, 3, 2, 1]]' -N 3 -n 6 --topology 'n[0-7]=core:4 pu:1'
    planned '.ntasks == 3' -N 3 --topology 'n[0-7]=core:4 pu:1'
}

@test "-c gives each task whole cores next to each other" {
    planned '[.tasks[].cores] == ["0-1", "2-3", "4-5"]' -n 3 -c 2 --topology 'n0=package:2 core:4 pu:2'
}

@test "sequential order numbers the tasks along the hardware" {
    planned '[.tasks[].cores] == ["0", "4", "1", "5"]' -n 4 --map-by socket --bind-to core \
        --topology 'n0=package:2 core:4 pu:1'
    planned '[.tasks[].cores] == ["0", "1", "4", "5"]' -n 4 --map-by socket --bind-to core \
        --order sequential --topology 'n0=package:2 core:4 pu:1'
}

@test "only cores in R exist" {
    printf '{"version":1,"execution":{"R_lite":[{"rank":"3","children":{"core":"1,3"}}],"nodelist":["n0"]}}' >R
    planned '[.tasks[].cores] == ["1", "3"] and [.nodes[].target] == [3]' \
        -n 2 --map-by core -R R --topology 'n0=core:4 pu:1'
    run -1 --separate-stderr tprun --dry-run -n 3 --map-by core -R R --topology 'n0=core:4 pu:1' true
}

@test "the parts of a program are placed one after the other" {
    tprun --dry-run --format=json --topology 'n0=core:4 pu:1' -n 1 --map-by core a : -n 2 --map-by core b >plan.json
    jq -e '[.tasks[] | [.rank, .app, .cores]] == [[0, 0, "0"], [1, 1, "1"], [2, 1, "2"]]' plan.json
}

@test "the same request gives the same answer, byte for byte" {
    local i
    for i in 1 2 3; do
        tprun --dry-run --format=json -n 40 --map-by l3cache --topology "$BIG" true >plan.$i 2>&1 || true
        cmp plan.1 plan.$i
    done
}

@test "a dry run starts nothing and shows a picture" {
    run -0 --separate-stderr tprun --dry-run --display map,bind -n 4 --map-by node \
        --topology 'n[0-1]=core:4 pu:1' touch started
    [ ! -e started ]
    has_line "$output" "*n0*"
}

@test "a run on this machine places its tasks as the dry run showed" {
    need_cores 2
    tprun --dry-run --format=json -n 2 --map-by core true >plan.json
    tprun -n 2 --map-by core "$PROGRAMS/where" | sort >real
    jq -r --arg host "$(hostname)" '.tasks[] | "\(.rank) \($host) \(.cpus)"' plan.json | cmp - real
}

@test "without layout options the tasks of a node share the cores that were claimed" {
    need_cores 2
    tprun -n 2 "$PROGRAMS/where" >real
    equal "$(cut -d' ' -f3 real | sort -u | wc -l)" 1
    tprun "$PROGRAMS/where" >real
    equal "$(cut -d' ' -f3 real | tr -dc ',-')" ""
}

@test "two runs side by side claim different cores" {
    need_cores 2
    start "$TPRUN" sh -c "$PROGRAMS/where; exec $PROGRAMS/stay"
    wait_for 5 lines_are out 2
    run -0 --separate-stderr tprun "$PROGRAMS/where"
    kill "$job"
    finish
    echo "first: $(head -n 1 out), second: $output"
    [ "$(head -n 1 out | cut -d' ' -f3)" != "$(cut -d' ' -f3 <<<"$output")" ]
}

@test "a run that does not fit beside another is told so, unless it overlaps" {
    start "$TPRUN" -n "$(nproc)" "$PROGRAMS/stay"
    wait_for 5 lines_are out "$(nproc)"
    run -1 --separate-stderr tprun --no-wait true
    [[ "$stderr" == *held* ]]
    run -0 --separate-stderr tprun --overlap true
    kill "$job"
    finish
}

@test "what a program held is free when it has ended, however it ended" {
    start "$TPRUN" -n "$(nproc)" "$PROGRAMS/stay"
    wait_for 5 lines_are out "$(nproc)"
    kill -9 "$job"
    finish
    nothing_left 3
    run -0 --separate-stderr tprun -n "$(nproc)" true
}

@test "a mask that tprun inherited is not widened" {
    need_cores 2
    run -0 --separate-stderr taskset -c 1 "$TPRUN" "$PROGRAMS/where"
    equal "${output##* }" 1
    run -1 --separate-stderr taskset -c 1 "$TPRUN" -n 2 true
}

@test "an R that says more than the mask allows is refused with both sets" {
    need_cores 2
    printf '{"version":1,"execution":{"R_lite":[{"rank":"0","children":{"core":"0-1"}}],"nodelist":["%s"]}}' "$(hostname)" >R
    run -1 --separate-stderr taskset -c 1 "$TPRUN" -R R -n 1 touch started
    [[ "$stderr" == *0-1* ]]
    [ ! -e started ]
}

@test "an R with more cores than the machine has is refused with both sets" {
    printf '{"version":1,"execution":{"R_lite":[{"rank":"0","children":{"core":"0-9999"}}],"nodelist":["%s"]}}' "$(hostname)" >R
    run -1 --separate-stderr tprun -R R -n 1 touch started
    [[ "$stderr" == *0-9999*"has only cores 0"* ]]
    run -1 --separate-stderr tprun -R R --dry-run -n 1 true
    [[ "$stderr" == *0-9999*"has only cores 0"* ]]
    [ ! -e started ]
}

@test "--bind-to none leaves tasks where they are" {
    run -0 --separate-stderr tprun --bind-to none "$PROGRAMS/where"
    equal "${output##* }" "$("$PROGRAMS/where" | cut -d' ' -f3)"
}

@test "--bind-to none keeps tasks to the cores of R, and off those that another program holds" {
    need_cores 2
    printf '{"version":1,"execution":{"R_lite":[{"rank":"0","children":{"core":"1"}}],"nodelist":["%s"]}}' "$(hostname)" >R
    planned '.tasks[0].cores == "1"' -R R --bind-to none
    equal "$(tprun -R R --bind-to none "$PROGRAMS/where" | cut -d' ' -f3)" "$(jq -r '.tasks[0].cpus' plan.json)"
    start "$TPRUN" sh -c "$PROGRAMS/where; exec $PROGRAMS/stay"
    wait_for 5 lines_are out 2
    run -0 --separate-stderr tprun --bind-to none "$PROGRAMS/where"
    kill "$job"
    finish
    equal "$(comm -12 <(one_by_one "$(head -n 1 out)") <(one_by_one "$output"))" ""
}

@test "a spec that was printed runs as the command line would" {
    tprun -n 2 --map-by core --oversubscribe --print-spec echo hello >spec.json
    jq -e . spec.json >/dev/null
    run -0 --separate-stderr tprun --spec spec.json
    equal "$output" "$(printf 'hello\nhello')"
}

@test "with -N and --oversubscribe nodes that have room for all are preferred" {
    tprun --dry-run --format=json --topology 'n[0-1]=package:2 core:2 pu:1' \
        --topology 'n[2-3]=package:2 numa:2 core:4 pu:2' -N 2 -n 12 --oversubscribe true >plan.json
    equal "$(jq -r '[.nodes[].host] | join(" ")' plan.json)" "n2 n3"
}
