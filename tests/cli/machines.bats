# Layouts of kinds of machines, beside their topologies in data/machines: NAME.xml is what hwloc
# says of the machine, NAME.txt how that was made, and policies and what tprun has to make of them.
# There, a line "$ NODES OPTIONS" is a dry run on that many such nodes; below it, tasks that share
# a node and a binding make one line; # begins a comment.
load ../lib/common
setup() {
    start_test
    unset TPRUN_OPTIONS
}

MACHINES=$ROOT/tests/data/machines

# Tasks in lines such as "  ranks 0,2  n0  cores 0-7  cpus 0-7,16-23", by first rank.
show_plan() {
    jq -r '.nodes as $nodes | .tasks | group_by([.node, .cpus, .cores]) | sort_by(.[0].rank)[]
        | "  \(if length == 1 then "rank" else "ranks" end) \(map(.rank) | join(","))"
        + "  \($nodes[.[0].node].host)  cores \(.[0].cores)  cpus \(.[0].cpus)"'
}

# plan NAME NODES OPTIONS...
plan() {
    local name=$1 nodes=$2
    shift 2
    tprun --dry-run --format=json "$@" --topology "$nodes=@$MACHINES/$name.xml" true >plan.json 2>refusal
    case $? in
    0) show_plan <plan.json ;;
    1) echo "  refused" ;;
    *) cat refusal ;;
    esac
}

# The whole table as it comes out today, comments kept.
table() {
    local line
    while IFS= read -r line; do
        case $line in
        '$ '*)
            printf '%s\n' "$line"
            # shellcheck disable=SC2086
            plan "$1" ${line#'$ '}
            ;;
        '  '*) ;;
        *) printf '%s\n' "$line" ;;
        esac
    done <"$MACHINES/$1.txt"
}

as_written() {
    grep -q '^\$ ' "$MACHINES/$1.txt"
    table "$1" >table.txt || true
    diff -u --label "$1.txt" --label "as it is" "$MACHINES/$1.txt" table.txt
}

@test "layouts on a Xeon whose processors are numbered in turn by socket are right" { as_written xeon; }
@test "layouts on a Xeon with sub-NUMA clusters inside of its L3 caches are right" { as_written xeon-snc2; }
@test "layouts on an EPYC with one NUMA domain and four L3 caches a socket are right" { as_written epyc-nps1; }
@test "layouts on an EPYC with four NUMA domains and eight L3 caches a socket are right" { as_written epyc-nps4; }
@test "layouts on four MI300A with three L3 caches in each domain are right" { as_written mi300a; }
@test "layouts on two Grace-Hopper with NUMA nodes that have no processors are right" { as_written grace-hopper; }
@test "layouts on a Knights Landing with two NUMA nodes for the same processors are right" { as_written knl; }
@test "layouts on a laptop with unlike cores are right" { as_written laptop; }
@test "layouts on a machine with a core offline are right" { as_written offline; }
@test "layouts on a machine with two boards are right" { as_written boards; }
@test "layouts on a virtual machine without caches are right" { as_written vm; }

@test "every machine has its test, and a comment that says how it was made" {
    local file name
    for file in "$MACHINES"/*.xml; do
        name=$(basename "$file" .xml)
        grep -q "as_written $name;" "$BATS_TEST_FILENAME"
        grep -q 'Made with lstopo' "$MACHINES/$name.txt"
        grep -q 'it was not measured on one' "$MACHINES/$name.txt"
        ! grep '<!--' "$file" || return # hwloc without its plugins reads no comments
    done
}

@test "cores that a topology says may not be used are left alone" {
    tprun --dry-run --format=json -n 14 --map-by core \
        --topology "n0=@$ROOT/tests/data/topology-boards.xml" true >plan.json
    jq -e '[.tasks[].cores] == ["0", "1", (range(4; 16) | tostring)]' plan.json
    run -1 --separate-stderr tprun --dry-run -n 15 --map-by core \
        --topology "n0=@$ROOT/tests/data/topology-boards.xml" true
    [[ "$stderr" == *"14 fit"* ]]
}
