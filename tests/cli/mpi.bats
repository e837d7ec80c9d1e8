# Real MPI programs on this machine.
load ../lib/common
setup_file() { build_programs; }
setup() {
    start_test
    need_mpich
}
teardown() { nothing_left 4; }

@test "a ring of 1, 2, 5 and 16 tasks has the right neighbours" {
    local n
    for n in 1 2 5 16; do
        run -0 --separate-stderr tprun -n $n "$PROGRAMS/mpi-ring"
        equal "$(sort -V <<<"$output")" "$(for ((r = 0; r < n; r++)); do
            echo "rank $r of $n on $(hostname): $(((r + n - 1) % n)) is on my left"; done)"
    done
}

@test "hello and allreduce work, with every word of --map-by that this machine has" {
    local word
    for word in core hwthread socket numa node; do
        run -0 --separate-stderr tprun -n 4 --map-by $word "$PROGRAMS/mpi-allreduce"
        equal "$output" "sums over 4 tasks are right"
    done
    run -0 --separate-stderr tprun -n 3 "$PROGRAMS/mpi-hello"
    equal "$(sort <<<"$output")" "$(printf 'hello from %d of 3\n' 0 1 2)"
}

# In a network of its own: the names of X servers are the whole machine's.
@test "an X server that does not answer keeps no MPI waiting" {
    local library=
    unshare -n ip link set lo up || skip "no network namespace can be made here"
    [ ! -x "$PROGRAMS/openmpi/mpi-hello" ] || library=openmpi
    cat >listen.py <<'END'
import os, socket, sys
held = [socket.socket(socket.AF_UNIX) for i in range(10)]
for i, one in enumerate(held):
    one.bind("\0/tmp/.X11-unix/X%d" % i)
    one.listen()
sys.exit(os.spawnvp(os.P_WAIT, sys.argv[1], sys.argv[1:]))
END
    for library in "" $library; do
        run -0 --separate-stderr unshare -n sh -c 'ip link set lo up && exec "$@"' sh python3 listen.py \
            timeout -k 1 20 "$TPRUN" -n 2 --oversubscribe "$PROGRAMS/$library/mpi-hello"
        equal "$(sort <<<"$output")" "$(printf 'hello from %d of 2\n' 0 1)"
    done
}

@test "an exit code after Finalize counts" {
    run -6 --separate-stderr tprun -n 2 "$PROGRAMS/mpi-hello" 6
}

@test "MPI_Abort ends the program with its code and names the rank" {
    run -7 --separate-stderr tprun -n 4 "$PROGRAMS/mpi-fail" abort 2
    has_line "$stderr" "tprun: rank 2 on $(hostname): *7*"
}

@test "MPI_Abort has one status and one message, every time, and a code of 0 is no success" {
    local i
    for i in 1 2 3 4 5 6; do
        run -7 --separate-stderr tprun -n 2 "$PROGRAMS/mpi-fail" abort 1
        [[ $stderr != *cli_* ]]
        has_line "$stderr" "tprun: rank 1 on $(hostname): aborted the program with code 7"
    done
    run -1 --separate-stderr tprun -n 2 "$PROGRAMS/mpi-fail" abort 1 0
    has_line "$stderr" "tprun: rank 1 on $(hostname): aborted the program with code 0, which counts as exit status 1"
    run -1 --separate-stderr tprun -n 2 --on-failure continue "$PROGRAMS/mpi-fail" abort 1 0
    run -1 --separate-stderr tprun -n 2 "$PROGRAMS/mpi-fail" abort 1 256
}

@test "a segmentation fault in one rank ends all and names it" {
    run -139 --separate-stderr tprun -n 4 "$PROGRAMS/mpi-fail" segv 1
    has_line "$stderr" "tprun: rank 1 on $(hostname): killed by signal 11 (Segmentation fault)*"
}

@test "a rank that exits while the others wait for it ends all" {
    run -9 --separate-stderr tprun -n 3 "$PROGRAMS/mpi-fail" exit 0
    has_line "$stderr" "tprun: rank 0 on $(hostname): *9*"
}

@test "a PMI client reads the process mapping" {
    run -0 --separate-stderr tprun -n 1 "$ROOT/tests/programs/pmi-get" PMI_process_mapping
    equal "$output" "(vector,(0,1,1))"
}

@test "a line that is not PMI ends the program with a message that names rank, host and line" {
    run --separate-stderr tprun -n 2 bash -c '
        [ $PMI_RANK = 1 ] && echo "cmd=nonsense x=y" >&$PMI_FD; sleep 30'
    [ "$status" != 0 ]
    has_line "$stderr" "tprun: *rank 1*$(hostname)*nonsense*"
}

@test "without PMI a task has no PMI variables" {
    run -0 --separate-stderr tprun --pmi none env
    [ -z "$(grep ^PMI_ <<<"$output")" ]
}

@test "parts of one program that MPICH and Open MPI would have to join are refused before they start" {
    [ -x "$OPENMPI/mpi-hello" ] || skip "there is no Open MPI"
    LIMIT=20 run -1 --separate-stderr tprun -n 2 "$PROGRAMS/mpi-hello" : -n 1 touch started : -n 1 "$OPENMPI/mpi-hello"
    [ ! -e started ]
    equal "$(sed 's/ on [^:]*:/:/' <<<"$stderr")" "tprun: ranks 0-3: $PROGRAMS/mpi-hello uses MPICH or one of its family, $OPENMPI/mpi-hello uses Open MPI, and no MPI_COMM_WORLD holds both: give each a tprun of its own, or --pmi none, with which every task is a world of its own"
    run -0 tprun --pmi none -n 2 "$PROGRAMS/mpi-hello" : -n 1 "$OPENMPI/mpi-hello"
    equal "$(grep -c '^hello from 0 of 1$' <<<"$output")" 3
    run -0 tprun -n 1 "$PROGRAMS/mpi-hello" : -n 2 "$PROGRAMS/mpi-hello"
    equal "$(grep -c '^hello from . of 3$' <<<"$output")" 3
}

@test "a program linked with libpmi runs under tprun and under mpiexec.hydra" {
    local hello
    hello=$(dirname "$TPRUN")/examples/pmi-hello
    [ -x "$hello" ] || hello=$PMI_HELLO
    [ -x "$hello" ] || skip "no pmi-hello: set PMI_HELLO"
    run -0 --separate-stderr tprun -n 3 "$hello"
    local ours=$output
    equal "$(sed 's/[^0-9]//g' <<<"$ours" | wc -l)" 3
    run -0 --separate-stderr mpiexec.hydra -n 3 "$hello"
    equal "${#lines[@]}" 3
}
