# Programs on several hosts, over real ssh.
load common
setup_file() { start_cluster 8; }
teardown_file() { stop_cluster; }
setup() { start_cluster_test; }
teardown() { hosts_clean; }

ring_is_right() { # NTASKS: what mpi-ring said on stdin
    local n=$1 r
    equal "$(sed 's/ on [^:]*//' | sort -V)" "$(for ((r = 0; r < n; r++)); do
        echo "rank $r of $n: $(((r + n - 1) % n)) is on my left"; done)"
}
planned() { # ARGUMENTS...: "RANK HOST CPUS" a task, as --dry-run says
    tprun --dry-run --format=json "$@" true >plan.json
    jq -r '.nodes as $n | .tasks[] | "\(.rank) \($n[.node].host) \(.cpus)"' plan.json
}

@test "an MPI ring of 8 tasks goes round 4 hosts, mapped by node" {
    need_mpich
    run_tprun -0 -n 8 --hosts 'node[0-3]' --map-by node "$PROGRAMS/mpi-ring"
    ring_is_right 8 <<<"$output"
    local r
    for r in 0 1 2 3 4 5 6 7; do
        has_line "$output" "rank $r of 8 on node$((r % 4)): *"
    done
}

@test "the process mapping of tasks by node is cyclic, for every task" {
    run_tprun -0 -n 8 --hosts 'node[0-3]' --map-by node "$ROOT/tests/programs/pmi-get" PMI_process_mapping
    equal "$(sort -u <<<"$output")" "(vector,(0,4,1),(0,4,1))"
}

@test "tasks are bound as --dry-run said, with --hosts and with an R file" {
    local map
    write_R R 4
    need_cores 2
    for map in core node numa hwthread; do
        planned -n 8 --hosts 'node[0-3]' --map-by $map >plan
        tprun -n 8 --hosts 'node[0-3]' --map-by $map "$PROGRAMS/where" | sort >real
        diff plan real
        equal "$(wc -l <real)" 8
        planned -n 8 -R "$PWD/R" --map-by $map | diff - plan
        tprun -n 8 -R "$PWD/R" --map-by $map "$PROGRAMS/where" | sort | diff - plan
    done
}

# The caller's machine by its name, its address, and a name that only ssh knows.
@test "the screen is for tasks on the caller's machine, by whatever name, and for all with -x" {
    local show='echo "$(hostname) ${DISPLAY-unset} ${XAUTHORITY-unset}"' name address
    export DISPLAY=:7 XAUTHORITY=/home/a
    address=$(on head sh -c "hostname -I | cut -d' ' -f1")
    for name in head "$address" localhost; do
        run_tprun -0 -n 3 --hosts "$name,node[0-1]" --map-by node sh -c "$show"
        equal "$(sort <<<"$output")" "$(printf 'head :7 /home/a\nnode0 unset unset\nnode1 unset unset')"
    done
    run_tprun -0 -n 2 --hosts head,node0 --map-by node --ssh ssh --bootstrap ssh sh -c "$show"
    equal "$(sort <<<"$output")" "$(printf 'head :7 /home/a\nnode0 unset unset')"
    run_tprun -0 -n 2 --hosts head,node0 --map-by node -x DISPLAY=far:1 --env-remove XAUTHORITY sh -c "$show"
    equal "$(sort <<<"$output")" "$(printf 'head far:1 unset\nnode0 far:1 unset')"
}

@test "tasks find their rank on their node by the names of other launchers" {
    run_tprun -0 -n 4 --hosts 'node[0-1]' --map-by node sh -c \
        'echo $OMPI_COMM_WORLD_RANK $MPI_LOCALRANKID/$MPI_LOCALNRANKS $OMPI_COMM_WORLD_LOCAL_RANK/$OMPI_COMM_WORLD_LOCAL_SIZE $OMPI_COMM_WORLD_NODE_RANK'
    equal "$(sort <<<"$output")" "$(printf '0 0/2 0/2 0\n1 0/2 0/2 0\n2 1/2 1/2 1\n3 1/2 1/2 1')"
}

