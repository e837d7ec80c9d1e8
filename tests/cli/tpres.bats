# tpres: every method, alone and in pipes.
load ../lib/common
setup() {
    start_test
    unset "${!SLURM_@}" "${!PBS_@}" "${!LSB_@}" "${!FLUX_@}" PE_HOSTFILE TPRUN_R
    TPRES=$(dirname "$TPRUN")/tpres
}
teardown() { nothing_left; }

tpres() { timeout --foreground -k 5 "${LIMIT:-60}" "$TPRES" "$@"; }

# four NODES: n0 to n3 with 8 cores and 2 GPUs, n2 and n3 fast
four() { tpres make --hosts n[0-3] --cores 8 --gpus 2 --property fast:2-3; }
# A cluster of two sockets of two NUMA domains
numa() { tpres make --topology 'a[0-3]=package:2 numa:2(memory=64GB) core:4 pu:2'; }

# brief: an R as RANK@HOST:CORES/GPUS, a node a word
brief() {
    jq -r '.execution | [(.R_lite[] | "\(.rank)=\(.children.core)/\(.children.gpu // "")"),
        "\(.nodelist | join(","))"] | join(" ")'
}

# refused STATUS: lines of what stderr's first line must contain | the arguments
refused() {
    local want words bad=0
    while IFS='|' read -r want words; do
        [ -n "$want" ] || continue
        eval "run --separate-stderr tpres $words" </dev/null
        # shellcheck disable=SC2154
        if [ "$status" != "$1" ] || [ -n "$output" ] ||
            [[ "${stderr_lines[0]}" != "tpres: "*"$want"* ]] || [[ "${stderr_lines[0]}" == *. ]]; then
            printf 'tpres %s\n  status %s (wanted %s)\n  said: %s\n  wanted: %s\n' "$words" \
                "$status" "$1" "$stderr$output" "$want"
            bad=1
        fi
    done
    return $bad
}

@test "help lists every method, and every method has help" {
    local method
    run -0 --separate-stderr tpres --help
    equal "$(grep -c '^  [a-z]' <<<"$output")" 14
    [ "$(wc -L <<<"$output")" -le 80 ]
    for method in $(sed -n 's/^  \([a-z]*\) .*/\1/p' <<<"$output"); do
        tpres "$method" --help >help
        [ "$(wc -L <help)" -le 80 ]
        grep -q "^Usage: tpres $method" help
        grep -q "^\.It Cm .*\b$method\b\|^\.It Cm $method" "$ROOT/man/tpres.1"
    done
    run -0 --separate-stderr tpres --version
    [[ "${lines[0]}" == "tprun "[0-9]* ]]
}

@test "a wrong command line is refused with status 2, and names what is wrong" {
    four >four.json
    refused 2 <<'END'
missing method|
"shw"|shw
show|shw
"--drew"|show --drew
--draw|show --drew
-hosts|select -hosts n0 four.json
--hosts|select -hosts n0 four.json
HOSTLIST|select --hosts
no value|show --draw=3 four.json
unexpected operand|show four.json four.json
missing|append
missing|alloc
--format|show --format xml four.json
--ranks|select --ranks 3-1 four.json
--hosts|select --hosts 'a[' four.json
--requires|select --requires 'fast and (' four.json
--count|select --count 0 four.json
--cores|select --cores x four.json
--gpus|select --gpus 1, four.json
--cores|make --hosts a --cores 0
--cores|make --hosts a
missing hosts|make --cores 3
--hostfile|make --hosts a --hostfile b --cores 3
--from|make --hosts a --from auto
expected slurm|make --from slrm
--topology|make --hosts a --topology nonsense
missing hosts|make --topology 'core:2 pu:1'
--hostfile FILE|make --hosts node0:2 --cores 1
twice|make --topology 'a=core:2 pu:1' --topology 'b,a=core:2 pu:1'
--property|make --hosts a --cores 1 --property x:y
--property x: there is no rank 2 (expected some of "0-1")|make --hosts a,b --cores 1 --property x:0-7
(expected tpres discover)|discover x
--to|idset --to raw 3
list|idset --to raw 3
twice|subtract - - <four.json
slot|alloc -R four.json 'slot'
END
}

