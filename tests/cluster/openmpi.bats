# shellcheck disable=SC2154 # bats sets stderr
# Open MPI's programs on several hosts, through PMIx.
load common
setup_file() { start_cluster 4; }
teardown_file() { stop_cluster; }
setup() {
    start_cluster_test
    need_openmpi
    know_files
}
teardown() {
    hosts_clean 4
    [ ! -e before.node3 ] || files_clean
}

# each COMMAND...: on 1, 2 and 4 hosts, in blocks and cyclic, with $hosts and $map.
each() {
    local hosts map
    for hosts in node0 'node[0-1]' 'node[0-3]'; do
        for map in slot node; do "$@" || { echo "on $hosts, --map-by $map"; return 1; }; done
    done
}
placed() { run_tprun "$1" --hosts "$hosts" --map-by "$map" "${@:2}"; } # -STATUS ARGUMENTS...
plan() { tprun --dry-run --format=json --hosts "$hosts" --map-by "$map" "$@" true >plan; }

hello() {
    placed -0 -n 6 "$OPENMPI/mpi-hello"
    equal "$(sort -V <<<"$output")$stderr" "$(printf 'hello from %d of 6\n' 0 1 2 3 4 5)"
}
ring() {
    plan -n 6
    placed -0 -n 6 "$OPENMPI/mpi-ring"
    equal "$(sort -V <<<"$output")" "$(right_ring plan)"
}
allreduce() {
    placed -0 -n 6 "$OPENMPI/mpi-allreduce"
    equal "$output$stderr" "sums over 6 tasks are right"
}
# Left alone Open MPI 4.1 chooses "rdma" here, which then cannot make a window over TCP, and in 6 "ucx"
# says that it does not work: mpirun's programs do the same. 5 and 6 have no "pt2pt".
one_sided() {
    local osc=pt2pt
    [ "$(openmpi_major)" -lt 5 ] || osc=^ucx
    placed -0 -n 6 -x OMPI_MCA_osc=$osc "$OPENMPI/mpi-rma"
    equal "$output$stderr" "puts of 6 tasks are right"
}
shared() {
    plan -n 6
    placed -0 -n 6 "$OPENMPI/mpi-split"
    equal "$(sort -V <<<"$output")" "$(planned_peers plan)"
}

python() {
    placed -0 -n 6 "$PYTHON" "$ROOT/tests/programs/mpi4py-talk"
    equal "$output$stderr" "what 6 tasks said is right"
}
threads() {
    plan -n 4
    placed -0 -n 4 -x OMP_NUM_THREADS=2 "$OPENMPI/mpi-where"
    equal "$(wc -l <<<"$output")" 8
    equal "$(awk '{ print $1, $2 }' <<<"$output" | sort -u)" \
        "$(jq -r '.nodes as $n | .tasks[] | "\(.rank) \($n[.node].host)"' plan | sort)"
}

@test "hello runs on 1, 2 and 4 hosts, in blocks and cyclic" { each hello; }
@test "a ring goes round 1, 2 and 4 hosts, in blocks and cyclic" { each ring; }
@test "allreduce is right on 1, 2 and 4 hosts, in blocks and cyclic" { each allreduce; }
@test "one-sided communication is right on 1, 2 and 4 hosts, in blocks and cyclic" { each one_sided; }
@test "tasks of Python talk through mpi4py on 1, 2 and 4 hosts, in blocks and cyclic" {
    need_mpi4py
    each python
}
@test "tasks with OpenMP threads run on 1, 2 and 4 hosts, in blocks and cyclic" { each threads; }
@test "tasks of a host share memory, in blocks and cyclic" { each shared; }

@test "programs run where hosts have no task, or different numbers of tasks" {
    run_tprun -0 -n 2 --hosts 'node[0-3]' --map-by slot "$OPENMPI/mpi-allreduce"
    equal "$output" "sums over 2 tasks are right"
    printf 'node0 slots=1\nnode1 slots=3\nnode2 slots=2\n' >hosts
    tprun --dry-run --format=json -n 6 --hostfile "$PWD/hosts" true >plan
    run_tprun -0 -n 6 --hostfile "$PWD/hosts" "$OPENMPI/mpi-split"
    equal "$(sort -V <<<"$output")" "$(planned_peers plan)"
}

