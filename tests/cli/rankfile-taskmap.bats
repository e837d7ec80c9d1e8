# Rank files and task maps.
load ../lib/common
setup_file() { build_programs; }
setup() {
    start_test
    unset TPRUN_OPTIONS
}
teardown() { nothing_left; }

TWO='n[0-1]=package:2 core:4 pu:2'
# JQ-TEST TPRUN-ARGUMENTS...: the test holds for what --dry-run says.
planned() {
    local test=$1
    shift
    tprun --dry-run --format=json "$@" true >plan.json || return
    jq -e "$test" plan.json >/dev/null || { echo "not so: $test"; jq -c . plan.json; return 1; }
}
# Each line: what is said | status | the rank file, with ; for newlines | more arguments
refused() {
    local want wanted text words bad=0
    while IFS='|' read -r want wanted text words; do
        [ -n "$want" ] || continue
        tr ';' '\n' <<<"$text" >ranks
        eval "run --separate-stderr tprun --dry-run --topology '$TWO' $words true"
        # shellcheck disable=SC2154
        if [ "$status" != "$wanted" ] || [ -n "$output" ] ||
            [[ "${stderr_lines[0]}" != "tprun: "*"$want"* ]]; then
            printf '%s %s\n  status %s\n  said: %s\n  wanted: %s\n' "$text" "$words" "$status" \
                "$stderr$output" "$want"
            bad=1
        fi
    done
    return $bad
}

@test "a rank file in Open MPI's form places each rank on sockets and cores by logical number" {
    cat >ranks <<'END'
# one socket, then cores of the node
rank 0=n0 slot=1:0-2

rank 2=+n1 slot=0-1,6   # the second node
rank 1 = n0 slot = 0:*
rank 3=n1 slot=p6
END
    planned '[.tasks[] | [.rank, .node, .local_rank, .cpus, .cores]] == [
        [0, 0, 0, "8-13", "4-6"], [1, 0, 1, "0-7", "0-3"],
        [2, 1, 0, "0-3,12-13", "0-1,6"], [3, 1, 1, "6-7", "3"]]' --topology "$TWO" --rankfile ranks
    jq -e '.taskmap.map == [[0, 2, 2, 1]] and .ntasks == 4' plan.json
    jq -e '[.R.execution.R_lite[].children.core] == ["0-6", "0-1,3,6"]' plan.json
}

@test "a plain rank file places each rank on processors by OS index" {
    printf '1 n1 9\n0 n0 0,2-3\n' | planned '[.tasks[] | [.node, .cpus]] == [[0, "0,2-3"], [1, "9"]]' \
        --topology "$TWO" -rf -
}

@test "-n may ask for fewer ranks than the file has, not for more" {
    printf '0 n0 0\n1 n0 1\n2 n0 2\n' >ranks
    planned '.ntasks == 2' -n 2 --topology "$TWO" --rankfile ranks
    run -2 --separate-stderr tprun --dry-run -n 4 --topology "$TWO" --rankfile ranks true
    [[ "$stderr" == *"-n 4"*"ranks 0 to 2"* ]]
}