@test "a method that cannot be done ends with status 1 and a sentence" {
    four >four.json
    numa >numa.json
    sed 's/"memory":59/"memory":64/' numa.json >other.json
    jq -c '.scheduling.writer = "fluxion" | .scheduling.graph = {}' numa.json >fluxion.json
    jq -c '.scheduling.children[0].topo.socket[0].numa[0].cores = "0-9"' numa.json >across.json
    refused 1 <<'END'
no-such-file|show no-such-file
is empty|check </dev/null
n7|select --hosts n7 four.json
n6|select --exclude n[6-7],n0 four.json
9|select --ranks 0,9 four.json
no node|select --requires nosuch four.json
only 2 nodes match|select --requires fast --count 3 four.json
the result is empty|subtract four.json four.json
SLURM_JOB_ID|make --from slurm
not inside a batch job|make --from auto
n0: cores 0-7 are in both|append four.json four.json
a0 has one topology|append <(tpres select --cores 0-3 numa.json) <(tpres select --cores 4-7 other.json)
another writer|append four.json fluxion.json
another writer|rerank fluxion.json
n9|rerank --hosts n9 four.json
illegal|make --hosts a --cores 1 --property 'a!b'
across.json|check across.json
stdin|idset - < <(printf '3\0')
3-1|idset 3-1
END
}

@test "output that cannot be written is an error with its reason" {
    run -1 --separate-stderr bash -c '"$1" make --hosts n0 --cores 2 >/dev/full' - "${TPRUN%/*}/tpres"
    equal "$stderr" "tpres: stdout: cannot write: No space left on device"
}

@test "this machine is discovered with what it is made of" {
    tpres discover >R.json
    tpres check R.json
    equal "$(jq -r '.execution.nodelist[0]' R.json)" "$(hostname)"
    jq -e '.scheduling.writer == "TreePool" and (.scheduling.children[0].ranks == "0")' R.json
    # As many cores as tprun places tasks on.
    equal "$(tpres check --format=json R.json | jq .cores)" \
        "$(tprun --dry-run --format=json --per 1:core true | jq .ntasks)"
    run -0 tprun -R R.json -n 1 echo fine
    equal "$output" fine
}

@test "only cores that this process may use are discovered" {
    need_cores 2
    run -0 taskset -c "$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')" "$TPRES" discover
    equal "$(jq -r .execution.R_lite[0].children.core <<<"$output" | grep -c '[-,]')" 0
}

@test "an R is made of hosts, counts, sets and a hostfile" {
    equal "$(four | brief)" "0-3=0-7/0-1 n[0-3]"
    equal "$(tpres make --hosts me@b,a,b --cores 2-3 --gpus 1,5 | brief)" "0-1=2-3/1,5 b,a"
    printf 'x slots=4\ny:2 # less\nz slots=4\n' >hosts
    equal "$(tpres make --hostfile hosts | brief)" "0,2=0-3/ 1=0-1/ x,y,z"
    equal "$(tpres make --hostfile hosts --cores 1 | brief)" "0-2=0/ x,y,z"
    equal "$(four | jq -c .execution.properties)" '{"fast":"2-3"}'
}

