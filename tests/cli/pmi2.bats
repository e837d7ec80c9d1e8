# PMI-2: programs with tprun's library and with Slurm's, here and under mpiexec.hydra.
load ../lib/common
setup_file() { build_programs; }
setup() { start_test; }
teardown() { nothing_left 4; }

hello() {
    HELLO=$(dirname "$TPRUN")/examples/pmi2-hello
    [ -x "$HELLO" ] || HELLO=$PMI2_HELLO
    [ -x "$HELLO" ] || skip "no pmi2-hello: set PMI2_HELLO"
}

# The same source with the library of Slurm, which every Debian has.
slurm_hello() {
    [ -f /usr/include/slurm/pmi2.h ] || skip "no libpmi2-0-dev"
    HELLO=$BATS_TEST_TMPDIR/hello
    "${CC:-cc}" -o "$HELLO" -I/usr/include/slurm "$ROOT/examples/pmi2-hello.c" -lpmi2
}

expect() { # COUNT MAPPING
    equal "$(sort -n <<<"$output")" "$(for ((r = 0; r < $1; r++)); do
        echo "$r of $1: read $1 cards; secret 1000; mapping $2"; done)"
}

@test "a program linked with libpmi2 runs under tprun and under mpiexec.hydra" {
    hello
    run -0 --separate-stderr tprun -n 3 "$HELLO"
    expect 3 "(vector,(0,1,3))"
    need_mpich
    run -0 --separate-stderr mpiexec.hydra -n 3 "$HELLO"
    equal "$(grep -c 'read 3 cards; secret 1000' <<<"$output")" 3
}

@test "a program linked with Slurm's libpmi2 runs under tprun" {
    slurm_hello
    run -0 --separate-stderr tprun -n 3 "$HELLO"
    expect 3 "(vector,(0,1,3))"
}

@test "--pmi says what is served" {
    hello
    run -0 --separate-stderr tprun --pmi pmi2 -n 2 "$HELLO"
    expect 2 "(vector,(0,1,2))"
    run -1 --separate-stderr tprun --pmi pmi1 -n 1 "$HELLO"
    has_line "$stderr" "pmi2-hello: PMI2_Init: PMI error -1"
    run -1 --separate-stderr tprun --pmi pmi2 -n 1 "$ROOT/tests/programs/pmi-get" PMI_process_mapping
}

@test "a frame that is none ends the program with a message that names rank, host and text" {
    run --separate-stderr tprun -n 2 bash -c '
        [ $PMI_RANK = 1 ] && printf "cmd=init pmi_version=2\\nnonsense" >&$PMI_FD; sleep 30'
    [ "$status" != 0 ]
    has_line "$stderr" "tprun: *rank 1*$(hostname)*nonsense*"
}

@test "PMI2_Abort in one task ends all" {
    run -1 --separate-stderr tprun -n 2 bash -c '
        [ $PMI_RANK = 1 ] || exec sleep 30
        printf "cmd=init pmi_version=2\\n    31cmd=abort;isworld=TRUE;msg=why;" >&$PMI_FD; sleep 30'
    has_line "$stderr" "tprun: rank 1 on $(hostname): aborted the program with code 1"
}
