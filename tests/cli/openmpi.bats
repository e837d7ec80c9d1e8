# shellcheck disable=SC2154 # bats sets stderr
# Open MPI's programs on this machine, through PMIx.
load ../lib/common
setup_file() { build_programs; }
setup() {
    start_test
    need_openmpi
    mkdir tmp
    export TMPDIR=$PWD/tmp
    tprun sleep 0.3 # makes the instance's files, and those of the host's register
    files >before
}
teardown() {
    nothing_left 4
    [ ! -e before ] || wait_for 4 no_files_left || { new_files; return 1; }
}

# The instance makes its "turn" when two programs meet, and "names" when one publishes. Where the list is long
# sort writes a file, which goes elsewhere.
files() {
    find /dev/shm "$TMPDIR" "$TPRUN_RUNTIME_DIR" -mindepth 1 | grep -v "/\(turn\|names\)$\|/\.spare-\|^$XDG_STATE_HOME" | TMPDIR=$PWD sort
}
# What has come, and is no memory that other programs of this machine share meanwhile, nor the place
# for it that they have in their environment.
new_files() {
    local file
    files | comm -13 before - | while read -r file; do
        grep -qsF "$file" /proc/[0-9]*/maps || grep -qsF "=$file" /proc/[0-9]*/environ || echo "$file"
    done
}
no_files_left() { [ -z "$(new_files)" ]; }

@test "hello runs with 1, 2, 5 and 16 tasks" {
    local n
    for n in 1 2 5 16; do
        run -0 --separate-stderr tprun -n $n "$OPENMPI/mpi-hello"
        equal "$(sort -V <<<"$output")" "$(for ((r = 0; r < n; r++)); do echo "hello from $r of $n"; done)"
        equal "$stderr" ""
    done
}

@test "a ring has the right neighbours, with every word of --map-by that this machine has" {
    local word
    for word in core hwthread socket numa node; do
        tprun --dry-run --format=json -n 5 --map-by $word true >plan
        run -0 --separate-stderr tprun -n 5 --map-by $word "$OPENMPI/mpi-ring"
        equal "$(sort -V <<<"$output")" "$(right_ring plan)"
    done
}

@test "allreduce and one-sided communication are right, and tasks of a node share memory" {
    run -0 --separate-stderr tprun -n 4 "$OPENMPI/mpi-allreduce"
    equal "$output$stderr" "sums over 4 tasks are right"
    # Open MPI 6's "ucx" says that it does not work, under mpirun as well.
    [ "$(openmpi_major)" -lt 6 ] || export OMPI_MCA_osc=^ucx
    run -0 --separate-stderr tprun -n 4 "$OPENMPI/mpi-rma"
    equal "$output$stderr" "puts of 4 tasks are right"
    tprun --dry-run --format=json -n 4 true >plan
    run -0 --separate-stderr tprun -n 4 "$OPENMPI/mpi-split"
    equal "$(sort <<<"$output")$stderr" "$(planned_peers plan)"
}

@test "keys are found when Open MPI fetches each as it is wanted" {
    local how
    for how in $(openmpi_fetches); do
        run -0 --separate-stderr tprun -n 4 -x OMPI_MCA_"$how" "$OPENMPI/mpi-allreduce"
        equal "$output$stderr" "sums over 4 tasks are right"
    done
}

@test "tasks and their threads stay where tprun has bound them" {
    local bind
    for bind in core hwthread none; do
        tprun -n 2 --bind-to $bind "$PROGRAMS/where" | sort >bound
        tprun -n 2 --bind-to $bind -x OMP_NUM_THREADS=2 -x OMP_PROC_BIND=false \
            "$OPENMPI/mpi-where" | sort >said
        equal "$(wc -l <said)" 4
        awk '{ print $1, $2, $4 }' said | uniq | diff bound -
    done
}

@test "each thread of a task of two cores has a core of its own" {
    need_cores 2
    tprun -n 1 -c 2 "$OPENMPI/mpi-where" | sort >said
    equal "$(awk '{ print $3 }' said)" "$(printf '0/2\n1/2')"
    equal "$(awk '{ print $4 }' said | sort -u | wc -l)" 2
}

@test "parts of a program are one world, and each has its application number" {
    run -0 --separate-stderr tprun -l -n 1 "$OPENMPI/mpi-appnum" : -n 2 "$OPENMPI/mpi-appnum"
    equal "$(sort <<<"$output")" "$(printf '0: 0\n1: 1\n2: 1')"
    run -0 --separate-stderr tprun -n 1 "$OPENMPI/mpi-hello" : -n 2 "$OPENMPI/mpi-hello"
    equal "$(sort <<<"$output")" "$(printf 'hello from %d of 3\n' 0 1 2)"
}

