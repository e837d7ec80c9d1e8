# Time limits of tests: what hangs is one failed test, with its name, and leaves nothing behind.
load ../lib/common
setup() { start_test; }
teardown() { nothing_left; }

@test "a command that does not end is shown and ended, with all that it has started" {
    cat >hangs <<'_'
trap "" TERM
sleep 1000 &
setsid sh -c 'trap "" TERM; sleep 1001' &
(setsid sleep 1002 &)
echo begun
wait
_
    run -124 "$ROOT/tests/lib/bounded" 1 sh hangs
    has_line "$output" begun
    has_line "$output" "bounded: still there after 1 s: sh hangs"
    has_line "$output" "* sleep 1001"
    has_line "$output" "* sleep 1002"
    has_line "$output" "bounded: ended after 1 s: sh hangs"
    [ -z "$(marked)" ]
}

@test "a command that ends in time has its own status, input, output and signals" {
    # shellcheck disable=SC2016 # for another shell
    run -7 env --default-signal "$ROOT/tests/lib/bounded" 60 sh -c 'grep SigIgn "/proc/$$/status"; cat; exit 7' <<<word
    has_line "$output" word
    equal "$(grep SigIgn <<<"$output")" "$(env --default-signal grep SigIgn /proc/self/status)"
    run -139 "$ROOT/tests/lib/bounded" 60 sh -c 'kill -SEGV $$'
    run -0 "$ROOT/tests/lib/bounded" -t 60 true
    has_line "$output" "took * s, * user, * system"
}

@test "bats goes on after tests that hang, and what they leave does not hold it up" {
    # bats would take lines that begin with @test for tests of this file.
    sed 's/^test/@test/' >hangs.bats <<'_'
test "passes" { true; }
test "it's stuck in a child's child" { x=$(sh -c 'trap "" TERM; (trap "" TERM; sleep 1003; sleep 1004) | cat'); }
test "reads for ever" { mkfifo ff; read -r x <>ff; }
test "passes, and leaves what has its output" { setsid sleep 1005 & }
_
    run env -u BATS_RUN_TMPDIR -u BATS_TMPDIR "$ROOT/tests/lib/bats" 2 hangs.bats
    [ "$status" != 0 ]
    has_line "$output" "ok 1 passes"
    has_line "$output" "# hung: test 2, ?it's stuck in a child's child? of hangs.bats, is ended after * s"
    has_line "$output" "# hung: * sleep 1003"
    has_line "$output" "not ok 2 it's stuck in a child's child"
    has_line "$output" "not ok 3 reads for ever"
    has_line "$output" "ok 4 passes, and leaves what has its output"
    has_line "$output" "# hung: * sleep 1005"
    has_line "$output" "not ok 0 a process is left behind"
    [ -z "$(marked)" ]
}
