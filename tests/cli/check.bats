# What --check says of a program before it runs, and what is said after tasks that never spoke PMI.
load ../lib/common
setup_file() { build_programs; }
setup() { start_test; }
teardown() { nothing_left; }

@test "an MPICH program is said to use PMI-1" {
    need_mpich
    run -0 --separate-stderr tprun --check "$PROGRAMS/mpi-hello"
    equal "${lines[0]}" "$PROGRAMS/mpi-hello"
    has_line "$output" "  MPI      MPICH: libmpich.so.12 in /*"
    has_line "$output" "  PMI      PMI-1; this tprun serves it"
    has_line "$output" "  missing  nothing: all * libraries are here"
    run -1 --separate-stderr tprun --pmi pmi2 --check "$PROGRAMS/mpi-hello"
    has_line "$output" "  PMI      PMI-1; --pmi does not offer it: *--pmi pmi1"
}

@test "an Open MPI program is said to need PMIx, and its tasks to have run alone" {
    command -v mpicc.openmpi >/dev/null || skip "no mpicc.openmpi here"
    OMPI_CC=${CC:-cc} mpicc.openmpi -o hello "$ROOT/tests/programs/mpi-hello.c"
    local why="this tprun does not serve it"
    if serves_pmix; then
        why="--pmi does not offer it: leave --pmi out, or say --pmi pmix"
        run -0 --separate-stderr tprun --check ./hello
        has_line "$output" "  PMI      PMIx; this tprun serves it"
    else
        run -1 --separate-stderr tprun --check ./hello
        has_line "$output" "  so       each task would run by itself, as rank 0 of 1"
    fi
    has_line "$output" "  MPI      Open MPI: libmpi.so.* in /*"
    run -1 --separate-stderr tprun --pmi pmi1 --check ./hello
    has_line "$output" "  PMI      PMIx; $why"
    local try
    for try in 1 2 3; do # two alone that start at once stop each other now and then, also without tprun
        run --separate-stderr tprun --pmi pmi1 -n 2 ./hello
        ((status)) || break
    done
    equal "$status" 0
    equal "$output" "$(printf 'hello from 0 of 1\n%.0s' 1 2)"
    has_line "$stderr" "tprun: 2 tasks of ./hello ran without speaking PMI, * Open MPI ?libmpi.so.*?, which uses PMIx; $why"
}

@test "libraries that are missing are named, with those that need them" {
    linked_with libmpich.so.10
    run -0 --separate-stderr tprun --check ./app
    has_line "$output" "  MPI      MPICH: libmpich.so.10 in $PWD/lib"
    mv lib/libmpich.so.10 elsewhere
    run -1 --separate-stderr tprun --check ./app
    has_line "$output" "  MPI      MPICH: libmpich.so.10, which is missing"
    has_line "$output" "  missing  libmpich.so.10"
    head -c 100 elsewhere >lib/libmpich.so.10
    run -1 --separate-stderr tprun --check ./app
    has_line "$output" "  missing  libmpich.so.10 ($PWD/lib/libmpich.so.10: an ELF file whose * cut off or wrong)"
    mkdir found
    mv elsewhere found/libmpich.so.10
    rm lib/libmpich.so.10
    run -0 --separate-stderr tprun -x LD_LIBRARY_PATH="$PWD/found" --check ./app
}

@test "a program is looked up as for a run; a script and a static program are said to be that" {
    run -0 --separate-stderr tprun --check "$PROGRAMS/nothing"
    has_line "$output" "  MPI      not known: this is linked statically*"
    has_line "$output" "  PMI      not known; tasks are offered pmi1, pmi2$(serves_pmix && echo ', pmix')"
    run -0 --separate-stderr tprun --pmi none --check "$PROGRAMS/nothing"
    has_line "$output" "  PMI      not known; tasks are offered none"
    mkdir bin
    printf '#!/bin/bash\ntouch ran\n' >bin/script
    chmod +x bin/script
    run -0 --separate-stderr tprun -x PATH="$PWD/bin" --check script
    has_line "$output" "  MPI      not known: this is a script for /bin/bash, *"
    run -0 --separate-stderr tprun --chdir bin --check ./script
    [ ! -e ran ]
    printf '#!/no/such/interpreter\n' >bin/script
    run -1 --separate-stderr tprun --check bin/script
    has_line "$output" "  missing  /no/such/interpreter, which starts it"
    run -1 --separate-stderr tprun --check no-such-program
    equal "$output" "no-such-program cannot be run: it is not found along PATH"
}