# ROUNDS ACCEPTORS CONNECTORS: what mpi-connect's tasks have to say, sorted
met() {
    local i all=$(($2 + $3))
    for ((i = 0; i < all; i++)); do
        yes "$([ $i -lt "$2" ] && echo acceptor || echo connector) $i of $all met: the sum is right" | head -n "$1"
    done | sort
}

@test "halves of a program publish a port, look it up, connect and disconnect, again and again" {
    run -0 --separate-stderr tprun -n 2 "$OPENMPI/mpi-connect"
    equal "$(sort <<<"$output")$stderr" "$(met 1 1 1)"
    run -0 --separate-stderr tprun -n 5 "$OPENMPI/mpi-connect" both 5
    equal "$(sort <<<"$output")$stderr" "$(met 5 3 2)"
}

@test "MPI_Comm_spawn: parents and children find each other and merge, of each number" {
    local n children
    for n in 1 3; do
        for children in 1 4; do
            run -0 --separate-stderr tprun -n $n "$OPENMPI/mpi-spawn" $children
            equal "$(sort <<<"$output")$stderr" "$({
                for ((r = 0; r < children; r++)); do echo "child $r of $children: $n on the other side, the sum is right"; done
                for ((r = 0; r < n; r++)); do echo "parent $r of $n: $children on the other side, the sum is right"; done
            })"
        done
    done
}

@test "MPI_Comm_spawn_multiple: programs of one spawn are one world, with a directory each" {
    run -0 --separate-stderr tprun -n 2 "$OPENMPI/mpi-spawns" several - -
    equal "$(sort <<<"$output")$stderr" "3 children, codes 0 0 0
child 0 of 3, app 0, on $(hostname), in /
child 1 of 3, app 1, on $(hostname), in $PWD
child 2 of 3, app 1, on $(hostname), in $PWD"
}

@test "children spawn in their turn" {
    run -0 --separate-stderr tprun "$OPENMPI/mpi-spawns" nested 3
    equal "$output$stderr" "4 worlds"
}

@test "a spawn that fails is an error to who handles it, said once, and the program goes on" {
    run -0 --separate-stderr tprun "$OPENMPI/mpi-spawns" fails /no/such/program
    equal "$output" "$(openmpi_spawn_error)"
    equal "$stderr" "tprun: spawn refused: cannot run /no/such/program: no such file"
    run -0 --separate-stderr tprun "$OPENMPI/mpi-spawns" fails /bin/true host=elsewhere
    equal "$output" "$(openmpi_spawn_error)"
    equal "$stderr" "tprun: spawn refused: the program has no core on such a host"
}

@test "20 spawns, one after the other, leave the agent as it was" {
    need_plain_build "what was freed is kept for a while"
    LIMIT=200 run -0 --separate-stderr tprun "$OPENMPI/mpi-spawns" loop 20
    equal "$stderr" ""
    local kib1 fds1 kib2 fds2
    read -r _ kib1 fds1 <<<"$(head -n 1 <<<"$output")"
    read -r _ kib2 fds2 <<<"$(tail -n 1 <<<"$output")"
    echo "$kib1 KiB, $fds1 descriptors -> $kib2 KiB, $fds2 descriptors"
    [ "$fds2" -le "$fds1" ] && [ "$fds1" -gt 3 ]
    [ "$((kib2 - kib1))" -lt 512 ] && [ "$kib1" -gt 1000 ] # openpmix keeps some 10 KiB a namespace
}

@test "an exit code after Finalize counts" {
    run -6 --separate-stderr tprun -n 2 "$OPENMPI/mpi-hello" 6
}

@test "MPI_Abort ends the program with its code, names the rank, and Open MPI says its part" {
    run -7 --separate-stderr tprun -n 4 "$OPENMPI/mpi-fail" abort 2
    has_line "$stderr" "tprun: rank 2 on $(hostname): aborted the program with code 7"
    has_line "$stderr" "*MPI_ABORT was invoked on rank 2 *"
    equal "$output" ""
    run -1 --separate-stderr tprun -n 2 "$OPENMPI/mpi-fail" abort 1 0
    has_line "$stderr" "tprun: rank 1 on $(hostname): aborted the program with code 0, which counts as exit status 1"
}

@test "a rank that is killed or crashes ends all and is named" {
    run -137 --separate-stderr tprun -n 4 "$OPENMPI/mpi-fail" kill 1
    has_line "$stderr" "tprun: rank 1 on $(hostname): killed by signal 9 (Killed)*"
    run -139 --separate-stderr tprun -n 4 "$OPENMPI/mpi-fail" segv 3
    has_line "$stderr" "tprun: rank 3 on $(hostname): killed by signal 11 (Segmentation fault)*"
}