@test "an R is made of what a batch system granted" {
    export SLURM_JOB_ID=7 SLURM_JOB_NODELIST='n[1-2],x' SLURM_JOB_CPUS_PER_NODE='8(x2),4'
    equal "$(tpres make --from slurm | brief)" "0-1=0-7/ 2=0-3/ n[1-2],x"
    equal "$(tpres make --from auto --cores 2 --gpus 1 | brief)" "0-2=0-1/0 n[1-2],x"
    equal "$(tpres make --from slurm --topology 'core:4 pu:1' | jq -c '.scheduling.children[].ranks')" '"0-2"'
    printf 'a\na\nb\n' >nodes
    equal "$(PBS_JOBID=3 PBS_NODEFILE=nodes tpres make --from pbs | brief)" "0=0-1/ 1=0/ a,b"
    printf 'a slots=2\nb slots=1\n' >workers
    for name in kubernetes mpi-operator; do
        equal "$(K_MPI_JOB_ROLE=launcher OMPI_MCA_orte_default_hostfile=workers tpres make --from $name | brief)" \
            "0=0-1/ 1=0/ a,b"
    done
}

@test "a made R has the topology that it was given" {
    numa >numa.json
    equal "$(brief <numa.json)" "0-3=0-15/ a[0-3]"
    equal "$(jq -c '.scheduling.children | map(.ranks, .topo.socket[1].numa[0])' numa.json)" \
        '["0-3",{"cores":"8-11","memory":59}]'
    tpres make --hosts b,c --topology "@$ROOT/tests/data/topology-gpu-amd.xml" --gpus 2-3 >amd.json
    equal "$(brief <amd.json)" "0-1=0-63/2-3 b,c"
    equal "$(jq -c '.scheduling.children[0].topo.numa | map(.gpus)' amd.json)" '[null,"2-3",null,null]'
    tpres make --topology 'a=core:4 pu:1' --topology 'b,c=package:2 core:4 pu:1' --cores 5 >two.json
    equal "$(brief <two.json)" "0=0-3/ 1-2=0-4/ a,b,c"
    equal "$(jq -c '.scheduling.children | map(.ranks)' two.json)" '["0","1-2"]'
}

@test "tpres make puts into R what it is asked for, or refuses it" {
    local amd="a=@$ROOT/tests/data/topology-gpu-amd.xml"
    equal "$(tpres make --hosts a --cores 16 --gpus 4 --topology 'core:16 pu:1' | brief)" "0=0-15/0-3 a"
    equal "$(tpres make --topology 'a=core:8 pu:1' --gpus 1,3 | brief)" "0=0-7/1,3 a"
    run -2 --separate-stderr tpres make --topology 'a=core:8 pu:1' --cores 4-20
    has_line "$stderr" 'tpres: --cores asks for cores that the topology does not have: it has 0-7'
    run -2 --separate-stderr tpres make --topology "$amd" --gpus 12
    has_line "$stderr" 'tpres: --gpus asks for GPUs that the topology does not have: it has 0-7'
    run -2 --separate-stderr tpres make --topology "$amd" --gpus 6-8
    has_line "$stderr" 'tpres: --gpus asks for GPUs that the topology does not have: it has 0-7'
    run -2 --separate-stderr tpres make --hosts a --hosts b --cores 1
    has_line "$stderr" 'tpres: --hosts, --hostfile and --from all name the hosts: write one of them, once'
    equal "$(tpres make --hosts a,b,c --cores 1 --property p:0 --property p:2 | jq -c .execution.properties)" '{"p":"0,2"}'
}

@test "tpres make keeps of a job's R all that no option cuts" {
    mkdir bin
    # shellcheck disable=SC2016
    printf '#!/bin/sh\ncat "%s/flux.json"\n' "$PWD" >bin/flux
    chmod +x bin/flux
    echo '{"version":1,"execution":{"R_lite":[{"rank":"2-3","children":{"core":"0-7","gpu":"0-1"}}],
        "nodelist":["a[2-3]"],"properties":{"fast":"3"},"starttime":0,"expiration":4000000000}}' >flux.json
    export FLUX_JOB_ID=f1 FLUX_URI=local:///x PATH="$PWD/bin:$PATH"
    equal "$(tpres make --from flux | brief)" "2-3=0-7/0-1 a[2-3]"
    equal "$(tpres make --from flux --cores 2 | brief)" "2-3=0-1/0-1 a[2-3]"
    equal "$(tpres make --from flux --gpus 1 | brief)" "2-3=0-7/0 a[2-3]"
    equal "$(tpres make --from flux --cores 2 --property p | jq -c '.execution | [.properties, .expiration]')" \
        '[{"fast":"3","p":"2-3"},4000000000]'
}

