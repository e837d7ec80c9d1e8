# shellcheck disable=SC2154 # bats sets stderr
# Tasks that do to their PMIx server what no good program does, on this machine (pmix-bad.c).
load ../lib/common
setup_file() { build_programs; }
setup() {
    start_test
    need_pmix_programs
}
teardown() { nothing_left 4; }

bad() { run "$1" --separate-stderr tprun -n 4 "${@:2}"; } # -STATUS [OPTION...] PROGRAM...
good() { printf 'rank %d: good\n' "$@"; }
ended() { has_line "$stderr" "tprun: rank 1 on *: killed by signal 9 (Killed)"; }

@test "a task that is killed amid a get, a fence or a put is named" {
    local how
    for how in get fence put; do
        bad -137 "$PROGRAMS/pmix-bad" die-in-$how 1
        ended
    done
}
@test "others that go on without it are not harmed" {
    local how times
    for how in get fence put; do
        for times in 0 1; do
            bad -137 --on-failure=continue "$PROGRAMS/pmix-bad" die-in-$how $times
            equal "$(sort <<<"$output")" "$(good 0 2 3)"
            ended
        done
    done
}
@test "who waits in a fence with it is told" {
    run --separate-stderr tprun -n 4 --on-failure=continue "$PROGRAMS/pmix-bad" die-before-all
    [ "$status" = 137 ] || [ "$status" = 1 ] # whoever is seen to have ended first
    equal "$(grep -c 'not so: fence(true) == PMIX_SUCCESS' <<<"$stderr")" 3
}
@test "a task that comes late is waited for" {
    bad -0 "$PROGRAMS/pmix-bad" late
    equal "$(sort <<<"$output")$stderr" "$(good 0 1 2 3)"
}
@test "ranks and namespaces that do not exist" {
    bad -0 "$PROGRAMS/pmix-bad" ask-wrongly
    equal "$(grep good <<<"$output" | sort)$stderr" "$(good 0 1 2 3)"
    has_line "$output" "fence beyond: BAD-PARAM"
    has_line "$output" "fence nobody: TIMEOUT"
    equal "$(grep -c '^get ' <<<"$output")" 7
}
@test "garbage on the server's socket" {
    bad -0 "$PROGRAMS/pmix-bad" garbage 2000
    equal "$(sort <<<"$output")" "$(good 0 1 2 3)"
    equal "$(grep -v 'PMIX ERROR: BAD-PARAM' <<<"$stderr")" ""
}
@test "connections by the thousand that say nothing hold nobody up" {
    bad -0 "$PROGRAMS/pmix-bad" connect 3000
    equal "$(grep good <<<"$output" | sort)" "$(good 0 1 2 3)"
    has_line "$output" "connected 3000 times"
    equal "$stderr" ""
}
@test "thousands of keys" { # openpmix's own time for more of them grows with their square
    bad -0 "$PROGRAMS/pmix-bad" flood 5000 10
    equal "$(sort <<<"$output")$stderr" "$(good 0 1 2 3)"
}

# The most memory that the agent had, in MB.
agent_peak() {
    local peak=0 now pid
    while kill -0 "$job" 2>/dev/null; do
        for pid in $(marked); do
            [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = tpagent ] || continue
            now=$(awk '/VmHWM/ { print int($2 / 1024) }' "/proc/$pid/status" 2>/dev/null)
            peak=$((${now:-0} > peak ? now : peak))
        done
        sleep 0.05
    done
    echo $peak
}
@test "64 MB in the keys of one task: bounded memory, and nobody is taken for one that did not finalize" {
    local peak
    start timeout 60 "$TPRUN" -n 4 "$PROGRAMS/pmix-bad" flood 64 1000000
    peak=$(agent_peak)
    finish
    equal "$status$(sort out)$(<err)" "0$(good 0 1 2 3)"
    [ "$peak" -gt 64 ] && [ "$peak" -lt 1000 ] || { echo "the agent had $peak MB"; return 1; }
}