@test "a rank that leaves without MPI_Finalize ends all, whatever its status" {
    run -9 --separate-stderr tprun -n 3 "$OPENMPI/mpi-fail" exit 0
    has_line "$stderr" "tprun: rank 0 on $(hostname): *9*"
    run --separate-stderr tprun -n 3 "$OPENMPI/mpi-fail" quit 1
    [ "$status" != 0 ]
    has_line "$stderr" "tprun: rank 1 on $(hostname): *"
}

@test "a rank that ends well without MPI_Init ends the others, which wait for it in MPI_Init" {
    local line="tprun: rank 1 on $(hostname): PMI: ended without entering the PMIx fence that rank ? waits in: *"
    run -1 --separate-stderr tprun -n 3 "$OPENMPI/mpi-stage" leave 1
    has_line "$stderr" "$line"
    run -1 --separate-stderr tprun -n 2 sh -c '[ "$PMIX_RANK" = 0 ] || { sleep 0.8; exit 0; }; "$0"' "$OPENMPI/mpi-hello"
    has_line "$stderr" "$line"
    run -1 --separate-stderr tprun -n 1 "$OPENMPI/mpi-hello" : -n 1 hostname
    has_line "$stderr" "$line"
    run -0 --separate-stderr tprun -n 3 sh -c '[ "$PMIX_RANK" = 1 ] || sleep 0.2' # nobody waits
    equal "$stderr" ""
}

@test "what Open MPI has to say when it cannot start is on stderr" {
    local i times=1
    # Open MPI 5 and 6 at times exit before they have sent it all, under their own mpirun as well (5.0.7: 2 of 40).
    [ "$(openmpi_major)" -lt 5 ] || times=20
    for ((i = 0; i < times; i++)); do
        run --separate-stderr tprun -n 2 -x OMPI_MCA_pml=nosuch "$OPENMPI/mpi-hello"
        [ "$status" != 0 ]
        equal "$output" ""
        [[ "$stderr" != *"Component: "*"looks like MPI_INIT failed"* ]] || break
    done
    has_line "$stderr" "A requested component was not found, or was unable to be opened.*"
    has_line "$stderr" "*Component: nosuch"
    has_line "$stderr" "*It looks like MPI_INIT failed*"
}

@test "SIGKILL of tprun, and signals, leave neither a process nor a file" {
    local signal
    for signal in KILL INT TERM; do
        start "$TPRUN" -n 2 --kill-grace 1s "$OPENMPI/mpi-fail" wait 1
        wait_for 10 lines_are out 1
        kill -$signal "$job"
        finish
        [ "$status" != 0 ]
        nothing_left 4
        wait_for 4 no_files_left || { new_files; return 1; }
    done
}

@test "programs of MPICH and of Open MPI run in one script, in turn and side by side" {
    need_mpich
    cat >script <<END
"$TPRUN" -n 2 "$PROGRAMS/mpi-allreduce"
"$TPRUN" -n 3 "$OPENMPI/mpi-allreduce"
"$TPRUN" -n 4 "$PROGRAMS/mpi-allreduce" & mpich=\$!
"$TPRUN" -n 5 "$OPENMPI/mpi-allreduce" & openmpi=\$!
wait \$mpich && wait \$openmpi
END
    run -0 --separate-stderr timeout -k 5 60 sh -e script
    equal "$(sort <<<"$output")" "$(printf 'sums over %d tasks are right\n' 2 3 4 5)"
}

@test "a program that a task starts is an MPI_COMM_WORLD of its own" {
    run -0 --separate-stderr tprun -n 2 "$TPRUN" -n 2 "$OPENMPI/mpi-hello"
    equal "$(sort <<<"$output")" "$(printf 'hello from %d of 2\n' 0 0 1 1)"
    run -0 --separate-stderr env PMIX_NAMESPACE=old PMIX_RANK=7 OMPI_COMM_WORLD_RANK=7 OMPI_MCA_ess=env \
        "$TPRUN" -n 2 "$OPENMPI/mpi-hello"
    equal "$(sort <<<"$output")" "$(printf 'hello from %d of 2\n' 0 1)"
}

@test "a program that a shell or Python starts runs as one that tprun starts" {
    run -0 --separate-stderr tprun -n 2 sh -c '"$0"' "$OPENMPI/mpi-hello"
    equal "$(sort <<<"$output")" "$(printf 'hello from %d of 2\n' 0 1)"
    need_mpi4py
    run -0 --separate-stderr tprun -n 3 "$PYTHON" -m mpi4py.bench helloworld
    equal "$(sort <<<"$output")" "$(printf "Hello, World! I am process %d of 3 on $(hostname).\n" 0 1 2)"
}

@test "tasks of Python talk through mpi4py" {
    local n
    need_mpi4py
    for n in 1 2 5; do
        run -0 --separate-stderr tprun -n $n "$PYTHON" "$ROOT/tests/programs/mpi4py-talk"
        equal "$output$stderr" "what $n tasks said is right"
    done
}