@test "tprun runs on an R that was made" {
    tpres make --hosts n[0-1] --topology 'package:2 core:4 pu:1' --cores 2-5 >R.json
    tprun --dry-run --format=json -R R.json --topology 'n[0-1]=package:2 core:4 pu:1' --map-by socket \
        -n 4 true >plan.json
    equal "$(jq -r '[.tasks[].cores] | join(" ")' plan.json)" "2-3 4-5 2-3 4-5"
}

@test "tpres show has a line for each kind of node, and the same as JSON" {
    { four && numa; } >/dev/null
    tpres append <(four) <(numa) >both.json
    equal "$(tpres show both.json)" "\
RANKS  NODES  HOSTS   CORES  GPUS  TOPOLOGY          PROPERTIES
0-1    2      n[0-1]  0-7    0-1   -                 -
2-3    2      n[2-3]  0-7    0-1   -                 fast
4-7    4      a[0-3]  0-15   -     2 socket, 4 numa  -
8 nodes, 96 cores, 8 GPUs"
    tpres show --format=json <both.json >show.json
    jq -e '[.nodes, .cores, .gpus, .writer] == [8, 96, 8, "TreePool"]
        and (.kinds | map(.ranks) == ["0-1", "2-3", "4-7"])' show.json
    jq -c '.execution.starttime = 0.5 | .execution.expiration = 1700000000' both.json >times.json
    has_line "$(tpres show times.json)" "*, valid from * to 2023-11-14T22:13:20Z"
}

@test "a drawing has every domain and what is held of it" {
    numa | tpres select --ranks 1 --cores 2-9 >some.json
    equal "$(tpres show --draw some.json | tail -n 5)" "\
a1: 8 cores
  socket 0  numa 0  [ cores 2-3 of 0-3 ]
            numa 1  [ cores 4-7 ]
  socket 1  numa 2  [ cores 8-9 of 8-11 ]
            numa 3  [ cores none of 12-15 ]"
    tpres make --topology "b=@$ROOT/tests/data/topology-gpu-amd.xml" >amd.json
    has_line "$(tpres show --draw amd.json)" '  numa 1  ? cores 16-31  gpus 2-3 ?'
    has_line "$(four | tpres show --draw)" 'n?0-1?: 8 cores, 2 gpus, topology not known'
}

@test "check says how much an R is" {
    equal "$(four | tpres check)" "4 nodes, 32 cores, 8 GPUs"
    equal "$(numa | tpres check)" "4 nodes, 64 cores, with topology"
    equal "$(four | jq -c '.execution.nslots = 1' | tpres check)" "4 nodes, 32 cores, 8 GPUs, 1 slot"
    equal "$(tpres make --hosts a --cores 1 | tpres check)" "1 node, 1 core"
}

@test "nodes are selected by what they are, and bring their properties and topology" {
    four >four.json
    equal "$(tpres select --ranks 1,3 four.json | brief)" "1,3=0-7/0-1 n[1,3]"
    equal "$(tpres select --hosts n3,n1 four.json | brief)" "1,3=0-7/0-1 n[1,3]"
    equal "$(tpres select --requires fast four.json | brief)" "2-3=0-7/0-1 n[2-3]"
    equal "$(tpres select --requires 'not fast or host:n3' four.json | brief)" "0-1,3=0-7/0-1 n[0-1,3]"
    equal "$(tpres select --exclude n[0,2] --count 1 four.json | brief)" "1=0-7/0-1 n1"
    equal "$(tpres select --ranks 0-2 --requires fast four.json | jq -c .execution.properties)" \
        '{"fast":"2"}'
    equal "$(tpres select --cores 3 --gpus 0 four.json | brief)" "0-3=0-2/ n[0-3]"
    equal "$(tpres select --cores 7-9 --gpus 1 four.json | brief)" "0-3=7/0 n[0-3]"
    equal "$(numa | tpres select --ranks 2-3 | jq -c '.scheduling.children[].ranks')" '"2-3"'
    numa | tpres select --no-topology | jq -e 'has("scheduling") | not'
}

