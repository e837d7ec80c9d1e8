# shellcheck disable=SC2154 # bats sets stderr
# Tasks that are added to a running program, on several hosts.
load common
setup_file() { start_cluster 4; }
teardown_file() { stop_cluster; }
setup() { start_cluster_test; }
teardown() { hosts_clean; }

SPAWN=$PROGRAMS/pmi-spawn

ranks_are() { # LAST: TPRUN_RANK of each line of $output, each once
    equal "$(grep -o '[0-9]* of the program' <<<"$output" | cut -d' ' -f1 | sort -n)" "$(seq 0 "$1")"
}

@test "a tree of spawns on 3 hosts: all are counted, and all are gone at the end" {
    run_tprun -0 -n 3 --map-by node --oversubscribe --hosts 'node[0-2]' "$SPAWN" tree 2 2
    equal "$stderr" ""
    ranks_are 20
    equal "$(grep -c '^depth 0 ' <<<"$output")" 12
    equal "$(grep -c '^depth 1 ' <<<"$output")" 6
    hosts_clean
}

@test "a group over all hosts has barriers and keys across them, while others have theirs" {
    run_tprun -0 -n 3 --map-by node --oversubscribe --hosts 'node[0-2]' --bootstrap ssh "$SPAWN" tree 1 6
    equal "$stderr" ""
    ranks_are 20
}

@test "a tree of spawns works below inner agents" {
    run_tprun -0 -n 4 --fanout 1 --map-by node --oversubscribe --hosts 'node[0-3]' "$SPAWN" tree 1 5
    equal "$stderr" ""
    ranks_are 23
}

@test "info says on which of the program's hosts, and how they are mapped" {
    run_tprun -0 -n 3 --map-by node --oversubscribe --hosts 'node[0-2]' sh -c \
        "[ \$TPRUN_RANK != 0 ] || $SPAWN run host=node2 -- 2 sh -c 'echo on \$(hostname) rank \$TPRUN_RANK'"
    equal "$(grep '^on ' <<<"$output" | sort)" "$(printf 'on node2 rank 3\non node2 rank 4')"
    run_tprun -0 -n 3 --map-by node --oversubscribe --hosts 'node[0-2]' sh -c \
        "[ \$TPRUN_RANK != 0 ] || $SPAWN run map_by=node -- 3 sh -c 'echo on \$(hostname) rank \$TPRUN_RANK'"
    equal "$(grep '^on ' <<<"$output" | sort)" "$(printf 'on node0 rank 3\non node1 rank 4\non node2 rank 5')"
}

@test "blocks of one spawn may name different hosts, and still are one group" {
    run_tprun -0 -n 3 --map-by node --oversubscribe --hosts 'node[0-2]' sh -c \
        "[ \$TPRUN_RANK != 0 ] || $SPAWN spread 2 node2 node0,node1 node2"
    equal "$stderr" ""
    has_line "$output" "cmd=spawn_result rc=0"
    equal "$(grep ' on ' <<<"$output" | sort)" "$(cat <<'EOF'
0 on node2
1 on node2
2 on node0
3 on node1
4 on node2
5 on node2
EOF
)"
    run_tprun -0 -n 3 --map-by node --oversubscribe --hosts 'node[0-2]' sh -c \
        "[ \$TPRUN_RANK != 0 ] || $SPAWN spread 1 node2 - node1"
    equal "$(grep ' on ' <<<"$output" | sort)" "$(printf '0 on node2\n1 on node0\n2 on node1')"
    run_tprun -0 -v -n 2 --map-by node --oversubscribe --hosts 'node[0-2]' sh -c \
        "[ \$TPRUN_RANK != 0 ] || $SPAWN spread 1 node0 elsewhere"
    has_line "$output" "cmd=spawn_result rc=1"
    has_line "$stderr" "tprun: spawn refused: *"
}