@test "what is wrong in a rank file is named with file, line and text, and with what there is" {
    refused <<'END'
ranks:2: missing slot=LIST|2|rank 0=n0 slot=0;rank 1=n0 slto=1|--rankfile ranks
ranks:1: missing rank, a number from 0 up|2|something else|--rankfile ranks
ranks: no rank is placed|2|# nothing|--rankfile ranks
ranks:2: rank 0 is already placed in line 1|2|0 n0 0;0 n0 1|--rankfile ranks
ranks: rank 1 is missing|2|0 n0 0;2 n0 1|--rankfile ranks
ranks:1: rank 0: host "n2" is not allocated (allocated: n[0-1])|1|0 n2 0|--rankfile ranks
ranks:1: rank 0: no node +n2|1|rank 0=+n2 slot=0|--rankfile ranks
ranks:1: rank 0: slot "8": n0 has no core 8, it has 0-7|1|rank 0=n0 slot=8|--rankfile ranks
ranks:1: rank 0: slot "2:0": n0 has no socket 2, it has 0-1|1|rank 0=n0 slot=2:0|--rankfile ranks
ranks:1: rank 0: cpus "16": n0 has no processor 16, it has 0-15|1|0 n0 16|--rankfile ranks
ranks:2: rank 1: processor 2 of n0 (OS index, in core 1) is rank 0's already, of line 1|1|0 n0 0-3;1 n0 2|--rankfile ranks
--rankfile: nosuch: cannot be opened|1||--rankfile nosuch
--rankfile says where each rank runs and what it is bound to: leave out --map-by|2|0 n0 0|--rankfile ranks --map-by core
leave out --order (or --rank-by)|2|0 n0 0|--rankfile ranks --rank-by slot
leave out --taskmap|2|0 n0 0|--rankfile ranks --taskmap block
-N 2: ranks uses 1 node|2|0 n0 0;1 n0 1|--rankfile ranks -N 2
END
}

@test "the line that is wrong is shown with a caret under the place" {
    printf '0 n0 0\n rank 1=n0 slot=1,x # comment\n' >ranks
    run -2 --separate-stderr tprun --rankfile ranks true
    equal "$(sed -n 2,3p <<<"$stderr")" 'tprun:    rank 1=n0 slot=1,x
tprun:                     ^'
}

@test "cores that R does not give cannot be named" {
    printf '{"version":1,"execution":{"R_lite":[{"rank":"3","children":{"core":"1,3"}}],"nodelist":["n0"]}}' >R
    printf 'rank 0=n0 slot=*\n' >ranks
    planned '[.tasks[].cores] == ["1,3"]' -R R --topology 'n0=core:4 pu:1' --rankfile ranks
    printf 'rank 0=n0 slot=3\nrank 1=n0 slot=2\n' >ranks
    run -1 --separate-stderr tprun --dry-run -R R --topology 'n0=core:4 pu:1' --rankfile ranks true
    [[ "$stderr" == *'ranks:2: rank 1: slot "2": core 2 of n0 was not allocated'*'1,3'* ]]
}

@test "ranks share processors with --oversubscribe only" {
    printf '0 n0 0-3\n1 n0 2\n' >ranks
    planned '[.tasks[].cpus] == ["0-3", "2"]' --oversubscribe --topology "$TWO" --rankfile ranks
}

@test "the picture says what placed the ranks" {
    printf '0 n0 0-3\n1 n1 2\n' >ranks
    run -0 --separate-stderr tprun --dry-run --topology "$TWO" --rankfile ranks true
    has_line "$output" "Map: 2 tasks on 2 nodes, as rank file ranks says"
    run -0 --separate-stderr tprun --dry-run -n 4 --topology "$TWO" --taskmap cyclic --map-by core true
    has_line "$output" "Map: 4 tasks on 2 nodes, by core, each bound to a core, nodes by task map cyclic"
    run -0 --separate-stderr tprun --dry-run --topology "$TWO" --taskmap '2-3;0-1' true
    has_line "$output" "  n1: as n0, ranks 2 lower"
}

@test "tasks of a rank file run where it says" {
    need_cores 2
    printf 'rank 0=%s slot=1\n1 localhost 0\n' "$(hostname)" >ranks
    run -0 --separate-stderr tprun --rankfile ranks "$PROGRAMS/where"
    equal "$(sort <<<"$output" | cut -d' ' -f1,3)" $'0 1\n1 0'
}

@test "the ranks of a file may be spread over the parts of a program" {
    printf '0 n0 4\n1 n1 0\n2 n1 1\n' >ranks
    tprun --dry-run --format=json --topology "$TWO" -n 1 --rankfile ranks a : -n 2 b >plan.json
    jq -e '[.tasks[] | [.app, .node, .cpus]] == [[0, 0, "4"], [1, 1, "0"], [1, 1, "1"]]' plan.json
}

