# --shape and --requires: what is allocated, and which slot of it each task gets.
load ../lib/common
setup_file() { build_programs; }
setup() {
    start_test
    unset TPRUN_OPTIONS CUDA_VISIBLE_DEVICES CUDA_DEVICE_ORDER ROCR_VISIBLE_DEVICES \
        HIP_VISIBLE_DEVICES GPU_DEVICE_ORDINAL ZE_AFFINITY_MASK ZE_FLAT_DEVICE_HIERARCHY
}
teardown() { nothing_left; }

VECTORS=$ROOT/tests/data/rfc49_treepool.json
TWO='n[0-1]=package:2 numa:2 core:4 pu:2'
NVIDIA=n0=@$ROOT/tests/data/topology-gpu-nvidia.xml

# "HOST:CORES[+GPUS] ..." of each rank, for these arguments.
planned() {
    tprun --dry-run --format=json "$@" >plan.json || return
    jq -r '.nodes as $n | [.tasks[] | "\($n[.node].host):\(.cores)" +
        (if .gpus == "" then "" else "+\(.gpus)" end)] | join(" ")' plan.json
}
granted() { jq -c '[.R.execution.R_lite[] | [.rank, .children.core, .children.gpu]]' plan.json; }
# R_OF CORES-A-NODE [PROPERTIES]: nodes a0 to a3 with two sockets, which R tells of.
write_R() {
    jq -n --arg all "0-$(($1 - 1))" --arg one "0-$(($1 / 2 - 1))" --arg two "$(($1 / 2))-$(($1 - 1))" \
        --argjson properties "${2:-null}" '{version: 1,
        execution: ({R_lite: [{rank: "0-3", children: {core: $all}}], nodelist: ["a[0-3]"]}
            + if $properties then {properties: $properties} else {} end),
        scheduling: {writer: "TreePool", children: [{ranks: "0-3",
            topo: {socket: [{cores: $one}, {cores: $two}]}}]}}' >R
}
# An R of this machine, with its two cores in one NUMA domain each.
write_own_R() {
    printf '{"version":1,"execution":{"R_lite":[{"rank":"0","children":{"core":"0-1"}}],"nodelist":["%s"]},
        "scheduling":{"writer":"TreePool","children":[{"ranks":"0","topo":{"numa":[{"cores":"0"},{"cores":"1"}]}}]}}' \
        "$(hostname)" >R
}

# ---- planned ----

@test "the shapes of RFC 49 for its cluster A, as parts of one program, get what it says" {
    local shape args=()
    jq .cluster_A.R "$VECTORS" >R
    while IFS= read -r shape; do
        args+=(${args[@]+:} --shape "$shape" true)
    done < <(jq -r '.cluster_A.vectors[].shape' "$VECTORS")
    planned -R R --topology 'a[0-15]=package:2 numa:4 core:15 pu:1' "${args[@]}" >/dev/null
    # Every core and GPU of each part as [PART, RANK OF R, ID].
    jq -c --slurpfile plan plan.json '
        def ids: if . == null or . == "" then empty else split(",")[] | split("-") | map(tonumber)
            | range(.[0]; .[-1] + 1) end;
        def all(kind): [.cluster_A.vectors | to_entries[] | .key as $part | .value.R_lite[]
            | .children[kind] as $set | (.rank | ids) as $rank | ($set | ids) | [$part, $rank, .]] | sort;
        def given(kind): $plan[0] | .nodes as $n | [.tasks[] | [.app, $n[.node].target] as $at
            | .[kind] | ids | $at + [.]] | sort;
        all("core") == given("cores") and all("gpu") == given("gpus")' "$VECTORS" >same
    equal "$(cat same)" true
    equal "$(jq -c '[.tasks[].app] | group_by(.) | map(length)' plan.json)" '[1,1,8,4,1,1,6,1,1,1,1]'
    equal "$(jq -r .R.execution.nslots plan.json)" 26
}

