# shellcheck disable=SC2154 # bats sets stderr and stderr_lines
# Whose library of the MPI ABI, libmpi_abi.so.1, tasks load. Stand-ins say whose they are; at the end, the
# real ones where they are installed.
load ../lib/common
load ../lib/mpi-abi
setup_file() {
    build_programs
    abi_stand_ins "$BATS_FILE_TMPDIR"
}
setup() {
    start_test
    ABI=$BATS_FILE_TMPDIR
    unset LD_LIBRARY_PATH
}
teardown() { nothing_left; }

offered() { # MPI: what a task of it prints
    if [ "$1" = mpich ]; then echo "mpich pmi1"; elif serves_pmix; then echo "openmpi pmix"; else echo "openmpi pmi1"; fi
}
loads() { # MPI TPRUN-ARGUMENTS...
    run -0 --separate-stderr tprun "${@:2}"
    equal "$output" "$(offered "$1")"
}

@test "--check names the MPI behind libmpi_abi.so.1, lists what is installed, and says which is used" {
    run -0 --separate-stderr tprun -x LD_LIBRARY_PATH="$ABI/both" --check "$ABI/abi"
    has_line "$output" "  MPI      Open MPI: libmpi_abi.so.1 in $ABI/both (libmpi_abi_openmpi.so.1.0.0)"
    has_line "$output" "  --mpi    mpich: $ABI/both/libmpi_abi_mpich.so.1.0.0"
    has_line "$output" "  --mpi    openmpi: $ABI/both/libmpi_abi_openmpi.so.1.0.0, which is used"
    run -0 --separate-stderr tprun -x LD_LIBRARY_PATH="$ABI/both" --mpi mpich --check "$ABI/abi"
    has_line "$output" "  MPI      MPICH: libmpi_abi.so.1 in $ABI/both (libmpi_abi_mpich.so.1.0.0)"
    has_line "$output" "  PMI      PMI-1; this tprun serves it"
    has_line "$output" "  --mpi    mpich: $ABI/both/libmpi_abi_mpich.so.1.0.0, which is used"
    run -0 --separate-stderr tprun --mpi "$ABI/mpich" --format=json --check "$ABI/abi"
    equal "$(jq -c '.programs[0] | .mpi.name, [.mpi_abi[] | select(.used) | .name, .path]' <<<"$output")" \
        "$(printf '"MPICH"\n["MPICH","%s"]' "$ABI/mpich/lib/libmpi_abi.so.1")"
    # what a shell starts
    run -0 --separate-stderr tprun --mpi "$ABI/mpich" --check sh
    has_line "$output" "  --mpi    *$ABI/mpich/lib/libmpi_abi.so.1*, which programs use that it starts"
}

@test "one program runs with each library, and is offered the PMI of that one" {
    loads openmpi -x LD_LIBRARY_PATH="$ABI/both" "$ABI/abi"
    loads mpich -x LD_LIBRARY_PATH="$ABI/both" --mpi mpich "$ABI/abi"
    loads openmpi -x LD_LIBRARY_PATH="$ABI/mpich/lib:$ABI/both" --mpi openmpi "$ABI/abi"
    loads mpich -x PATH="$ABI/mpich/bin:$PATH" --mpi MPICH "$ABI/abi"
    loads mpich --mpi "$ABI/mpich" "$ABI/abi"
    loads openmpi --mpi "$ABI/openmpi/lib" "$ABI/abi"
    loads mpich --mpi "$ABI/both/libmpi_abi_mpich.so.1.0.0" "$ABI/abi"
    loads openmpi --mpi "$ABI/both" "$ABI/abi"
    cd "$ABI"
    loads mpich --mpi ./mpich --chdir / "$ABI/abi"
    loads mpich --mpi mpich/lib ./abi
}

