# shellcheck disable=SC2154,SC2016 # bats sets stderr; $0 is for the tasks' shells
# Names that tasks of several hosts publish through PMIx and PMI.
load common
setup_file() { start_cluster 4; }
teardown_file() { stop_cluster; }
setup() {
    start_cluster_test
    "$TPRUN" --version | grep -qi 'pmix [0-9]' || skip "this tprun has no PMIx"
    NAMES=$PROGRAMS/pmix-names
    [ -x "$NAMES" ] || skip "no libpmix-dev here"
}
teardown() { hosts_clean 4; }

# The last rank of each four publishes what all await, on 1, 2 and 4 hosts.
@test "what a task publishes is found on every host, and waited for there" {
    local hosts
    for hosts in node0 'node[0-1]' 'node[0-3]'; do
        run_tprun -0 -n 8 --hosts "$hosts" --map-by node sh -c '
            [ $TPRUN_RANK = 7 ] || exec "$0" await n 20 lookup nothing
            exec "$0" publish n "of $(uname -n)"' "$NAMES"
        equal "$(sort <<<"$output" | sed 's/".*"/V/' | uniq -c | sed 's/^ *//')$stderr" "7 await n: V of 7
7 lookup nothing: NOT-FOUND
1 publish n: ok"
    done
}

@test "what is to be read once is found by one task of all hosts" {
    run_tprun -0 -n 9 --hosts 'node[0-3]' --map-by node sh -c '
        [ $TPRUN_RANK = 0 ] || exec "$0" await a 2 await b 2 await c 2
        exec "$0" once a 1 once b 2 once c 3' "$NAMES"
    equal "$(grep -v ok <<<"$output" | sort | uniq -c | sed 's/^ *//')" '1 await a: "1" of 0
7 await a: TIMEOUT
1 await b: "2" of 0
7 await b: TIMEOUT
1 await c: "3" of 0
7 await c: TIMEOUT'
}

@test "a program on other hosts finds names, waits for them, and reads once what is to be read once" {
    local place=(--overlap -n 2 --hosts 'node[1-2]' --map-by node)
    start_on head "$TPRUN" "${place[@]}" sh -c '
        [ $TPRUN_RANK = 0 ] || { "$0" await late 30 await late 1 await never 1; touch enough; }' "$NAMES"
    run_tprun -0 "${place[@]}" sh -c '[ $TPRUN_RANK = 1 ] || exec "$0" once late here until enough lookup late' "$NAMES"
    equal "$output" 'once late: ok
lookup late: NOT-FOUND'
    finish
    equal "$(cat out)" 'await late: "here" of 0
await late: TIMEOUT
await never: TIMEOUT'
}