@test "several sets are one: new hosts keep their ranks or come behind" {
    four >four.json
    equal "$(tpres append four.json <(tpres make --hosts b --cores 4) | brief)" \
        "0-3=0-7/0-1 4=0-3/ n[0-3],b"
    tpres make --hosts b,c --cores 4 | tpres rerank --hosts c >bc.json
    equal "$(tpres select --ranks 0 bc.json | tpres append <(tpres select --ranks 2-3 four.json) - | brief)" \
        "0=0-3/ 2-3=0-7/0-1 c,n[2-3]"
    equal "$(tpres append <(tpres select --cores 0-3 four.json) <(tpres select --cores 4-7 --gpus 0 four.json) | brief)" \
        "0-3=0-7/0-1 n[0-3]"
    equal "$(tpres append four.json <(tpres make --hosts x --cores 1 --property fast) | jq -c .execution.properties)" \
        '{"fast":"2-4"}'
}

@test "topologies are joined with their nodes" {
    numa >numa.json
    tpres make --topology 'b[0-1]=package:2 numa:2(memory=64GB) core:4 pu:2' >like.json
    tpres make --topology 'c=core:4 pu:1' >unlike.json
    tpres append numa.json like.json unlike.json <(four) >all.json
    equal "$(jq -c '.scheduling.children | map(.ranks)' all.json)" '["0-5","6"]'
    equal "$(tpres append <(tpres select --cores 0-3 numa.json) <(tpres select --cores 8-9 numa.json))" \
        "$(tpres select --cores 0-3,8-9 numa.json)"
    tpres rerank --hosts c,a3 all.json >turned.json
    equal "$(jq -c '.scheduling.children | map(.ranks)' turned.json)" '["0","1-6"]'
    equal "$(tpres rerank --hosts a[0-3],b[0-1],c turned.json)" "$(cat all.json)"
}

@test "what is subtracted is gone, and may be appended again" {
    numa >numa.json
    tpres select --hosts a[1-2] --cores 6 numa.json | tpres rerank >held.json
    tpres subtract numa.json held.json >free.json
    equal "$(brief <free.json)" "0,3=0-15/ 1-2=6-15/ a[0-3]"
    equal "$(tpres append free.json held.json)" "$(cat numa.json)"
    equal "$(tpres subtract held.json <numa.json)" "$(cat free.json)"
    equal "$(tpres subtract numa.json held.json free.json 2>&1)" \
        "tpres: the result is empty"
}

@test "an intersection has the ranks of the first set" {
    numa >numa.json
    tpres make --hosts x,a3,a1 --cores 12-99 --gpus 3 >other.json
    equal "$(tpres intersect numa.json other.json | brief)" "1,3=12-15/ a[1,3]"
    equal "$(tpres intersect other.json numa.json | brief)" "1-2=12-15/ a[3,1]"
    tpres intersect numa.json other.json | jq -e '.scheduling.children[0].ranks == "1,3"'
    equal "$(tpres intersect numa.json numa.json)" "$(cat numa.json)"
}