@test "tasks that never spoke PMI are counted on all hosts, those behind others too" {
    linked_with libmpi.so.40
    run_tprun -0 -n 6 --hosts 'node[0-2]' --fanout 1 --map-by node ./app
    has_line "$stderr" "tprun: 6 tasks of ./app ran without speaking PMI, *"
}

@test "only the cores of R are used" {
    need_cores 2
    printf '{"version":1,"execution":{"R_lite":[{"rank":"5,7","children":{"core":"1"}}],"nodelist":["node2","node1"]}}' >R
    run_tprun -0 -n 2 -R "$PWD/R" "$PROGRAMS/where"
    equal "$(sort <<<"$output")" "$(printf '0 node2 1\n1 node1 1')"
}

@test "GPUs of R go to the tasks of each host, whatever the caller sees of its own" {
    need_cores 2
    printf '{"version":1,"execution":{"R_lite":[{"rank":"0","children":{"core":"0-1"}},{"rank":"1-2","children":{"core":"0-1","gpu":"2-3"}}],"nodelist":["node[0-2]"]}}' >R
    # shellcheck disable=SC2016
    on head env CUDA_VISIBLE_DEVICES=7 "$TPRUN" -R "$PWD/R" -n 4 -g 1 \
        sh -c 'echo "$TPRUN_RANK $(hostname) $CUDA_VISIBLE_DEVICES"' | sort >real
    equal "$(cat real)" "$(printf '0 node1 2\n1 node1 3\n2 node2 2\n3 node2 3')"
    # shellcheck disable=SC2016
    tprun -R "$PWD/R" --per 1:gpu -N 2 sh -c 'echo "$(hostname) $CUDA_VISIBLE_DEVICES"' | sort >real
    equal "$(cat real)" "$(printf 'node1 2\nnode1 3\nnode2 2\nnode2 3')"
}

@test "hello, ring and allreduce run on 1, 2 and 4 hosts, in blocks and cyclic" {
    need_mpich
    local hosts map
    for hosts in node0 'node[0-1]' 'node[0-3]'; do
        for map in slot node; do
            run_tprun -0 -n 6 --hosts "$hosts" --map-by $map "$PROGRAMS/mpi-hello"
            equal "$(sort -V <<<"$output")" "$(printf 'hello from %d of 6\n' 0 1 2 3 4 5)"
            run_tprun -0 -n 6 --hosts "$hosts" --map-by $map "$PROGRAMS/mpi-ring"
            ring_is_right 6 <<<"$output"
            run_tprun -0 -n 6 --hosts "$hosts" --map-by $map "$PROGRAMS/mpi-allreduce"
            equal "$output" "sums over 6 tasks are right"
        done
    done
}

@test "an MPI program that aborts, crashes or leaves ends on every host, and the rank is named" {
    need_mpich
    local hosts map failed="rank 4"
    # In MPICH 5.0.2 ranks that wait in MPI_Barrier() may crash there too, once rank 4 has gone.
    [[ "$(mpirun.mpich --version)" != *Version:*" 5.0."* ]] || failed='rank?(s) ?([0-3]*[,-])4'
    for hosts in node0 'node[0-1]' 'node[0-3]'; do
        for map in slot node; do
            run_tprun -7 -n 5 --hosts "$hosts" --map-by $map "$PROGRAMS/mpi-fail" abort 3
            has_line "$stderr" "tprun: rank 3 on node*7*"
            run_tprun -139 -n 5 --hosts "$hosts" --map-by $map "$PROGRAMS/mpi-fail" segv 4
            has_line "$stderr" "tprun: $failed on node*: killed by signal 11 (Segmentation fault)*"
            hosts_clean
        done
    done
}

@test "a tree of fan-out 2 reaches 8 hosts" {
    run_tprun -0 --fanout 2 -n 8 --hosts 'node[0-7]' --map-by node sh -c 'echo $TPRUN_RANK $(hostname)'
    equal "$(sort <<<"$output")" "$(for r in 0 1 2 3 4 5 6 7; do echo "$r node$r"; done)"
    need_mpich
    run_tprun -0 --fanout 2 -n 8 --hosts 'node[0-7]' --map-by node "$PROGRAMS/mpi-ring"
    ring_is_right 8 <<<"$output"
}

