# shellcheck disable=SC2154,SC2030,SC2031 # bats sets output and stderr
# A program on several hosts that outlives the shell that started it.
load common
load ../lib/tpctl
setup_file() { start_cluster 4; }
teardown_file() { stop_cluster; }
setup() { start_cluster_test; }
teardown() {
    [ -z "${NO_CLUSTER:-}" ] || return 0
    hosts_clean 8
}

tpctl() { on head "$TPCTL" "$@"; }
run_tpctl() { # -STATUS ARGUMENTS...
    run "$1" --separate-stderr "$CLUSTER" exec head timeout --foreground -k 5 "${LIMIT:-60}" "$TPCTL" "${@:2}"
}
SAY='trap "echo $TPRUN_RANK heard" USR1; echo "$TPRUN_RANK begins"; while :; do sleep 0.05; done 2>/dev/null'

@test "a detached program on three hosts is listed, read, signalled and ended by others" {
    local id
    id=$(on head "$TPRUN" -d --hosts 'node[0-2]' --map-by node -n 3 sh -c "$SAY")
    [[ "$id" =~ ^[0-9]+$ ]]
    wait_for 10 eval '[ "$(tpctl logs "$id" 2>/dev/null | wc -l)" = 3 ]'
    run_tpctl -0 list
    has_line "$output" " *$id running *"
    run_tpctl -0 signal "$id" USR1 --ranks 1
    wait_for 5 eval 'tpctl logs "$id" 2>/dev/null | grep -q "^1 heard"'
    run_tpctl -0 terminate "$id"
    run_tpctl -0 logs --stdout "$id"
    equal "$(sort <<<"$output")" "0 begins
1 begins
1 heard
2 begins"
    run_tpctl -143 attach "$id"
}