@test "a program that can neither open libraries nor start programs is offered no PMIx" {
    [ ! -s /etc/ld.so.preload ] || skip "something is loaded into every program here"
    # with the bytes of system calls, as they occur by chance in what is none
    printf '%s\n' 'asm(".text\n .long 0x050f80cd, 0xd4000001"); int main(void) { return 0; }' >closed.c
    echo 'int system(const char *); int main(int n, char **a) { return n > 1 && system(a[1]); }' >open.c
    "${CC:-cc}" -o closed closed.c
    "${CC:-cc}" -o open open.c
    run -0 --separate-stderr tprun --check ./closed
    has_line "$output" "  MPI      none that is known"
    has_line "$output" "  PMI      none: it can neither open libraries nor start programs; tasks are offered pmi1, pmi2"
    run -0 --separate-stderr tprun --check ./closed --format=json : -x LD_PRELOAD=libx.so --check ./closed : --check ./open
    equal "$(jq -c '[.programs[].closed]' <<<"$output")" "[true,false,false]"
    equal "$(jq -c '.programs[0].offered' <<<"$output")" '["pmi1","pmi2"]'
    ! serves_pmix || equal "$(jq -c '.programs[2].offered' <<<"$output")" '["pmi1","pmi2","pmix"]'
    serves_pmix || return 0
    run -0 --separate-stderr tprun --pmi pmix --check ./closed --format=json
    equal "$(jq -c '.programs[0].offered' <<<"$output")" '["pmix"]'
}

@test "--format=json has the same for programs" {
    linked_with libmpi.so.40
    run -1 --separate-stderr tprun --pmi pmi1,pmi2 --check ./app --format=json : --check sh : --check /no/such
    equal "$(jq -c '[.version, .runs, [.programs[] | .program, .runs]]' <<<"$output")" \
        '[1,false,["./app",false,"sh",true,"/no/such",false]]'
    equal "$(jq -c '.programs[0] | [.mpi, .pmi.speaks, .pmi.served, .libraries[0].path]' <<<"$output")" \
        "[{\"name\":\"Open MPI\",\"library\":\"libmpi.so.40\"},[\"pmix\"],false,\"$PWD/lib/libmpi.so.40\"]"
    equal "$(jq -c '.programs[1] | [.mpi, .pmi, .offered]' <<<"$output")" '[null,null,["pmi1","pmi2"]]'
    [ "$(jq -r '.programs[2].error' <<<"$output")" = "/no/such cannot be run: No such file or directory" ]
}

@test "tasks that are linked with an MPI and never spoke PMI are reported at the end" {
    linked_with libmpi.so.40
    local why="this tprun does not serve it"
    if serves_pmix; then
        why="--pmi does not offer it: leave --pmi out, or say --pmi pmix"
    fi
    run -0 --separate-stderr tprun --pmi pmi1 -n 3 ./app
    equal "$stderr" "tprun: 3 tasks of ./app ran without speaking PMI, each perhaps as rank 0 of 1: it is linked with Open MPI (libmpi.so.40), which uses PMIx; $why"
    linked_with libmpich.so.12
    run -0 --separate-stderr tprun -n 2 true : -n 2 ./app
    has_line "$stderr" "tprun: 2 tasks of ./app ran without speaking PMI, * MPICH ?libmpich.so.12?, which uses PMI-1; that was offered, so they never called MPI_Init, or lost PMI_FD"
    run -0 --separate-stderr tprun --pmi pmi2 -n 2 ./app
    has_line "$stderr" "tprun: 2 tasks of ./app *, which uses PMI-1; --pmi does not offer it: leave --pmi out, or say --pmi pmi1"
}

@test "a single task, tasks without PMI or MPI, failed tasks and tasks that spoke PMI are not reported" {
    linked_with libmpi.so.40
    local words
    for words in '-n 1 ./app' '--pmi none -n 2 ./app' '-n 2 hostname' '-n 2 sh -c ./app'; do
        # shellcheck disable=SC2086
        run -0 --separate-stderr tprun $words
        equal "$stderr" ""
    done
    run -1 --separate-stderr tprun --on-failure continue -n 2 ./app : -n 1 false
    equal "$stderr" "tprun: rank 2 on $(hostname): exited with status 1"
    linked_with libmpi.so.40 3
    run -3 --separate-stderr tprun --on-failure continue -n 2 ./app
    equal "$stderr" "tprun: ranks 0-1 on $(hostname): exited with status 3"
    need_mpich
    run -0 --separate-stderr tprun -n 4 "$PROGRAMS/mpi-hello"
    equal "$stderr" ""
}

@test "--check takes one program, and refuses another to run" {
    run -2 --separate-stderr tprun --check a b
    has_line "$stderr" "tprun: --check: checks a and runs nothing: leave out b"
    run -2 --separate-stderr tprun --check
    export TPRUN_OPTIONS='--check a'
    run -2 --separate-stderr tprun b
}