@test "a host that runs tprun itself is one of them, and needs no ssh" {
    "$CLUSTER" sshd node0 STOP
    run --separate-stderr on node0 "$TPRUN" -n 2 --hosts 'node[0-1]' --map-by node hostname
    "$CLUSTER" sshd node0 CONT
    equal "$status" 0
    equal "$(sort <<<"$output")" "$(printf 'node0\nnode1')"
}

@test "a host named twice is one node" {
    run_tprun -0 --dry-run --format=json -n 2 --hosts node0,node0,node1 true
    equal "$(jq -c '[.nodes[].host]' <<<"$output")" "$(jq -nc '["node0"]')" ||
        equal "$(jq -c '[.nodes[].host]' <<<"$output")" "$(jq -nc '["node0","node1"]')"
}

@test "two names of one host are one node, and that is said" {
    local address
    address=$(on node1 hostname -I | awk '{ print $1 }')
    run_tprun -0 -n 2 --oversubscribe --hosts "node1,$address" --map-by node hostname
    equal "$output" "$(printf 'node1\nnode1')"
    has_line "$stderr" "tprun: * and * are one machine: it is used once"
}

@test "what the instance remembers of a host is enough for a dry run, and is looked at again" {
    run_tprun -0 -n 2 --hosts 'node[2-3]' --map-by node true
    "$CLUSTER" link node3 down
    run_tprun -0 -n 2 --hosts 'node[2-3]' --map-by node --dry-run true
    "$CLUSTER" link node3 up
    [[ "$output" == *node3* ]]
    run_tprun -0 -n 2 --hosts 'node[2-3]' --map-by node hostname
    equal "$(sort <<<"$output")" "$(printf 'node2\nnode3')"
}

@test "hostfiles of Open MPI and MPICH are understood, and their counts are limits" {
    printf 'node0 slots=1\nnode1 slots=2\n' >openmpi
    printf 'node0:1\nnode1:2\n' >mpich
    local file
    for file in openmpi mpich; do
        TPRUN_OPTIONS='' run_tprun -0 -n 3 --hostfile "$PWD/$file" --bind-to none --mppr none hostname
        equal "$(sort <<<"$output")" "$(printf 'node0\nnode1\nnode1')"
        TPRUN_OPTIONS='' run_tprun -1 -n 4 --hostfile "$PWD/$file" --mppr none hostname
    done
}

@test "mpiexec deals ranks out over a hostfile as the launcher of its name does" {
    printf '%s\n' node1 node2 node3 >plain
    printf '%s\n' node1:2 node2 >counts
    printf '%s\n' 'node1 slots=2' node2\ slots=1 >slots
    ln -s "$TPRUN" mpiexec.hydra
    ln -s "$TPRUN" mpirun.openmpi
    # NAME ARGUMENTS...: the host of each rank in order, silently
    hosts_of() {
        run -0 --separate-stderr on head "$PWD/$1" "${@:2}" sh -c 'echo $TPRUN_RANK $(hostname)'
        equal "$stderr" ""
        sort -n <<<"$output" | sed 's/.* node//' | paste -sd' '
    }
    equal "$(hosts_of mpiexec.hydra -f "$PWD/plain" -n 3)" "1 2 3"
    equal "$(hosts_of mpiexec.hydra -f "$PWD/plain")" "1 2 3"
    equal "$(hosts_of mpiexec.hydra -f "$PWD/plain" -n 5)" "1 2 3 1 2"
    equal "$(hosts_of mpiexec.hydra -f "$PWD/counts" -n 5)" "1 1 2 1 1"
    equal "$(hosts_of mpirun.openmpi -hostfile "$PWD/slots")" "1 1 2"
    equal "$(hosts_of mpirun.openmpi -hostfile "$PWD/slots" --map-by node)" "1 2 1"
    equal "$(hosts_of mpiexec.hydra -f "$PWD/plain" -n 2 sh -c 'echo $TPRUN_RANK $(hostname)' : -n 2)" \
        "1 2 3 1"
}