@test "keys are found when Open MPI fetches each from its host as it is wanted" {
    local how
    for how in $(openmpi_fetches); do
        run_tprun -0 -n 6 --hosts 'node[0-2]' --map-by node -x OMPI_MCA_$how "$OPENMPI/mpi-allreduce"
        equal "$output$stderr" "sums over 6 tasks are right"
    done
}

spawns() {
    placed -0 -n 3 "$OPENMPI/mpi-spawn" 4
    equal "$(sort <<<"$output")$stderr" "$(
        printf 'child %d of 4: 3 on the other side, the sum is right\n' 0 1 2 3
        printf 'parent %d of 3: 4 on the other side, the sum is right\n' 0 1 2)"
}
@test "parents and the children that they spawn find each other and merge, in blocks and cyclic" { each spawns; }

@test "programs of one spawn go to the hosts that they name, and are one world" {
    run_tprun -0 -n 2 --hosts 'node[0-3]' --map-by node "$OPENMPI/mpi-spawns" several node3 node1
    equal "$(sort <<<"$output" | sed 's/, in .*//')$stderr" "$(printf '%s\n' '3 children, codes 0 0 0' \
        'child 0 of 3, app 0, on node3' 'child 1 of 3, app 1, on node1' 'child 2 of 3, app 1, on node1')"
}

@test "children spawn in their turn, below inner agents as well" {
    run_tprun -0 --fanout 1 -n 2 --hosts 'node[0-3]' --map-by node "$OPENMPI/mpi-spawns" nested 3
    equal "$output$stderr" "4 worlds"
}

@test "a spawn that fails on a host is an error to who handles it, and the program goes on" {
    run_tprun -0 -n 1 --hosts 'node[0-1]' --map-by node "$OPENMPI/mpi-spawns" fails /no/such/program host=node1
    equal "$output" "$(openmpi_spawn_error)"
    equal "$stderr" "tprun: spawn refused: cannot run /no/such/program: no such file"
}

connects() {
    placed -0 -n 6 "$OPENMPI/mpi-connect" both 2
    equal "$(sort <<<"$output" | uniq -c | sed 's/^ *//')$stderr" "$(
        for i in 0 1 2; do echo "2 acceptor $i of 6 met: the sum is right"; done
        for i in 3 4 5; do echo "2 connector $i of 6 met: the sum is right"; done)"
}
@test "halves of a program publish a port, look it up and connect, in blocks and cyclic" { each connects; }

@test "connecting and fetching work over a tree of fan-out 1" {
    run_tprun -0 --fanout 1 -n 4 --hosts 'node[0-3]' --map-by node "$OPENMPI/mpi-allreduce"
    equal "$output$stderr" "sums over 4 tasks are right"
}

aborts() {
    placed -7 -n 5 "$OPENMPI/mpi-fail" abort 3
    has_line "$stderr" "tprun: rank 3 on node*: aborted the program with code 7"
    has_line "$stderr" "*MPI_ABORT was invoked on rank 3 *"
    hosts_clean
}
@test "MPI_Abort ends the program on every host with its code, and the rank is named" { each aborts; }

dies() {
    placed -137 -n 5 "$OPENMPI/mpi-fail" kill 4
    has_line "$stderr" "tprun: rank 4 on node*: killed by signal 9 (Killed)*"
    hosts_clean
}
@test "a rank that is killed ends the others on every host, and is named" { each dies; }

# The message names the rank; with Open MPI 5 perhaps those that abort as it closes its sockets, which is
# before it has ended.
names_rank() { # OUTPUT PATTERN
    [ "$(openmpi_major)" -lt 5 ] || ! grep -q "^tprun: ranks\? .*: aborted the program with code 14$" <<<"$1" || return 0
    has_line "$1" "$2"
}
@test "a rank that leaves without MPI_Finalize ends the others, whatever its status" {
    run ! on head "$TPRUN" -n 4 --hosts 'node[0-1]' --map-by node "$OPENMPI/mpi-fail" exit 1
    [ "$status" = 9 ] || [ "$(openmpi_major)" -ge 5 ]
    names_rank "$output" "tprun: rank 1 on node1: *9*"
    run ! on head "$TPRUN" -n 4 --hosts 'node[0-1]' --map-by node "$OPENMPI/mpi-fail" quit 2
    names_rank "$output" "tprun: rank 2 on node0: *"
}

