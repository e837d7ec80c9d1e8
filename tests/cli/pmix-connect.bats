# shellcheck disable=SC2154 # bats sets stderr
# What tasks of two jobs do together: PMIx_Connect(), fences and groups of both.
load ../lib/common
setup_file() { build_programs; }
setup() {
    start_test
    need_pmix_programs
}
teardown() { nothing_left; }

CONNECT=$PROGRAMS/pmix-connect

@test "a job and one that it spawned connect, and know of each other" {
    host=$(uname -n)
    run -0 --separate-stderr tprun -n 2 "$CONNECT" 3
    equal "$stderr" ""
    equal "$(sort <<<"$output")" "$(printf 'the other job is %d on %s\n' 2 "$host" 3 "$host")"
}

@test "who waits for tasks that come too late gives up in time" {
    run -0 --separate-stderr tprun -n 1 "$CONNECT" late 2
    equal "$output$stderr" "TIMEOUT"
}
