# Every worked case of LAMA through the command line: data/lama.jsonl, a line a case.
load ../lib/common
setup() {
    start_test
    unset TPRUN_OPTIONS
}

CASES=$ROOT/tests/data/lama.jsonl

# A line a case: the words of a command line, quoted for the shell. Where some processors only are
# allocated (`restrict`, a mask), an R says which cores those are, in the file R.NUMBER.
command_lines() {
    jq -r 'def given($option; $value): [$option, $value // "none"];
        [ "-n", (.np | tostring) ] + [ "--map-by", .map ] + given("--bind-to"; .bind)
        + given("--mppr"; .mppr) + [ "--order", .order ]
        + (if .oversubscribe then [ "--oversubscribe" ] else [] end)
        + (if any(.nodes[]; .restrict) then [ "-R", "R.\(input_line_number)" ] else [] end)
        + (.nodes | to_entries | map("--topology", "node\(.key)=\(.value.synthetic)"))
        | @sh' "$CASES"
}

# Of a mask in hex and threads a core, the cores.
cores_of() {
    local core cores='' mask=$(($1)) threads=$2
    for ((core = 0; mask >> (core * threads); core++)); do
        ((!(mask >> (core * threads) & 1))) || cores+=,$core
    done
    echo "${cores#,}"
}

# The masks are of machines whose processors are numbered along the cores, and allocate whole ones.
write_resources() {
    local number mask threads
    jq -r 'select(any(.nodes[]; .restrict)) | [input_line_number, .nodes[0].restrict,
        (.nodes[0].synthetic | capture("^[^(]*pu:(?<n>[0-9])$").n)] | @tsv' "$CASES" >restricted
    while read -r number mask threads; do
        printf '{"version":1,"execution":{"R_lite":[{"rank":"0","children":{"core":"%s"}}],"nodelist":["node0"]}}' \
            "$(cores_of "$mask" "$threads")" >"R.$number"
    done <restricted
}

# placed STATUS: what came out, as the case has it. A host's number is that of the case's node, of
# which some may be unused.
placed() {
    if [ "$1" = 0 ]; then
        jq -c '.nodes as $nodes | [.tasks[] | {rank, cpus,
            node: ($nodes[.node].host | ltrimstr("node") | tonumber)} | {rank, node, cpus}]' plan
    elif [ "$1" -le 2 ] && [ -s refusal ]; then
        echo '"refused"'
    else
        echo "status $1"
    fi
}

@test "this file's helper finds the cores of a mask" {
    equal "$(cores_of 0x3b 1)" 0,1,3,4,5
    equal "$(cores_of 0xf3fc 2)" 1,2,3,4,6,7
}

@test "all 216 worked cases come out as written, through the command line" {
    local line status
    command_lines >lines
    equal "$(wc -l <lines)" 216
    write_resources
    [ "$(find . -name 'R.*' | wc -l)" = "$(grep -c restrict "$CASES")" ]
    while IFS= read -r line; do
        status=0
        eval "tprun --dry-run --format=json $line true" >plan 2>refusal || status=$?
        placed "$status" >>got
    done <lines
    jq -c '.expect' "$CASES" >expected
    paste -d'\n' lines expected >expected.lines
    paste -d'\n' lines got >got.lines
    diff -u expected.lines got.lines
}