@test "parts of a program are one world on several hosts, and each has its application number" {
    run_tprun -0 -l --hosts 'node[0-1]' --map-by node -n 2 "$OPENMPI/mpi-appnum" : -n 2 "$OPENMPI/mpi-appnum"
    equal "$(sort <<<"$output")" "$(printf '0: 0\n1: 0\n2: 1\n3: 1')"
    run_tprun -0 --hosts 'node[0-1]' --map-by node -n 2 "$OPENMPI/mpi-hello" : -n 2 "$OPENMPI/mpi-hello"
    equal "$(sort <<<"$output")" "$(printf 'hello from %d of 4\n' 0 1 2 3)"
}

@test "programs of MPICH and of Open MPI run in one script on several hosts, in turn and side by side" {
    need_mpich
    cat >script <<END
export TPRUN_OPTIONS="--oversubscribe --hosts node[0-1] --map-by node"
"$TPRUN" -n 2 "$PROGRAMS/mpi-allreduce"
"$TPRUN" -n 3 "$OPENMPI/mpi-allreduce"
"$TPRUN" -n 4 "$PROGRAMS/mpi-allreduce" & mpich=\$!
"$TPRUN" -n 5 "$OPENMPI/mpi-allreduce" & openmpi=\$!
wait \$mpich && wait \$openmpi
END
    run -0 --separate-stderr on head sh -e "$PWD/script"
    equal "$(sort <<<"$output")" "$(printf 'sums over %d tasks are right\n' 2 3 4 5)"
}

# Everybody waits for rank 1, which waits for its end.
start_waiting() {
    start_on head "$TPRUN" -n 4 --hosts 'node[0-3]' --map-by node --kill-grace 1s "$OPENMPI/mpi-fail" wait 1
    wait_for 20 lines_are out 1 || { cat err; return 1; }
}
ended() { # WANT-MESSAGE
    hosts_clean 4
    finish
    echo "status $status: $(cat err)"
    [ "$status" != 0 ]
    [ -z "$1" ] || has_line "$(cat err)" "$1"
    files_clean
}

@test "more ranks than slots are where Open MPI 4 puts them" {
    command -v mpirun.openmpi >/dev/null || skip "no Open MPI here"
    [[ "$(mpirun.openmpi --version)" == *' 4.'* ]] || skip "another Open MPI than 4"
    local line own
    ln -s "$TPRUN" mpirun.openmpi
    printf 'node0 slots=2\nnode1 slots=3\n' >slots
    printf '#!/bin/sh\necho $OMPI_COMM_WORLD_RANK $(hostname)\n' >where
    chmod +x where
    where_ranks() { # LAUNCHER
        # shellcheck disable=SC2086 # words
        on head env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 timeout -k 5 60 "$1" \
            --oversubscribe --bind-to none $line "$PWD/where" 2>/dev/null | sort -n
    }
    for line in '-host node0,node1 -n 4' '-host node0,node1 -n 3' '-host node0:2,node1:1 -n 7' \
        '-host node0:2,node1:2 -n 3' "-hostfile $PWD/slots -n 8" "-hostfile $PWD/slots -n 3" \
        "-host node0,node1 -n 1 $PWD/where : -n 3"; do
        own=$(where_ranks mpirun.openmpi)
        [ -n "$own" ]
        equal "$line: $(where_ranks "$PWD/mpirun.openmpi")" "$line: $own"
    done
}

@test "SIGKILL of the front end leaves neither a process nor a file" {
    start_waiting
    kill -9 "$(processes head tprun | head -n 1)"
    ended ""
}

@test "SIGKILL of an agent leaves neither a process nor a file, and its host is named" {
    start_waiting
    kill -9 "$(processes node2 tpagent | tail -n 1)"
    ended "tprun: *node2*"
}

@test "a host that loses power is named, and nothing is left on the others" {
    start_waiting
    "$CLUSTER" crash node3
    wait_for 15 eval '! kill -0 "$job" 2>/dev/null'
    finish
    [ "$status" != 0 ]
    has_line "$(cat err)" "tprun: *node3*"
    "$CLUSTER" heal 3>&-
    hosts_clean 4
    files node3 >before.node3 # it is another now
}
