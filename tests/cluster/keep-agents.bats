# shellcheck disable=SC2154,SC2030,SC2031,SC2016,SC2012 # bats sets output and stderr; scripts are quoted
# --keep-agents over ssh: runs on head, agents on node0 to node3. An ssh that writes down each call counts connections.
load common
load ../lib/tpctl
setup_file() { start_cluster 4; }
teardown_file() { stop_cluster; }
setup() {
    start_cluster_test
    unset TPRUN_OPTIONS
    printf '#!/bin/sh\necho >>%s/calls\nexec ssh "$@"\n' "$PWD" >counted
    chmod +x counted
    : >calls
    KEPT=(--ssh "$PWD/counted" --keep-agents)
    ALL4=(--hosts 'node[0-3]')
}
teardown() {
    [ -z "${NO_CLUSTER:-}" ] || return 0
    [ ! -e killed ] || "$CLUSTER" boot node2 3>&-
    "$CLUSTER" heal 3>&-
    hosts_clean 15
}
tpctl() { on head "$TPCTL" "$@"; }
run_kept() { run_tprun "$1" "${KEPT[@]}" "${@:2}"; } # -STATUS FSD ARGUMENTS...
calls() { wc -l <calls; }
keeper() { tpctl list --format=json | jq -r '.programs[] | select(.agents) | .id'; }
end_kept() {
    # shellcheck disable=SC2046
    on head "$TPCTL" terminate $(keeper)
}
kept_is() { tpctl list | grep -q "($1"; }

@test "the second run connects to no host, and nothing is left after the time" {
    run_kept -0 60s "${ALL4[@]}" -n 4 --map-by node uname -n
    equal "$(sort <<<"$output")" "$(printf 'node%s\n' 0 1 2 3)"
    equal "$stderr" ""
    equal "$(calls)" 4
    run_kept -0 1s "${ALL4[@]}" -n 4 --map-by node uname -n
    equal "$(sort <<<"$output")" "$(printf 'node%s\n' 0 1 2 3)"
    equal "$stderr" ""
    equal "$(calls)" 4
    hosts_clean 8
}

@test "input, output, exit status and spawned tasks are as without" {
    local want
    want=$(head -c 16777216 /dev/zero | cksum)
    run_kept -0 60s "${ALL4[@]}" true
    head -c 16777216 /dev/zero >zeros
    "$CLUSTER" exec head timeout 60 "$TPRUN" "${KEPT[@]}" 60s "${ALL4[@]}" -n 2 --map-by node --input 1 sh -c '[ "$TPRUN_RANK" = 0 ] || cat' <zeros | cksum >got
    equal "$(cat got)" "$want"
    run_kept -9 60s "${ALL4[@]}" -n 4 --map-by node sh -c '[ "$TPRUN_RANK" != 2 ] || exit 9'
    has_line "$stderr" "tprun: rank 2 on node2: exited with status 9"
    run_kept -0 60s "${ALL4[@]}" -n 4 --map-by node --oversubscribe "$PROGRAMS/pmi-spawn" tree 1 4
    equal "$(grep -c '^depth 1 ' <<<"$output")" 4
    equal "$(calls)" 4
    end_kept
}

@test "a task that was launched before its agent answered may end before those that it spawned elsewhere" {
    write_R R 4
    run_kept -0 60s -R R -n 1 true
    run_kept -0 60s -R R -n 1 -v "$PROGRAMS/pmi-spawn" run host=node1 -- 1 sh -c 'sleep .5; echo "still on $(uname -n)"'
    has_line "$stderr" "tprun: resources: R file R, 4 nodes; 1 of them asked"
    [[ $stderr != *"lost:"* ]]
    has_line "$output" "still on node1"
    end_kept
}

@test "an MPI program runs on agents that are kept" {
    need_openmpi
    local i
    for i in 1 2; do
        run_kept -0 60s "${ALL4[@]}" -n 4 --map-by node "$OPENMPI/mpi-hello"
        equal "$(wc -l <<<"$output")" 4
    done
    equal "$(calls)" 4
    end_kept
}