@test "PMI_Spawn_multiple and PMI2_Job_Spawn over 2 hosts: blocks where they are wanted, keys, names" {
    local library
    for library in libpmi libpmi2; do
        steps_of "$library"
        run_tprun -0 -n 2 --map-by node --oversubscribe --hosts 'node[0-1]' sh -c \
            '[ $TPRUN_RANK = 1 ] || exec "$0" "$@"; exec "$0" await done' "$STEPS" publish top 'tag#0$x' spawn \
            host=node1 1 sh -c 'exec "$0" "$@" $(hostname)' "$STEPS" put one 1 meet get two await top publish sub x show , \
            hosts=node0 2 sh -c 'exec "$0" "$@" $(hostname)' "$STEPS" put two 2 meet get one show ';' \
            await sub spawn host=node1 1 ./nosuch ';' publish done x
        equal "$stderr" ""
        has_line "$output" "spawn: 0 errors 0 0 0 job *"
        has_line "$output" "spawn: * errors 127 job *"
        equal "$(grep -c '^get one: 0 1$\|^get two: 0 2$\|^await ...: 0 \|^await done: 0 x' <<<"$output")" 6
        equal "$(sed -n 's/ job .* from / from /; s/kvs_[0-9_]*/KVS/; /^rank/p' <<<"$output" | sort)" "$(cat <<'EOF'
rank 0 of 3 spawned 1 appnum 0 from rank 0 of KVS; its=a: [node1]
rank 1 of 3 spawned 1 appnum 1 from rank 0 of KVS; its=a: [node0]
rank 2 of 3 spawned 1 appnum 1 from rank 0 of KVS; its=a: [node0]
EOF
)"
        hosts_clean
    done
}

@test "what cannot be started on one host is not started on any" {
    on node0 sh -c "printf '#!/bin/sh\nexec sleep 1000\n' >/tmp/only-here && chmod +x /tmp/only-here"
    run_tprun -0 -v -n 2 --map-by node --oversubscribe --hosts 'node[0-1]' sh -c \
        "[ \$TPRUN_RANK != 0 ] || $SPAWN run map_by=node -- 2 /tmp/only-here"
    has_line "$output" "cmd=spawn_result rc=1*"
    has_line "$stderr" "tprun: group 1: not started: cannot run /tmp/only-here: no such file"
}

@test "a spawned task that fails on another host ends all, and is named" {
    run_tprun -5 -n 2 --map-by node --oversubscribe --hosts 'node[0-1]' sh -c \
        "[ \$TPRUN_RANK != 0 ] || $SPAWN run map_by=node -- 2 sh -c '[ \$PMI_RANK = 0 ] || exit 5; sleep 1000'; sleep 1000"
    has_line "$stderr" "tprun: rank 3 on node1: exited with status 5"
}

@test "a host that is lost ends all groups" {
    start_on head "$TPRUN" -n 2 --map-by node --oversubscribe --hosts 'node[0-1]' sh -c \
        "[ \$TPRUN_RANK != 0 ] || $SPAWN run map_by=node -- 2 sh -c 'echo up; sleep 1000'; sleep 1000"
    wait_for 10 lines_are out 3
    "$CLUSTER" crash node1
    finish
    equal "$status" 1
    has_line "$(cat err)" "tprun: node1: lost: *"
    "$CLUSTER" heal
}

# ---- hosts that have no agent yet: an R wakes only what is needed ----

cores() { lscpu -p=CORE | grep -v '^#' | sort -u | wc -l; }
asked_of() { grep -o 'node[0-9]: agent is up' <<<"$1" | cut -d: -f1 | sort | xargs; }
reaches() { [ -n "$(processes head ssh "$1")" ]; } # HOST: an ssh to it runs
claims_all() { # N: so many cores can be claimed of R
    on head "$TPRUN" --no-wait -R R -n "$1" true
}

@test "a spawn may name a host of R that had not been needed, and again once it is there" {
    unset TPRUN_OPTIONS
    write_R R 4
    run_tprun -0 -v -R R -n 1 sh -c \
        "$SPAWN run host=node3 -- 1 $SPAWN run host=node3 -- 2 sh -c 'echo on \$(hostname) rank \$TPRUN_RANK'"
    equal "$(asked_of "$stderr")" "node0 node3"
    equal "$(grep '^on ' <<<"$output" | sort)" "$(printf 'on node3 rank 2\non node3 rank 3')"
}

@test "what does not fit where the program runs goes to other hosts of R, no more than it needs" {
    unset TPRUN_OPTIONS
    write_R R 4
    run_tprun -0 -v -R R -n 1 "$SPAWN" run -- "$(cores)" hostname
    equal "$(asked_of "$stderr")" "node0 node1"
    equal "$(grep -c '^node1$' <<<"$output")" 1
    [[ "$stderr" != *"uses already"* ]]
    run_tprun -0 -v -R R -n 1 "$SPAWN" run -- $((4 * $(cores))) hostname
    equal "$(asked_of "$stderr")" node0
    has_line "$stderr" "tprun: group 1: *on 1 node, on cores that the program uses already"
}