@test "times are kept, and an R that is never valid is refused" {
    four | jq -c '.execution.starttime = 100' >from.json
    tpres make --hosts z --cores 1 | jq -c '.execution.expiration = 200' >to.json
    tpres make --hosts y --cores 1 | jq -c '.execution.expiration = 50' >early.json
    equal "$(tpres append from.json to.json | jq -c '.execution | [.starttime, .expiration]')" "[100,200]"
    equal "$(tpres select --ranks 0 from.json | jq -c .execution.starttime)" 100
    run -1 --separate-stderr tpres append from.json early.json
    [[ "$stderr" == *"never valid together"* ]]
}

@test "methods make a pipeline" {
    four | tpres select --requires fast | tpres rerank | tpres append - <(numa) |
        tpres subtract <(tpres make --hosts n2 --cores 8 --gpus 2) | tpres rerank | tpres check >said
    equal "$(cat said)" "5 nodes, 72 cores, 2 GPUs, with topology"
}

@test "the vectors of RFC 49 come out one after another" {
    local cluster shape want count=0
    local table=$ROOT/tests/data/rfc49_treepool.json
    for cluster in cluster_A cluster_B; do
        jq -c ".$cluster.R" "$table" >R.json
        tpres check R.json
        held=()
        while IFS=$'\t' read -r shape want; do
            tpres alloc -R R.json "${held[@]}" "$shape" >"$cluster.$count"
            equal "$(jq -c .execution.R_lite "$cluster.$count")" "$want"
            tpres check "$cluster.$count"
            held+=(--held "$cluster.$count")
            count=$((count + 1))
        done < <(jq -r ".$cluster.vectors[] | [.shape, (.R_lite | tojson)] | @tsv" "$table")
    done
    equal "$count" 20
}

@test "alloc says by its status whether a shape fits now, later, or never" {
    numa >numa.json
    tpres alloc -R numa.json 'slot=3/node{x}' >held.json
    run -1 --separate-stderr tpres alloc -R numa.json --held held.json 'slot=2/node{x}'
    [ -z "$output" ]
    [[ "$stderr" == "tpres: "* ]]
    run -3 --separate-stderr tpres alloc -R numa.json --held held.json 'slot=5/node{x}'
    equal "$stderr" "tpres: 5 whole nodes: there are only 4"
    run -3 --separate-stderr tpres alloc -R numa.json 'slot/[core;memory=9999999]'
    [[ "$stderr" == "tpres: no node states as much memory as 9999999 GiB: "* ]]
    run -3 --separate-stderr tpres alloc -R numa.json 'slot/core=17'
    run -3 --separate-stderr tpres alloc -R numa.json --requires host:a0 'node=2/slot/core'
    run -2 --separate-stderr tpres alloc -R numa.json 'node=0/slot/core'
    run -1 --separate-stderr tpres alloc -R numa.json --held nosuch.json 'slot/core'
    [[ "$stderr" == *--held*nosuch.json* ]]
}

@test "alloc shows slots, keeps to a constraint, and reads stdin" {
    equal "$(numa | tpres alloc --slots --requires 'host:a2' 'slot=2/core=3' | jq -c .slots)" \
        '[{"rank":2,"cores":"0-2","gpus":""},{"rank":2,"cores":"4-6","gpus":""}]'
    equal "$(numa | tpres alloc 'slot=2/core=3' | jq -c '[.execution.nslots, .scheduling.children[].ranks]')" \
        '[2,"0"]'
}