@test "numa{x} is a whole domain, on a machine that only its topology tells of" {
    equal "$(planned --topology "$TWO" --shape 'slot=3/numa{x}')" "n0:0-3 n0:4-7 n0:8-11"
    equal "$(granted)" '[["0","0-11",null]]'
    equal "$(jq -c '.R.scheduling.children[0].topo.socket[0].numa[1].cores' plan.json)" '"4-7"'
}

@test "node{x} claims the whole node, whatever its slots take" {
    equal "$(planned --topology "$TWO" --shape 'node{x}/slot=2/core=3')" "n0:0-2 n0:4-6"
    equal "$(granted)" '[["0","0-15",null]]'
    equal "$(jq -r .R.execution.nslots plan.json)" 2
}

@test "each slot has GPUs beside its cores, and its task sees these" {
    equal "$(planned --topology "$NVIDIA" --shape 'slot=4/[core=4;gpu=1]')" \
        "n0:16-19+2 n0:20-23+3 n0:48-51+0 n0:52-55+1"
    equal "$(granted)" '[["0","16-23,48-55","0-3"]]'
}

@test "slots are spread over as many nodes as the shape says" {
    equal "$(planned --topology "$TWO" --shape 'node=2/slot=2/core=2')" "n0:0-1 n0:2-3 n1:0-1 n1:2-3"
    equal "$(planned --topology "$TWO" --shape 'slot=2/node/core=9')" "n0:0-8 n1:0-8"
    equal "$(jq -c .taskmap.map plan.json)" '[[0,2,1,1]]'
}

@test "-n leaves slots empty, and they stay allocated" {
    equal "$(planned --topology "$TWO" -n 1 --shape 'slot=3/core=2')" "n0:0-1"
    equal "$(granted)" '[["0","0-5",null]]'
    run -2 tprun --dry-run --topology "$TWO" -n 4 --shape 'slot=3/core=2'
    equal "$output" "tprun: -n 4: --shape gives 3 slots, and each takes one task; ask for fewer tasks, or for more slots"
}

@test "a range takes as many slots as there is room for" {
    equal "$(planned --topology "$TWO" --shape 'node/slot=1-9/core=4')" "n0:0-3 n0:4-7 n0:8-11 n0:12-15"
}

@test "with --map-by or --bind-to tasks are placed over what was allocated" {
    equal "$(planned --topology "$TWO" --map-by core --shape 'slot=2/socket{x}')" "n0:0 n0:1"
    equal "$(planned --topology "$TWO" --map-by socket --shape 'slot=2/core=6')" "n0:0-5 n0:8-13"
    equal "$(granted)" '[["0","0-5,8-13",null]]'
    equal "$(planned --topology "$TWO" --bind-to none --shape 'slot=2/core=3')" "n0:0-2,4-6 n0:0-2,4-6"
    equal "$(granted)" '[["0","0-2,4-6",null]]'
    equal "$(planned --topology "$NVIDIA" --map-by core -n 2 --shape 'slot=2/[core=4;gpu=1]')" \
        "n0:16+2-3 n0:17+2-3"
}

@test "parts have shapes of their own: later ones get what earlier ones left" {
    equal "$(planned --topology "$TWO" --shape slot/core a : --shape 'slot=3/numa{x}' b : --shape slot/core=2 c)" \
        "n0:0 n0:4-7 n0:8-11 n0:12-15 n0:1-2"
    equal "$(jq -r .R.execution.nslots plan.json)" 5
    run -1 tprun --dry-run --topology 'n0=core:4 pu:1' --shape slot/core=3 a : --shape slot/core=2 b
    [[ "$output" == "tprun: --shape: part 2: "*"the parts before it take the rest, whatever others hold" ]]
}

@test "pictures say which shape, and what of it is idle" {
    run -0 tprun --dry-run --display alloc,map --topology "$TWO" --shape 'node{x}/slot=2/core=3'
    has_line "$output" "Allocated: 1 node, 16 cores"
    has_line "$output" "Map: 2 tasks on 1 node, each bound to its slot of node{x}/slot=2/core=3"
    has_line "$output" "*numa 0 * 0 0 0 . *1 1 1 .*"
}

# ---- refused ----

