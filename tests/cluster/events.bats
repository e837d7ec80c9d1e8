# shellcheck disable=SC2154 # bats sets stderr
# What tasks of several hosts hear of each other through PMIx, and do to each other.
load common
setup_file() { start_cluster 2; }
teardown_file() { stop_cluster; }
setup() {
    start_cluster_test
    need_pmix_programs
}
teardown() { hosts_clean 4; }

# Ranks 0 and 2 are on node0, 1 and 3 on node1.
event() { run_tprun "$1" --hosts 'node[0-1]' --map-by node -n 4 "${@:2}"; } # -STATUS ARGUMENTS...
lines() { equal "$(sort <<<"$output")" "$(printf '%s\n' "$@")"; }           # of stdout, in order
continue=--on-failure=continue

@test "an event of a task is heard on all hosts that it is for, once" {
    local range
    for range in namespace global; do
        event -0 "$PROGRAMS/pmix-event" tell $range
        lines '0: own of 0, hello' '1: own of 0, hello' '2: own of 0, hello' '3: own of 0, hello'
        equal "$stderr" ""
    done
    event -0 "$PROGRAMS/pmix-event" tell local
    lines '0: own of 0, hello' '2: own of 0, hello'
    event -0 "$PROGRAMS/pmix-event" tell 3
    lines '3: own of 0, hello'
}

@test "where the program goes on all hosts hear of a death, and meet without the dead" {
    event -3 $continue "$PROGRAMS/pmix-event" die 1 3
    lines '0: aborted of 1, 3' '2: aborted of 1, 3' '3: aborted of 1, 3'
    equal "$stderr" "tprun: rank 1 on node1: exited with status 3"
    event -3 $continue "$PROGRAMS/pmix-event" die 1 finalized
    lines '0: failed of 1, 3' '2: failed of 1, 3' '3: failed of 1, 3'
    event -9 $continue "$PROGRAMS/pmix-event" die 0 abort 3
    lines '0: aborted of 3, 143' '1: aborted of 3, 143' '2: aborted of 3, 143'
    equal "$stderr" "tprun: rank 3 on node1: aborted by rank 0 with code 9"
}

@test "a fence that waits for a dead one fails on all hosts, and so do later ones" {
    event -137 $continue "$PROGRAMS/pmix-event" fence 1 kill
    lines '0: aborted of 1, 137' '2: aborted of 1, 137' '3: aborted of 1, 137'
    event -3 $continue "$PROGRAMS/pmix-event" fence 0 3
    lines '1: aborted of 0, 3' '2: aborted of 0, 3' '3: aborted of 0, 3'
}

@test "of two tasks on two hosts the one that is left does not wait" {
    run_tprun -137 --hosts 'node[0-1]' --map-by node -n 2 $continue "$PROGRAMS/pmix-event" fence 0 kill
    lines '1: aborted of 0, 137'
}

@test "a task signals, stops and ends tasks of another host" {
    event -0 "$PROGRAMS/pmix-event" control 3 signal 10
    lines '3: signal 10' SUCCESS
    event -0 "$PROGRAMS/pmix-event" control all signal 10
    lines '0: signal 10' '1: signal 10' '2: signal 10' '3: signal 10' SUCCESS
    event -0 "$PROGRAMS/pmix-event" stop 1
    lines '1: stopped'
    event -0 "$PROGRAMS/pmix-event" control 3 kill
    lines '0: aborted of 3, 137' '1: aborted of 3, 137' '2: aborted of 3, 137' SUCCESS
    equal "$stderr" ""
}

@test "a host that is lost is heard of before the program's end" {
    start_on head "$TPRUN" --hosts 'node[0-1]' --map-by node -n 2 "$PROGRAMS/pmix-event" last 9 -
    wait_for 10 lines_are err 2
    "$CLUSTER" kill node1
    finish
    grep -q '^0: node of 1$' out
    grep -q 'node1: lost' err
    "$CLUSTER" heal
}

# Each set of ranks has rounds of its own, which are forgotten when they are over.
@test "6000 fences of 246 sets of ranks on two hosts leave their agents as large as they were" {
    need_plain_build "what was freed is kept for a while"
    LIMIT=120 run_tprun -0 --hosts 'node[0-1]' --map-by node -n 8 -c 1 --oversubscribe "$PROGRAMS/pmix-event" fences 6000
    echo "$output"
    equal "$(wc -l <<<"$output")" 2
    ! awk '$2 >= 512' <<<"$output" | grep .
}