@test "idsets, hostlists, task maps and shapes come out canonical, or in another form" {
    equal "$(tpres idset '[0,1,2,7]')" 0-2,7
    equal "$(tpres idset --to list 0-1,7 | paste -sd ' ')" "0 1 7"
    equal "$(tpres idset --to=count 0-2147483647)" 2147483648
    equal "$(echo n1,n2 | tpres hostlist)" "n[1-2]"
    equal "$(tpres hostlist --to list 'n[08-10],x' | paste -sd ' ')" "n08 n09 n10 x"
    equal "$(tpres hostlist --to count 'n[0-99],x')" 101
    equal "$(tpres hostlist --to list 'n[08-10],x' | tpres hostlist)" "n[08-10],x"
    equal "$(tpres idset --to list 0-3,7 | tpres idset)" 0-3,7
    equal "$(tpres taskmap '0-3;4-7')" '[[0,2,4,1]]'
    equal "$(tpres taskmap --to wrapped '(vector,(0,2,4))')" '{"version":1,"map":[[0,2,4,1]]}'
    equal "$(tpres taskmap --to raw '[[0,2,1,2]]')" '0,2;1,3'
    equal "$(tpres taskmap --to pmi '[[0,2,1,2]]')" '(vector,(0,2,1),(0,2,1))'
    equal "$(tpres shape 'node=2/slot/core=4')" "$(tpres shape --to json 'node=2/slot/core=4' | tpres shape)"
    run -1 --separate-stderr tpres hostlist 'a[1-'
    run -1 --separate-stderr tpres taskmap '0;0'
    run -1 --separate-stderr tpres shape 'node=/slot'
}

@test "the tables of the RFCs hold for the tool" {
    local text want count=0 data=$ROOT/tests/data
    while IFS=$'\t' read -r text want; do
        equal "$(tpres taskmap -- "$text")" "$want"
        equal "$(tpres taskmap --to raw -- "$want")" "$text"
        count=$((count + 1))
    done < <(jq -r '.vectors[] | select(.raw) | [.raw, (.map | tojson)] | @tsv' "$data/rfc34_taskmap.json")
    while read -r text; do
        run -1 --separate-stderr tpres taskmap -- "$text"
        count=$((count + 1))
    done < <(jq -r '.invalid_map[], .invalid_raw[].in' "$data/rfc34_taskmap.json")
    while IFS=$'\t' read -r text want; do
        equal "$(tpres shape --to json -- "$text" | jq -cS .)" "$(jq -cS . <<<"$want")"
        count=$((count + 1))
    done < <(jq -r '.vectors[] | select(.shape) | [.shape, (.resources | tojson)] | @tsv' "$data/rfc46_shape.json" |
        sed 's/\\\\/\\/g')
    while read -r text; do
        run -1 --separate-stderr tpres shape -- "$text"
        count=$((count + 1))
    done < <(jq -r '.invalid[]' "$data/rfc46_shape.json")
    echo "$count cases"
    [ "$count" -ge 50 ]
}

# bounded STATUS WHAT COMMAND...: ends so, within 10 s of processor time and 2 GiB of addresses, with
# one short sentence
bounded() {
    local want=$1 what=$2 status=0
    shift 2
    (ulimit -v 2097152 && ulimit -t 10 && timeout 300 "$TPRES" "$@") >out 2>err || status=$?
    if [ "$status" != "$want" ] || [ "$(wc -c <err)" -gt 1000 ] ||
        { [ "$want" != 0 ] && [[ "$(head -1 err)" != "tpres: "* ]]; }; then
        echo "$what: status $status (wanted $want): $(head -c 1000 err)"
        return 1
    fi
}
# filled HEAD PIECE BYTES TAIL: the piece again and again
filled() {
    printf '%s' "$1"
    yes "$2" | tr -d '\n' | head -c "$3"
    printf '%s' "$4"
}