@test "--mpi comes before a RUNPATH and reaches what a script starts, and an RPATH is refused" {
    abi_program "$ABI" runpath -Wl,--enable-new-dtags,-rpath,"$ABI/openmpi/lib"
    abi_program "$ABI" rpath -Wl,--disable-new-dtags,-rpath,"$ABI/openmpi/lib"
    loads openmpi "$ABI/runpath"
    loads mpich --mpi "$ABI/mpich" "$ABI/runpath"
    loads openmpi --mpi "$ABI/openmpi" "$ABI/rpath"
    run -1 --separate-stderr tprun --mpi "$ABI/mpich" "$ABI/rpath"
    has_line "$stderr" "tprun: rank 0 on *: an RPATH comes before --mpi, so $ABI/rpath would load $ABI/openmpi/lib/libmpi_abi.so.1 and not $ABI/mpich/lib/libmpi_abi.so.1: link it with -Wl,--enable-new-dtags, or without a path"
    run -1 --separate-stderr tprun --mpi "$ABI/mpich" --check "$ABI/rpath"
    has_line "$output" "an RPATH comes before --mpi, *"
    # shellcheck disable=SC2016
    run -0 --separate-stderr tprun --mpi "$ABI/both/libmpi_abi_mpich.so.1.0.0" -x LD_LIBRARY_PATH=/a:/b \
        sh -c "$ABI/abi; "'echo "${LD_LIBRARY_PATH#*/mpi:}"; echo "${LD_LIBRARY_PATH%%/mpi:*}"'
    equal "${lines[0]% pmi1*}" mpich
    equal "${lines[1]}" "$ABI/both:/a:/b"
    [[ "${lines[2]}" == /*/tprun.* ]]
    [ ! -e "${lines[2]}" ]
}

@test "a library that is not there, or not for the program, is refused in a sentence" {
    refused() { # SENTENCE TPRUN-ARGUMENTS...
        run -1 --separate-stderr tprun -n 2 "${@:2}"
        has_line "$stderr" "tprun: ranks 0-1 on *: $1"
        equal "${#stderr_lines[@]}" 1
    }
    mkdir empty
    refused "--mpi $PWD/nosuch: No such file or directory" --mpi ./nosuch "$ABI/abi"
    refused "--mpi $PWD/empty: no libmpi_abi.so.1 in this directory, its lib or its lib64" --mpi ./empty "$ABI/abi"
    refused "--mpi nosuch: no libmpi_abi.so.1 of that MPI is found here; these are: mpich is $ABI/both/libmpi_abi_mpich.so.1.0.0, openmpi is $ABI/both/libmpi_abi_openmpi.so.1.0.0*" \
        --mpi nosuch -x LD_LIBRARY_PATH="$ABI/both" "$ABI/abi"
    mkdir a:b
    cp "$ABI/mpich/lib/libmpi_abi.so.1.0.0" a:b/libmpi_abi.so.1
    refused "LD_LIBRARY_PATH, by which tasks load the library of --mpi, cannot hold $PWD/a:b: expected a path without \":\" and \";\"" \
        --mpi ./a:b -x LD_LIBRARY_PATH="$ABI/openmpi/lib" "$ABI/abi"
    linked_with libmpi.so.40
    cp lib/libmpi.so.40 empty/libmpi_abi.so.1
    refused "--mpi $PWD/empty: $PWD/empty/libmpi_abi.so.1 is not libmpi_abi.so.1 but libmpi.so.40" --mpi ./empty "$ABI/abi"
    head -c 100 "$ABI/mpich/lib/libmpi_abi.so.1" >empty/libmpi_abi.so.1
    refused "--mpi $PWD/empty: $PWD/empty/libmpi_abi.so.1: an ELF file whose headers are cut off or wrong" --mpi ./empty "$ABI/abi"
    refused "--mpi is for programs that are linked with libmpi_abi.so.1: $PWD/app is linked with Open MPI (libmpi.so.40)" --mpi "$ABI/mpich" ./app
    refused "--mpi is for programs that are linked with libmpi_abi.so.1: $PROGRAMS/nothing is linked statically" --mpi "$ABI/mpich" "$PROGRAMS/nothing"
    run -2 --separate-stderr tprun --mpi mpich a : --mpi openmpi b
    has_line "$stderr" "*--mpi is of the whole program: *?tasks of one program use one MPI?"
}

@test "one --mpi holds for all parts and for what they spawn, and two libraries in one program are refused" {
    run -0 --separate-stderr tprun --mpi "$ABI/mpich" -n 1 "$ABI/abi" : -n 1 "$ABI/abi" : -n 1 "$PROGRAMS/nothing"
    equal "$output" "$(printf 'mpich pmi1\n%.0s' 1 2)"
    run -0 --separate-stderr tprun --mpi "$ABI/both/libmpi_abi_mpich.so.1.0.0" "$PROGRAMS/pmi-spawn" run -- 2 "$ABI/abi"
    equal "$(grep -c '^mpich pmi1$' <<<"$output")" 2
    serves_pmix || skip "this tprun has no PMIx"
    run -1 --separate-stderr tprun -x LD_LIBRARY_PATH="$ABI/mpich/lib" "$ABI/abi" : -x LD_LIBRARY_PATH="$ABI/openmpi/lib" "$ABI/abi"
    has_line "$stderr" "*$ABI/abi uses MPICH or one of its family, $ABI/abi uses Open MPI, *"
}

@test "a spec, TPRUN_OPTIONS and mpiexec carry --mpi" {
    tprun --print-spec --mpi "$ABI/mpich" "$ABI/abi" >spec.json
    equal "$(jq -r .mpi spec.json)" "$ABI/mpich"
    loads mpich --spec spec.json
    loads openmpi --spec spec.json --mpi "$ABI/openmpi"
    jq '.mpi = "a/b"' spec.json >bad.json
    run -2 --separate-stderr tprun --spec bad.json
    has_line "$stderr" "tprun: --spec: bad.json: mpi: *a/b* is not the name of an MPI, *"
    export TPRUN_OPTIONS="--oversubscribe --mpi $ABI/mpich"
    loads mpich "$ABI/abi"
    export TPRUN_OPTIONS=--oversubscribe
    ln -s "$TPRUN" mpiexec
    run -0 --separate-stderr ./mpiexec -n 2 --mpi "$ABI/mpich" --agent "$(dirname "$TPRUN")/tpagent" "$ABI/abi"
    equal "$output" "$(printf 'mpich pmi1\n%.0s' 1 2)"
    # variables of the launchers count as for that library
    export HYDRA_HOST_FILE=/nosuch
    run -0 --separate-stderr ./mpiexec --mpi="$ABI/openmpi" --print-spec "$ABI/abi"
    equal "$(jq -r .hostfile <<<"$output")" null
    run -0 --separate-stderr ./mpiexec --mpi="$ABI/mpich" --print-spec "$ABI/abi"
    equal "$(jq -r .hostfile <<<"$output")" /nosuch
}

@test "--mpi in TPRUN_OPTIONS is for programs of the MPI ABI alone, and others run without it" {
    local choice
    cp "$PROGRAMS/nothing" nothing
    linked_with libmpi.so.40
    for choice in "$ABI/mpich" nosuch; do
        export TPRUN_OPTIONS="--oversubscribe --mpi $choice"
        run -0 --separate-stderr tprun -n 1 ./nothing
        equal "$output$stderr" ""
        run -0 --separate-stderr tprun -n 1 sh -c 'echo ran'
        equal "$output$stderr" ran
        run -0 --separate-stderr tprun -n 1 -x LD_LIBRARY_PATH="$PWD/lib" ./app
        equal "$stderr" ""
        run -0 --separate-stderr tprun --check ./nothing
    done
    run -1 --separate-stderr tprun -n 1 "$ABI/abi"
    has_line "$stderr" "*--mpi nosuch: no libmpi_abi.so.1 *is found here*"
    run -1 --separate-stderr tprun --mpi "$ABI/mpich" -n 1 ./nothing
    has_line "$stderr" "*--mpi is for programs that are linked with libmpi_abi.so.1: *"
}

@test "a program of the MPI ABI runs with MPICH's library and with Open MPI's, and so do its children" {
    local mpi
    need_abis
    abi_compile hello "$ROOT/tests/programs/mpi-hello.c"
    abi_compile spawn "$ROOT/tests/programs/mpi-spawn.c"
    abi_compile version "$ROOT/tests/programs/mpi-version.c"
    for mpi in mpich openmpi; do
        run -0 --separate-stderr tprun --mpi $mpi -n 4 ./hello
        equal "$(sort <<<"$output")" "$(printf 'hello from %d of 4\n' 0 1 2 3)"
        run -0 --separate-stderr tprun --mpi $mpi -n 1 ./spawn
        [ "$(grep -c 'the sum is right' <<<"$output")" = 2 ]
    done
    run -0 --separate-stderr tprun --mpi mpich -n 2 ./version
    equal "$(grep -c ' of 2: MPICH' <<<"$output")" 2
    run -0 --separate-stderr tprun --mpi openmpi -n 2 ./version
    equal "$(grep -c ' of 2: Open MPI' <<<"$output")" 2
}
