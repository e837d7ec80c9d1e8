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

@test "tpctl attach --input: ranks on other hosts, one of which has ended, and nobody else" {
    local id
    # shellcheck disable=SC2016 # for the tasks' shells
    id=$(on head "$TPRUN" -d -i all --on-failure=continue --hosts 'node[0-3]' --fanout 1 --map-by node -n 4 sh -c '
        [ $TPRUN_RANK != 3 ] || exit 1
        while read -r line; do echo "$TPRUN_RANK: $line"; done; echo "$TPRUN_RANK at its end"')
    wait_for 10 eval '[ "$(tpctl ps "$id" | grep -c "^[0-9]")" = 3 ]'
    run_tpctl -4 attach -i 1,3 "$id" </dev/null
    has_line "$stderr" "tpctl: program $id: rank 3 has ended"
    run_tpctl -1 attach -i 4 "$id" </dev/null
    has_line "$stderr" "tpctl: program $id: unknown rank 4 (expected 0-3)"
    "$CLUSTER" exec head "$TPCTL" attach -i 1-2 --eof "$id" \
        < <(head -c 200K /dev/zero | tr '\0' '\n'; echo last) >out 2>err 3>&- &
    wait_for 20 eval '[ "$(tpctl logs "$id" --stdout | sort -u | paste -sd,)" = "1 at its end,1: ,1: last,2 at its end,2: ,2: last" ]'
    run_tpctl -1 attach -i 0 --eof "$id" <<<"to rank 0"
    [ "$(grep -c '^2: $' <<<"$output")" = 204800 ]
    equal "$(grep '^0' <<<"$output")" "0: to rank 0
0 at its end"
}

@test "a run on three hosts that is left with Ctrl-C Ctrl-Z goes on, and is ended by others" {
    mkfifo answers
    printf 'exec "%s" --hosts "node[0-2]" --map-by node -n 3 sh -c '\''%s'\''\n' "$TPRUN" "$SAY" >session
    export CLUSTER
    # shellcheck disable=SC2016
    start sh -c '"$CLUSTER" exec head timeout 60 script -qefc "exec sh $PWD/session" "$PWD/typescript" <answers'
    exec 8>answers
    wait_for 20 in_typescript begins 3
    printf '\003\032' >&8
    finish
    exec 8>&-
    equal "$status" 0
    local id
    id=$(sed -n 's/.*program \([0-9]*\) goes on.*/\1/p' typescript)
    run_tpctl -0 list
    has_line "$output" " *$id running *"
    run_tpctl -0 signal "$id" USR1
    wait_for 5 eval '[ "$(tpctl logs "$id" 2>/dev/null | wc -l)" = 3 ]'
    run_tpctl -0 terminate "$id"
    run_tpctl -0 logs --stdout "$id"
    equal "$(sort <<<"$output")" "0 heard
1 heard
2 heard"
}