@test "input of any size and depth is answered soon, in little memory" {
    need_plain_build "there is no limit of addresses"
    local lite='{"version":1,"execution":{"nodelist":["a[0-9]"],"R_lite":['
    filled '' '[' 100000000 '' >deep.json
    filled '{"version":1,"x":"' a 104857000 '"}' >text.json
    filled '{"version":1,"x":[0' ,0 100000000 ']}' >list.json
    filled '' x 140000000 '' >large.json
    filled '[' '[' 3000 '' >nested.json
    bounded 1 depth check deep.json
    bounded 1 "a long text" check text.json
    bounded 1 "many values" check list.json
    bounded 1 "too many bytes" check large.json
    bounded 1 nesting check nested.json
    filled "$lite" '{"rank":"0-9","children":{"core":"0"}},' 39000000 \
        '{"rank":"0-9","children":{"core":"0"}}]}}' >same.json
    bounded 1 "a million entries of the same ranks" check same.json
    echo "$lite"'{"rank":"0-4294967295","children":{"core":"0"}}]}}' >ids.json
    bounded 1 "ids of 2^32" check ids.json
    echo "$lite"'{"rank":"0-2147483647","children":{"core":"0"}}]}}' >ranks.json
    bounded 1 "2^31 ranks" check ranks.json
    echo "$lite"'{"rank":"0-9","children":{"core":"0-2147483647"}}]}}' >cores.json
    bounded 0 "2^31 cores" check cores.json
    bounded 0 "2^31 cores, the first 3" select --cores 3 cores.json
    bounded 1 "2^31 cores less themselves" subtract cores.json cores.json
    jq -c '.scheduling = {writer: "TreePool", children: [{ranks: "0-2147483647", topo: {cores: "0-2147483647"}}]}' \
        cores.json >topo.json
    bounded 0 "2^31 ranks with a topology" rerank topo.json
    python3 -c 'print("[" * 0 + "{\"version\":1,\"execution\":{\"nodelist\":[\"a\"],\"R_lite\":[{\"rank\":\"0\",\"children\":{\"core\":\"0\"}}]},\"scheduling\":{\"writer\":\"TreePool\",\"children\":[{\"ranks\":\"0\",\"topo\":" + "{\"x\":[" * 900 + "{\"cores\":\"0\"}" + "]}" * 900 + "}]}}")' >tower.json
    bounded 1 "a tower of domains" check tower.json
    bounded 0 "2^20 hosts" hostlist 'a[0-1048575]'
    bounded 1 "more than 2^20 hosts in a range" hostlist 'a[0-1048576]'
    bounded 0 "2^20 hosts a line each" hostlist --to list 'a[0-1048575]'
    bounded 0 "R of 2^20 hosts" make --hosts 'a[0-1048575]' --cores 4
    cp out million.json
    bounded 0 "2^20 nodes in a table" show million.json
    bounded 0 "2^20 nodes less one" select --exclude a77 million.json
    bounded 0 "2^20 nodes turned" rerank --hosts a1048575 million.json
    filled 'slot/[core' ';core' 64000 ']' >shape
    bounded 0 "a shape of 64 KiB" shape - <shape
    filled 'a' '/a' 65000 '' >shape
    bounded 1 "a deep shape" shape - <shape
    filled '' 1, 60000000 '' >ids
    bounded 1 "a long idset" idset - <ids
    bounded 1 "a task map of 2^32 tasks" taskmap '[[0,65536,65536,1]]'
}

@test "a machine of 16384 nodes that all differ is joined and cut in a second or two" {
    python3 - >R.json <<'END'
import json
print(json.dumps({"version": 1, "execution": {"nodelist": ["n[0-16383]"], "R_lite":
    [{"rank": str(i), "children": {"core": "%d-%d" % (i, i + 127)}} for i in range(16384)]},
    "scheduling": {"writer": "TreePool", "children":
    [{"ranks": str(i), "topo": {"numa": [{"cores": "%d-%d" % (i, i + 63)},
                                         {"cores": "%d-%d" % (i + 64, i + 127)}]}}
     for i in range(16384)]}}))
END
    seq 0 2 16383 | paste -sd, >even
    ulimit -t 8 # each
    LIMIT=300 tpres select --ranks "$(cat even)" R.json >some.json
    LIMIT=300 tpres subtract R.json some.json >rest.json
    LIMIT=300 tpres append some.json rest.json >all.json
    LIMIT=300 tpres rerank --hosts n16383 all.json | LIMIT=300 tpres check >said
    equal "$(cat said)" "16384 nodes, 2097152 cores, with topology"
    cmp <(jq -S . all.json) <(jq -S . R.json)
}
