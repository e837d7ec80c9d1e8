# What tasks with -c tell their OpenMP runtime.
load ../lib/common
setup_file() { build_programs; }
setup() {
    start_test
    unset OMP_NUM_THREADS OMP_PLACES OMP_PROC_BIND GOMP_CPU_AFFINITY KMP_AFFINITY
}
teardown() { nothing_left; }

told() { tprun "$@" sh -c 'echo "${OMP_NUM_THREADS-unset} ${OMP_PLACES-unset} ${OMP_PROC_BIND-unset}"'; }
numbers() { # of an idset, a line each
    tr , '\n' | while IFS=- read -r first last; do seq "$first" "${last:-$first}"; done
}

@test "-c sets the number of threads, and a place for each core" {
    need_cores 2
    run -0 --separate-stderr told -c 2
    [[ "$output" == "2 {"*"},{"*"} unset" ]]
    local places=${output#2 }
    equal "$(tr -d '{}' <<<"${places% unset}" | numbers | sort -n)" \
        "$(tprun -c 2 "$PROGRAMS/where" | cut -d' ' -f3 | numbers | sort -n)"
}

@test "each task has its own places" {
    need_cores 2
    run -0 --separate-stderr told -n 2 -c 1
    equal "${#lines[@]}" 2
    [[ "${lines[0]}" == "1 {"*"} unset" && "${lines[1]}" == "1 {"*"} unset" ]]
    [ "${lines[0]}" != "${lines[1]}" ]
}

@test "without -c, and with --no-omp, no variable of OpenMP is set" {
    run -0 --separate-stderr told --map-by core
    equal "$output" "unset unset unset"
    run -0 --separate-stderr told -c 1 --no-omp
    equal "$output" "unset unset unset"
    run -0 --separate-stderr tprun -l -c 1 sh -c 'echo ${OMP_NUM_THREADS-unset}' : -c 1 --no-omp \
        sh -c 'echo ${OMP_NUM_THREADS-unset}'
    equal "$(sort <<<"$output")" "$(printf '0: 1\n1: unset')"
}

@test "OpenMP's variables of the caller, in the environment or by -x, stay" {
    OMP_NUM_THREADS=7 run -0 --separate-stderr told -c 1
    [[ "$output" == "7 {"*"} unset" ]]
    run -0 --separate-stderr told -c 1 -x OMP_NUM_THREADS=7
    [[ "$output" == "7 {"*"} unset" ]]
    OMP_PLACES=threads run -0 --separate-stderr told -c 1
    equal "$output" "1 threads unset"
    OMP_PROC_BIND=false run -0 --separate-stderr told -c 1
    equal "$output" "1 unset false"
}

@test "a task that is bound wider than its slot gets no places" {
    need_cores 2
    run -0 --separate-stderr told -c 1 --bind-to node
    equal "$output" "1 unset unset"
    run -0 --separate-stderr told -c 1 --bind-to none
    equal "$output" "1 unset unset"
}

@test "a task that is not bound gets no places, also where its slot is the whole node" {
    local cores
    cores=$(lscpu -p=CORE | grep -v '^#' | sort -u | wc -l)
    run -0 --separate-stderr told -c "$cores" --bind-to none
    equal "$output" "$cores unset unset"
}

@test "a run inside a task sets OpenMP's variables anew, unless the task changed them" {
    need_cores 2
    run -0 --separate-stderr tprun -c 2 sh -c '"$TPRUN" -c 1 sh -c "echo \$OMP_NUM_THREADS \$OMP_PLACES"'
    [[ "$output" == "1 {"[0-9]*"}" && "$output" != *"},{"* ]]
    run -0 --separate-stderr tprun -c 2 sh -c '"$TPRUN" sh -c "echo \${OMP_NUM_THREADS-unset}"'
    equal "$output" unset
    run -0 --separate-stderr tprun -c 2 sh -c 'OMP_NUM_THREADS=5 "$TPRUN" -c 1 sh -c "echo \$OMP_NUM_THREADS"'
    equal "$output" 5
}

@test "a real program's threads each stay on a core of the slot" {
    need_cores 2
    run -0 --separate-stderr tprun -c 2 "$PROGRAMS/omp-where"
    equal "${#lines[@]}" 2
    equal "$(sort <<<"$output" | cut -d: -f1)" "$(printf '0/2\n1/2')"
    equal "$(cut -d: -f2 <<<"$output" | sort -u | wc -l)" 2
}