@test "what does not go with --shape is refused by name" {
    local option
    for option in '-c 2' '-g 1' '--per 1:core' '--taskmap cyclic'; do
        # shellcheck disable=SC2086
        run -2 tprun --dry-run --shape slot/core $option
        equal "${lines[0]}" "tprun: --shape says what each task gets: leave out ${option% *}"
    done
    printf '0 n0 0\n' >ranks
    run -2 tprun --dry-run --shape slot/core --rankfile ranks
    equal "${lines[0]}" "tprun: --shape says what each task gets: leave out --rankfile"
    run -2 tprun --dry-run --shape slot/core -N 2
    equal "${lines[0]}" "tprun: -N 2: --shape says on how many nodes, as in node=2/slot/core: leave out -N"
    run -2 tprun --dry-run --shape slot/core --mppr 1:c
    [[ "$output" == "tprun: --shape binds each task to a slot of its own: leave out --mppr, or "* ]]
    run -2 tprun --dry-run --shape slot/core a : b
    equal "${lines[0]}" "tprun: --shape says what part 1 gets, and part 2 has none: give every part a shape, or none of them"
    run -2 tprun --dry-run --shape slot/core a : --shape slot/core --map-by core b
    [[ "$output" == "tprun: part 2: --map-by beside --shape is for a program of one part: "* ]]
}

@test "a malformed shape, or one that no pool could honour, is refused before R is read" {
    run -2 tprun --shape 'slot=2/core=' --hosts nowhere true
    [[ "$output" == "tprun: --shape: "* ]]
    run -2 tprun --shape 'slot/gpu' --hosts nowhere true
    [[ "$output" == "tprun: --shape: a task runs on a core, and there is none in this slot; "* ]]
    run -2 tprun --shape 'slot/node=2/core' --hosts nowhere true
    [[ "$output" == "tprun: --shape: "* ]]
}

@test "a shape that never fits is refused at once, and what there is is said" {
    write_R 8
    run -1 tprun --shape 'slot/core=9' -R R true
    [[ "$output" == "tprun: --shape: "* ]]
    run -1 tprun --dry-run --shape 'node=3/slot/core' --topology "$TWO"
    [[ "$output" == "tprun: --shape: "* ]]
}

# ---- which nodes ----

@test "--requires chooses nodes by properties, names and ranks, with and without a shape" {
    write_R 8 '{"fast": "1-3", "slow": "2"}'
    local A='a[0-3]=package:2 core:4 pu:1'
    equal "$(planned -R R --topology "$A" --requires 'fast and not slow' -n 9)" \
        "a1:0-7 a1:0-7 a1:0-7 a1:0-7 a1:0-7 a1:0-7 a1:0-7 a1:0-7 a3:0"
    equal "$(planned -R R --topology "$A" --requires '^fast' --shape slot/core=2)" "a0:0-1"
    equal "$(planned -R R --topology "$A" --requires '{"properties":["slow"]}' --shape slot/core=2)" "a2:0-1"
    equal "$(planned --topology "$A" --requires 'host:a[2-3]' --shape 'node=2/slot/core')" "a2:0 a3:0"
    equal "$(planned --topology "$A" --requires 'rank:3' -n 1)" "a3:0"
}

@test "--requires that leaves no node says which properties there are" {
    write_R 8 '{"fast": "1-3", "slow": "2"}'
    run -2 tprun -R R --requires ssd true
    equal "${lines[0]}" 'tprun: --requires "ssd": no node of R file R has the property "ssd"; known properties: "fast", "slow"'
    run -2 tprun --hosts a,b --requires ssd true
    equal "${lines[0]}" 'tprun: --requires "ssd": no node of --hosts has the property "ssd": properties come from an R (-R FILE)'
    run -2 tprun --hosts a,b --requires host:c true
    equal "${lines[0]}" 'tprun: --requires "host:c": no node of --hosts matches'
    run -2 tprun --requires 'fast and' true
    [[ "$output" == "tprun: --requires: "* ]]
}

