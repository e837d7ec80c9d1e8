# shellcheck disable=SC2154,SC2030,SC2031 # bats sets stderr, start_everywhere id
# Commands for a program on several hosts: who hears a signal, what all tasks use, and hosts that do not answer.
load common
load ../lib/tpctl
setup_file() { start_cluster 4; }
teardown_file() { stop_cluster; }
setup() { start_cluster_test; }
teardown() {
    [ -z "${NO_CLUSTER:-}" ] || return 0
    "$CLUSTER" heal 3>&-
    hosts_clean 8
}

tpctl() { on head "$TPCTL" "$@"; }
run_tpctl() { # -STATUS ARGUMENTS...
    run "$1" --separate-stderr "$CLUSTER" exec head timeout --foreground -k 5 "${LIMIT:-60}" "$TPCTL" "${@:2}"
}
# Ranks 0 and 4 are on node0, 1 and 5 on node1, and so on: they say what they hear. Sets $id.
# shellcheck disable=SC2016 # for the tasks' shell
HEAR='trap "echo $TPRUN_RANK:USR1" USR1; echo "ready $TPRUN_PROGRAM"; while :; do sleep 0.05; done 2>/dev/null'
start_everywhere() { # OPTIONS...
    start_on head "$TPRUN" --hosts 'node[0-3]' --map-by node -n 8 "$@" sh -c "$HEAR"
    wait_for 20 lines_are out 8 || { cat err; return 1; }
    id=$(sed -n '1s/ready //p' out)
}
heard() { [ "$(grep -v ready out | sort | paste -sd' ')" = "$1" ]; }
end_program() {
    run_tpctl -0 terminate "$id"
    finish
    equal "$status" 143
}

@test "a signal for the ranks of one host is heard there alone" {
    local fanout
    for fanout in 32 1; do
        start_everywhere --fanout $fanout
        run_tpctl -0 signal "$id" USR1 --ranks 2,6
        equal "$output$stderr" ""
        wait_for 5 heard "2:USR1 6:USR1"
        run_tpctl -0 signal "$id" USR1
        wait_for 5 heard "0:USR1 1:USR1 2:USR1 2:USR1 3:USR1 4:USR1 5:USR1 6:USR1 6:USR1 7:USR1"
        end_program
    done
}

@test "ps shows the tasks of all hosts, however the tree is made" {
    local fanout
    for fanout in 32 1; do
        start_everywhere --fanout $fanout
        run_tpctl -0 ps "$id"
        equal "$stderr" ""
        equal "$(awk 'NR > 1 { print $1, $2 }' <<<"$output")" \
            $'0 node0\n1 node1\n2 node2\n3 node3\n4 node0\n5 node1\n6 node2\n7 node3'
        end_program
    done
}

@test "terminate returns when nothing is left on any host" {
    start_everywhere
    run_tpctl -0 terminate "$id"
    equal "$(for host in node0 node1 node2 node3; do processes $host sh; done)" ""
    finish
    equal "$status" 143
    has_line "$(cat err)" "tprun: ended by tpctl (pid *)"
}

@test "a host that does not answer is named, and the others are shown and hear it" {
    start_everywhere --node-timeout 60s
    "$CLUSTER" freeze node1
    run_tpctl -1 ps "$id"
    equal "$stderr" "tpctl: program $id: node1: no answer in time, so what runs there is not shown"
    equal "$(awk 'NR > 1 { print $1 }' <<<"$output" | paste -sd' ')" "0 2 3 4 6 7"
    run_tpctl -1 signal "$id" USR1 --ranks 1-2
    equal "$stderr" "tpctl: program $id: SIGUSR1 did not reach rank 1 (no answer in time from node1)"
    run_tpctl -1 signal "$id" WINCH
    equal "$stderr" "tpctl: program $id: SIGWINCH did not reach tasks on node1 (no answer in time)"
    wait_for 5 grep -q 2:USR1 out
    "$CLUSTER" thaw node1
    wait_for 10 grep -q 1:USR1 out # it comes late
    run_tpctl -0 ps "$id"
    end_program
}

@test "a host that is lost while it is asked ends the question and the program" {
    start_everywhere --node-timeout 1s
    "$CLUSTER" crash node2
    run tpctl ps "$id"
    [ "$status" = 1 ] || [ "$status" = 4 ] || [ "$status" = 0 ]
    finish
    equal "$status" 1
    has_line "$(cat err)" "tprun: node2: lost: *"
    run_tpctl -4 signal "$id" TERM
}