@test "a spec holds the rank file itself" {
    printf '0 n0 4\n' >ranks
    tprun --print-spec --rankfile ranks true >spec.json
    jq -e '.parts[0].rankfile == "0 n0 4\n" and .parts[0].rankfile_name == "ranks"' spec.json
    rm ranks
    planned_spec=$(tprun --spec spec.json --dry-run --format=json --topology "$TWO")
    jq -e '.tasks[0].cpus == "4"' <<<"$planned_spec"
}

@test "--taskmap block fills one node after the other, and cyclic goes round the nodes" {
    planned '.taskmap.map == [[0, 1, 8, 1], [1, 1, 4, 1]]' -n 12 --taskmap block --topology "$TWO"
    planned '.taskmap.map == [[0, 2, 1, 3]]' -n 6 --taskmap cyclic --topology "$TWO"
    planned '.taskmap.map == [[0, 2, 2, 1], [0, 1, 1, 1]]' -n 5 --taskmap cyclic:2 --topology "$TWO"
    planned '[.tasks[].cores] == ["0", "0", "4", "4"]' -n 4 --taskmap cyclic --map-by socket \
        --bind-to core --topology "$TWO"
}

@test "a task map of any form says which rank is where, and how many there are" {
    local map
    for map in '[[1,1,2,1],[0,1,1,1]]' '{"version":1,"map":[[1,1,2,1],[0,1,1,1]]}' \
        '(vector,(1,1,2),(0,1,1))' '2;0-1' 'manual:2;0-1'; do
        planned '.taskmap.map == [[1, 1, 2, 1], [0, 1, 1, 1]] and .ntasks == 3' \
            --taskmap "$map" --topology "$TWO"
    done
}

@test "what is wrong in a task map is said" {
    refused <<'END'
--taskmap "cylcic": no such scheme, the nearest is cyclic|2||--taskmap cylcic
--taskmap "cyclic:0": behind cyclic:|2||--taskmap cyclic:0
--taskmap: task map: rank 1 is on no node|2||--taskmap '0;2'
--taskmap: the map is empty|2||--taskmap '[]'
--taskmap: the map places 2 tasks, and 3 are asked for|2||--taskmap '0-1' -n 3
--taskmap: the map uses node 2, and 2 nodes are allocated|1||--taskmap '[[2,1,1,1]]'
-N 2: --taskmap uses 1 node|2||--taskmap '0-1' -N 2
--taskmap: the map has 9 tasks on n0 (8 cores), where 8 fit under the limit of 1 task for each core|1||--taskmap '0-8'
--taskmap says how ranks are numbered: leave out --order|2||--taskmap block --order s
END
}

@test "options of 64 KiB of anything are refused in a few lines" {
    local option text
    for option in --map-by --bind-to --mppr --order --rank-by --taskmap --topology --rankfile; do
        for text in "$(printf '%065000d' 0)" "$(head -c 48000 /dev/urandom | base64 -w0)" \
            "$(printf '%065000d' 0 | tr 0 L)" "$(printf '%064000d' 0 | tr 0 '\001')"; do
            run --separate-stderr tprun --dry-run "$option" "$text" true
            [[ $status = [12] ]]
            [ "${#stderr}" -lt 1500 ] || { echo "$option: ${#stderr} bytes"; return 1; }
        done
    done
}

@test "a rank file of megabytes is read, or refused, in seconds" {
    seq 0 999999 | sed 's/$/ n0 0/' >ranks
    run -1 --separate-stderr timeout 20 "$TPRUN" --dry-run --topology "$TWO" --rankfile ranks true
    [[ "$stderr" == "tprun: ranks:2: rank 1: processor 0 of n0"* ]]
    tr -d '\n' <ranks >line
    run -2 --separate-stderr timeout 20 "$TPRUN" --dry-run --topology "$TWO" --rankfile line true
    [[ "${stderr_lines[0]}" == "tprun: line:1: "* ]]
    head -c 20000000 /dev/zero >zeros
    run -2 --separate-stderr timeout 20 "$TPRUN" --dry-run --topology "$TWO" --rankfile zeros true
    [[ "$stderr" == *"larger than 16 MiB"* ]]
}