@test "groups on hosts that came late have barriers and spawn in their turn" {
    unset TPRUN_OPTIONS
    write_R R 4
    run_tprun -0 -v -R R -n 1 "$SPAWN" tree 1 $((3 * $(cores)))
    ranks_are $((3 * $(cores)))
    run_tprun -0 -v -R R -n 1 "$SPAWN" run host=node1 -- 1 "$SPAWN" run host=node2 -- 1 hostname
    equal "$(asked_of "$stderr")" "node0 node1 node2"
    has_line "$output" node2
}

@test "the host that tprun runs on may come late, too" {
    unset TPRUN_OPTIONS
    write_R R 2
    run -0 on node1 "$TPRUN" -R R -n 1 "$SPAWN" run host=node1 -- 1 hostname
    equal "$(sort <<<"$output")" "$(printf 'cmd=spawn_result rc=0\nnode1')"
}

@test "cores of a host that came late are claimed for as long as they are used" {
    unset TPRUN_OPTIONS
    write_R R 3
    start_on head "$TPRUN" -v -R R -n 1 sh -c \
        "$SPAWN run host=node2 -- $(cores) sh -c 'echo up; while ! test -e $PWD/go; do sleep 0.1; done'; touch $PWD/asked
         while ! test -e $PWD/end; do sleep 0.1; done"
    wait_for 10 grep -q up out
    run -1 claims_all $((2 * $(cores)))
    run -0 claims_all $((2 * $(cores) - 1))
    touch go
    wait_for 5 grep -q 'group 1: all its tasks have ended' err
    run -0 claims_all $((2 * $(cores)))
    touch end
    finish
    equal "$status" 0
}

@test "a host that cannot be reached refuses the spawn that names it, and the program goes on" {
    unset TPRUN_OPTIONS
    write_R R 4
    "$CLUSTER" sshd node2 KILL
    run_tprun -0 -v -R R -n 1 sh -c "$SPAWN run host=node2 -- 1 hostname; echo still here"
    "$CLUSTER" boot node2 3>&-
    has_line "$output" "cmd=spawn_result rc=1*"
    has_line "$output" "still here"
    has_line "$stderr" "tprun: spawn refused: node2: not started: *connect*refused*"
}

@test "tasks that may be anywhere go elsewhere when a host cannot be reached" {
    unset TPRUN_OPTIONS
    write_R R 4
    "$CLUSTER" sshd node1 KILL
    run_tprun -0 -v -R R -n 1 "$SPAWN" run -- "$(cores)" hostname
    "$CLUSTER" boot node1 3>&-
    has_line "$output" "cmd=spawn_result rc=0*"
    has_line "$output" node2
    has_line "$stderr" "tprun: node1: not started: *connect*refused*"
    [[ "$stderr" != *"uses already"* ]]
}

@test "TERM while a late host is being reached ends all, in time" {
    unset TPRUN_OPTIONS
    write_R R 3
    "$CLUSTER" sshd node2 STOP
    start_on head "$TPRUN" -R R -n 1 "$SPAWN" run host=node2 -- 1 hostname
    wait_for 10 reaches node2
    SECONDS=0
    kill -TERM "$(processes head tprun | head -n 1)"
    finish
    "$CLUSTER" sshd node2 CONT
    equal "$status" 143
    within 6 "$SECONDS"
    has_line "$(cat err)" "tprun: told to end: sent SIGTERM to 1 task; *"
}

@test "a late host that is lost ends the program when tasks are there, and else is not missed" {
    unset TPRUN_OPTIONS
    write_R R 3
    start_on head "$TPRUN" -v -R R -n 1 sh -c \
        "$SPAWN run host=node2 -- 1 echo up; while ! test -e $PWD/end; do sleep 0.1; done"
    wait_for 10 grep -q 'group 1: all its tasks have ended' err
    "$CLUSTER" crash node2
    wait_for 30 grep -q 'node2: lost: .*; nothing ran there' err
    touch end
    finish
    "$CLUSTER" heal
    equal "$status" 0
    start_on head "$TPRUN" -R R -n 1 sh -c "$SPAWN run host=node2 -- 1 sh -c 'echo up; sleep 1000'; sleep 1000"
    wait_for 10 grep -q up out
    "$CLUSTER" crash node2
    finish
    "$CLUSTER" heal
    equal "$status" 1
    has_line "$(cat err)" "tprun: node2: lost: *"
}
