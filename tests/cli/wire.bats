# What is said on the wire: the cases of tests/data/pmi-wire.txt, spoken by real tasks.
load ../lib/common
setup_file() { build_programs; }
setup() {
    start_test
    CASES=$ROOT/tests/data/pmi-wire.txt
}
teardown() { nothing_left 4; }

script() { "$PROGRAMS/pmi-script" "$CASES" "$@"; }
each_case() { # WHOSE HOW...: under what `launch` starts
    local name names how whose=$1
    shift
    names=$(script "$whose")
    [ "$(wc -l <<<"$names")" -gt 10 ]
    for name in $names; do
        for how in "$@"; do
            # shellcheck disable=SC2086
            launch "$PROGRAMS/pmi-script" "$CASES" "$name" $how || {
                echo "case $name, $how"
                return 1
            }
        done
    done
}

@test "tprun answers each case, in whole requests, byte by byte, and when all is sent ahead" {
    launch() { tprun -n 3 "$@"; }
    each_case all whole bytes ahead
}

@test "a task alone is answered as well" {
    launch() { tprun -n 1 "$@"; }
    each_case all whole
}

@test "mpiexec.hydra answers the cases for other launchers" {
    need_mpich
    launch() { mpiexec.hydra -n 3 "$@"; }
    each_case others "whole loose" "bytes loose"
}
