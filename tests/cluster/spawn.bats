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

@test "the same below inner agents" {
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