@test "other hosts have their own, and another user at a host is another" {
    run_kept -0 60s --hosts 'node[0-1]' -n 2 --map-by node true
    equal "$(calls)" 2
    run_kept -0 60s --hosts 'node[1-2]' -n 2 --map-by node uname -n
    equal "$(sort <<<"$output")" "$(printf 'node1\nnode2')"
    equal "$(calls)" 4
    run_kept -0 60s --hosts 'root@node3' true
    equal "$(calls)" 5
    run_kept -0 60s --hosts 'root@node3' uname -n
    equal "$output" node3
    run_kept -0 60s --hosts 'node[0-1]' true
    equal "$(calls)" 5
    equal "$(tpctl list --format=json | jq -r '.programs[].agents.hosts' | sort)" "$(printf 'node3\nnode[0-1]\nnode[1-2]')"
    end_kept
}

@test "a host that does not answer is left out where the others suffice, and named where it is needed" {
    "$CLUSTER" sshd node2 KILL
    : >killed
    run_kept -0 60s "${ALL4[@]}" -n 1 uname -n
    equal "$output" node0
    has_line "$stderr" "tprun: node2: not started: connect: *; no agent is kept there"
    run_kept -0 60s "${ALL4[@]}" -n 1 uname -n
    equal "$output" node0
    equal "$(calls)" 4
    run_kept -1 60s "${ALL4[@]}" -N 4 -n 4 true
    has_line "$stderr" "tprun: node2: not started: *no agent is kept there: it did not start, or was lost; *"
    end_kept
}

@test "a host that crashes ends those that are idle, and the next run has others" {
    run_kept -0 60s --node-timeout 3s "${ALL4[@]}" -n 4 --map-by node true
    "$CLUSTER" crash node2
    wait_for 20 eval '[ -z "$(keeper)" ]'
    run_kept -0 1s --hosts 'node[0,1,3]' -n 3 --map-by node uname -n
    equal "$(sort <<<"$output")" "$(printf 'node0\nnode1\nnode3')"
    "$CLUSTER" heal 3>&-
    hosts_clean 10
}

@test "a run that does not use the host that crashes goes on" {
    run_kept -0 60s --node-timeout 3s "${ALL4[@]}" -n 4 --map-by node true
    start_on head "$TPRUN" "${KEPT[@]}" 60s "${ALL4[@]}" -N 1 -n 1 sh -c 'echo ready; while [ ! -e go ]; do sleep 0.1; done; echo done'
    wait_for 10 lines_are out 1
    "$CLUSTER" crash node3
    sleep 8
    equal "$(calls)" 4
    : >go
    finish
    cat err
    [ "$status" = 0 ]
    equal "$(cat out)" "$(printf 'ready\ndone')"
    wait_for 20 eval '[ -z "$(keeper)" ]' # with its last run
    "$CLUSTER" heal 3>&-
    hosts_clean 10
}

front() { processes head tprun | head -n 1; }
manager() { processes head tprun-manager | head -n 1; }
an_ssh() { processes head ssh | head -n 1; }
agent() { processes node1 tpagent | tail -n 1; }
guard() { processes node1 tpagent | head -n 1; }
nursery() { processes node1 tprun-nursery; }
@test "whoever is killed, nothing is left on any host" {
    local who victim
    for who in front manager an_ssh agent guard nursery; do
        run_kept -0 60s "${ALL4[@]}" -n 4 --map-by node true
        victim=$($who)
        [ -n "$victim" ] || { echo "no $who"; "$CLUSTER" left; false; }
        kill -9 "$victim"
        hosts_clean 10 || { echo "$who"; return 1; }
    done
}

@test "whoever is killed while a run uses them, nothing is left on any host" {
    local who victim
    for who in front manager an_ssh agent guard; do
        run_kept -0 60s "${ALL4[@]}" -n 4 --map-by node true
        victim=$($who)
        [ $who != agent ] || victim=
        start_on head "$TPRUN" "${KEPT[@]}" 60s "${ALL4[@]}" -n 4 --map-by node "$PROGRAMS/stay" fork escape
        wait_for 20 lines_are out 4 || { cat err; return 1; }
        [ -n "$victim" ] || victim=$($who)
        kill -9 "$victim"
        finish
        echo "$who: status $status: $(cat err)"
        [ "$status" != 0 ]
        [ $who != agent ] || end_kept # they are none of the run
        hosts_clean 15 || { echo "$who"; return 1; }
    done
}

@test "nothing is left in files of any host" {
    know_files
    run_kept -0 1s "${ALL4[@]}" -n 4 --map-by node true
    run_kept -0 1s "${ALL4[@]}" -n 4 --map-by node true
    hosts_clean 8
    files_clean
}
