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

@test "a malformed frame ends the program with a message that names rank, host and text" {
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
    run -1 --separate-stderr tprun -n 2 bash -c '[ $PMI_RANK = 1 ] &&
        printf "cmd=init pmi_version=2\n    33cmd=abort;exitcode=0;message=why;" >&$PMI_FD; sleep 30'
    has_line "$stderr" "tprun: rank 1 on $(hostname): aborted the program with code 0, which counts as exit status 1"
}

@test "PMI2_Job_Spawn: a block's tasks are a group, with arguments as they are and a preset key" {
    steps_of libpmi2
    run -0 --separate-stderr tprun "$STEPS" show ';' spawn 2 "$STEPS" put k v meet get k show 'a b' '' 'x=y;' $'two\nlines'
    equal "$stderr" ""
    local parent child
    parent=$(sed -n 's/^rank 0 of 1 spawned 0 appnum 0 job \([^ ]*\) from nobody:.*/\1/p' <<<"$output")
    child=$(sed -n 's/^spawn: 0 errors 0 0 job \(..*\)/\1/p' <<<"$output")
    [ -n "$parent" ] && [ -n "$child" ] && [ "$parent" != "$child" ]
    equal "$(grep '^rank . of 2' <<<"$output" | sort)" "$(for r in 0 1; do
        echo "rank $r of 2 spawned 1 appnum 0 job $child from rank 0 of $parent; its=a: [a b] [] [x=y;] [two"; done)"
    equal "$(grep -cxF 'lines]' <<<"$output")" 2
    equal "$(grep -cx 'get k: 0 v' <<<"$output")" 2
}

@test "PMI2_Job_Spawn: several blocks are one group, each with its appnum and info" {
    steps_of libpmi2
    mkdir sub
    run -0 --separate-stderr tprun -n 2 sh -c '[ $TPRUN_RANK = 0 ] || exit 0; exec "$0" "$@"' "$STEPS" \
        spawn 2 "$STEPS" show one , wdir=sub 'env=HUE=deep red' 1 sh -c 'echo "in ${PWD##*/}: $HUE"; exec "$0" show two' "$STEPS"
    equal "$stderr" ""
    has_line "$output" "spawn: 0 errors 0 0 0 job *"
    has_line "$output" "in sub: deep red"
    equal "$(sed -n 's/ job .*: / /p' <<<"$output" | grep ^rank | sort)" "$(cat <<'EOF'
rank 0 of 3 spawned 1 appnum 0 [one]
rank 1 of 3 spawned 1 appnum 0 [one]
rank 2 of 3 spawned 1 appnum 1 [two]
EOF
)"
}

@test "PMI2_Job_Spawn: a spawned task spawns, and is told as the spawner" {
    steps_of libpmi2
    run -0 --separate-stderr tprun "$STEPS" spawn 1 "$STEPS" spawn 1 "$STEPS" show
    equal "$stderr" ""
    equal "$(sed -n 's/^rank .* job \([^ ]*\) from rank 0 of \([^ ]*\); .*/\1\n\2/p' <<<"$output" | sort)" \
        "$(sed -n 's/^spawn: 0 errors 0 job \(..*\)/\1/p' <<<"$output" | sort)"
    equal "$(grep -c '^spawn: 0' <<<"$output")" 2
}

@test "PMI2_Job_Spawn: what cannot be started fails with a code for each task, and nothing runs" {
    steps_of libpmi2
    : >plain
    run -0 tprun "$STEPS" spawn 2 ./nosuch , 1 "$STEPS" show ran , 1 ./plain ';' spawn 1 '' ';' \
        spawn host=elsewhere 2 true ';' spawn 1 "$STEPS" show after
    equal "$(grep ^spawn <<<"$output" | sed '$d')" "$(cat <<'EOF'
spawn: 14 errors 127 127 1 126 job 
spawn: 14 errors 14 job 
spawn: 14 errors 14 14 job 
EOF
)"
    equal "$(grep -c '\[ran\]' <<<"$output")" 0
    has_line "$output" "spawn: 0 errors 0 job *"
    has_line "$output" "rank 0 of 1 spawned 1 *: \[after\]"
}

@test "PMI2_Job_Spawn: a request that is too long fails, and the next does not" {
    steps_of libpmi2
    run -0 --separate-stderr tprun "$STEPS" spawn 1 true "$(head -c 70000 /dev/zero | tr '\0' x)" ';' spawn 1 true
    equal "$stderr" ""
    has_line "$output" "spawn: -1 errors -1 job "
    has_line "$output" "spawn: 0 errors 0 job *"
}