@test "--exclude takes a host away" {
    run_tprun -0 -n 2 --hosts 'node[0-2]' --exclude node1 --map-by node hostname
    equal "$(sort <<<"$output")" "$(printf 'node0\nnode2')"
}

@test "user@host is told to ssh" {
    run_tprun -0 -n 1 --hosts root@node1 sh -c 'echo $USER $(hostname)'
    has_line "$output" "*node1"
}

@test "a command template starts the agents in place of ssh" {
    run_tprun -0 -n 2 --hosts 'node[0-1]' --map-by node --bootstrap 'ssh {host} {agent}' hostname
    equal "$(sort <<<"$output")" "$(printf 'node0\nnode1')"
}

@test "the caller's environment, directory and umask are there on every host" {
    X='a b' run_tprun -0 -n 3 --hosts 'node[0-2]' --map-by node -x Y='$HOME "q"' --umask 037 \
        sh -c 'echo "$X,$Y,$(pwd),$(umask)"'
    equal "$(sort -u <<<"$output")" "a b,\$HOME \"q\",$PWD,0037"
    equal "${#lines[@]}" 3
}

@test "neither the environment nor the arguments are on ssh's command line" {
    SECRET=hidden1 start_on head "$TPRUN" -n 2 --hosts 'node[0-1]' --map-by node "$PROGRAMS/stay" hidden2
    wait_for 10 lines_are out 2
    local pid
    for pid in $(processes head ssh); do
        tr '\0' '\n' <"/proc/$pid/cmdline" >>cmdlines
    done
    for pid in $(processes node0 tpagent); do
        tr '\0' '\n' <"/proc/$pid/cmdline" >>cmdlines
    done
    pkill -TERM -P "$job" || kill "$job"
    finish
    [ -s cmdlines ]
    ! grep hidden cmdlines
}

@test "labels, files, stdin and signals work over hosts" {
    run_tprun -0 -l -n 4 --hosts 'node[0-3]' --map-by node -e "$PWD/err.%r.%h" sh -c 'hostname; echo e >&2'
    equal "$(sort <<<"$output")" "$(printf '%d: node%d\n' 0 0 1 1 2 2 3 3)"
    has_line "$(cat err.2.node2)" "*e"
    run --separate-stderr bash -c "echo word | $CLUSTER exec head $TPRUN -l -n 3 -i 1-2 --hosts 'node[0-2]' --map-by node cat"
    equal "$(sort <<<"$output")" "$(printf '1: word\n2: word')"
    start_on head "$TPRUN" -n 3 --hosts 'node[0-2]' --map-by node sh -c \
        'trap "echo got; exit 0" USR1; echo ready; while :; do sleep 0.05; done'
    wait_for 10 lines_are out 3
    kill -USR1 "$(processes head tprun | head -n 1)"
    finish
    equal "$status,$(grep -c got out)" 0,3
}

@test "128 MiB through stdout of 8 tasks on 4 hosts are whole, and take little memory" {
    start_watch 8
    LIMIT=120 tprun -n 8 --hosts 'node[0-3]' --map-by node \
        sh -c "$PROGRAMS/stream write \$TPRUN_RANK 16777216 && $HOLD" 3>&- | "$PROGRAMS/stream" check 8 16777216
    watch_below 65536
}

@test "64 MiB through stdin to a task on another host are whole, and take little memory" {
    start_watch 1
    "$PROGRAMS/stream" write 0 67108864 |
        LIMIT=120 tprun -n 2 --hosts 'node[0-1]' -i 1 --map-by node \
            sh -c "[ \$TPRUN_RANK = 0 ] || { $PROGRAMS/stream check 1 67108864 && $HOLD; }" 3>&- >out
    equal "$(cat out)" "524288 lines of 1 tasks are right"
    watch_below 65536
}

@test "an agent refuses an R with cores that its host does not have" {
    printf '{"version":1,"execution":{"R_lite":[{"rank":"0-1","children":{"core":"0-511"}}],"nodelist":["node[0-1]"]}}' >R
    run_tprun -1 -n 2 -R "$PWD/R" touch "$PWD/started"
    [[ "$stderr" == *node0*0-511* ]]
    [ ! -e started ]
}