@test "a property that no node has is told of, where others are left" {
    write_R 8 '{"fast": "1-3"}'
    run -0 tprun --dry-run -R R --topology 'a[0-3]=core:8 pu:1' --requires 'fast or sdd' -n 1
    has_line "$output" 'tprun: --requires: no node of --topology has the property "sdd"; known properties: "fast"'
    run -0 tprun --dry-run --topology "$TWO" --requires 'host:n1 or slow' -n 1
    has_line "$output" 'tprun: --requires: no node of --topology has the property "slow": properties come from an R (-R FILE)'
}

# ---- run ----

@test "tasks run on the cores of their slots" {
    need_cores 2
    tprun --shape slot=2/core=1 "$PROGRAMS/where" | sort >real
    tprun --dry-run --format=json --shape slot=2/core=1 >plan.json
    equal "$(cut -d' ' -f1,3 real)" "$(jq -r '.tasks[] | "\(.rank) \(.cpus)"' plan.json)"
    run -0 tprun --shape slot/core=2 "$PROGRAMS/where"
    equal "${output##* }" 0-1
}

@test "the domains of an R with topology decide, before any agent starts" {
    need_cores 2
    write_own_R
    tprun -R R --shape 'slot=2/numa{x}' "$PROGRAMS/where" | sort >real
    equal "$(cut -d' ' -f1,3 real)" "$(printf '0 0\n1 1')"
}

@test "the granted R is an R that can be allocated from" {
    need_cores 2
    tprun --dry-run --format=json --shape slot/core true | jq .R >R
    run -0 tprun -R R --shape slot/core "$PROGRAMS/where"
    has_line "$output" "0 * $(jq -r '.execution.R_lite[0].children.core' R)"
}

@test "the program's directory has the granted R, and which slots it is made of" {
    need_cores 2
    # shellcheck disable=SC2016
    run -0 tprun -n 1 --shape slot=2/core=1 sh -c \
        'cd $TPRUN_INSTANCE/programs/$TPRUN_PROGRAM && cat R.json slots.json'
    jq -s -c '[.[0].execution | .nslots, .R_lite[0].children.core]' <<<"$output" >R
    equal "$(cat R)" '[2,"0-1"]'
    equal "$(jq -s -c '.[1] | [.version, (.slots[] | [.part, .rank, .cores, .gpus])]' <<<"$output")" \
        '[1,[0,0,"0",""],[0,0,"1",""]]'
}

# A run that holds core 0 until `stop` is there.
hold_a_core() {
    start "$TPRUN" "$@" --shape slot/core=1 sh -c ': >up; while [ ! -e stop ]; do sleep 0.05; done'
    wait_for 5 test -e up
}

@test "cores that others hold are not allocated, and a refusal says who holds them" {
    need_cores 2
    hold_a_core
    run -0 tprun --shape slot/core "$PROGRAMS/where"
    equal "${output##* }" 1
    run -1 tprun --no-wait --shape "slot/core=$(nproc)" true
    [[ "$output" == "tprun: --shape: "*" held by others; program 1 (sh -c "*", since "*", for "*"s) holds core 0 of "*"; --overlap shares them" ]]
    run -0 tprun --overlap --shape "slot/core=$(nproc)" "$PROGRAMS/where"
    equal "${output##* }" "0-$(($(nproc) - 1))"
    : >stop
    finish
    equal "$status" 0
}

@test "a shape waits for cores that others hold, and one that never fits is refused at once" {
    local how
    need_cores 2
    write_own_R
    for how in '' '-R R'; do
        rm -f up stop
        # shellcheck disable=SC2086
        hold_a_core $how
        # shellcheck disable=SC2086
        LIMIT=20 run -1 tprun $how --shape "slot/core=$(($(nproc) + 1))" true
        # shellcheck disable=SC2086
        tprun $how --shape slot=2/core "$PROGRAMS/where" >second 3>&- &
        sleep 0.5
        [ ! -s second ]
        : >stop
        finish
        equal "$status" 0
        wait $!
        equal "$(sort second | cut -d' ' -f1,3)" "$(printf '0 0\n1 1')"
    done
}
