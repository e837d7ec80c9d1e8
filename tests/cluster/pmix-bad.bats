# shellcheck disable=SC2154 # bats sets stderr
# Tasks that do to their PMIx server what no good program does, on several hosts; rank 1 is on node1.
load common
setup_file() { start_cluster 3; }
teardown_file() { stop_cluster; }
setup() {
    start_cluster_test
    need_pmix_programs
}
teardown() { hosts_clean 4; }

bad() { # -STATUS [OPTION...] PROGRAM...
    run_tprun "$1" --oversubscribe --hosts 'node[0-1]' --map-by node -n 4 "${@:2}"
}
good() { printf 'rank %d: good\n' "$@"; }
ended() { has_line "$stderr" "tprun: rank 1 on node1: killed by signal 9 (Killed)"; }

@test "a task that is killed amid a get, a fence or a put is named, and others may go on without it" {
    local how
    for how in get fence put; do
        bad -137 "$PROGRAMS/pmix-bad" die-in-$how 1
        ended
        bad -137 --on-failure=continue "$PROGRAMS/pmix-bad" die-in-$how 1
        equal "$(sort <<<"$output")" "$(good 0 2 3)"
        ended
    done
}
@test "a task that asks for what a killed task never put is told soon" {
    LIMIT=15 run --separate-stderr tprun --oversubscribe --hosts 'node[0-1]' --map-by node -n 4 \
        --on-failure=continue "$PROGRAMS/pmix-bad" die-unasked
    [ "$status" = 137 ] || [ "$status" = 1 ] # whoever is seen to have ended first
    equal "$(grep -c 'not so: ' <<<"$stderr")" 3
}
@test "a task that comes late is waited for" {
    bad -0 "$PROGRAMS/pmix-bad" late
    equal "$(sort <<<"$output")$stderr" "$(good 0 1 2 3)"
}
@test "requests about ranks and namespaces of no host are answered with an error" {
    bad -0 "$PROGRAMS/pmix-bad" ask-wrongly
    but_nobody
    equal "$(grep good <<<"$output" | sort)$stderr" "$(good 0 1 2 3)"
    has_line "$output" "fence beyond: BAD-PARAM"
    nobody_fenced
}
@test "garbage and silent connections on a server's socket harm nobody" {
    bad -0 "$PROGRAMS/pmix-bad" garbage 1000
    equal "$(sort <<<"$output")" "$(good 0 1 2 3)"
    bad -0 "$PROGRAMS/pmix-bad" connect 1000
    equal "$(grep good <<<"$output" | sort)$stderr" "$(good 0 1 2 3)"
}
@test "30 MB in the keys of one task go to the other host, 70 MB are too much and said to be" {
    bad -0 "$PROGRAMS/pmix-bad" flood 30 1000000
    equal "$(sort <<<"$output")$stderr" "$(good 0 1 2 3)"
    bad -1 "$PROGRAMS/pmix-bad" flood 70 1000000
    has_line "$stderr" "tprun: node1: PMI: tasks exchange 7000* bytes at once, and at most 67108800 are carried *"
}
@test "a fence of some ranks leaves hosts without any of them alone" {
    bad -0 --hosts 'node[0-2]' "$PROGRAMS/pmix-bad" some
    equal "$(sort <<<"$output")$stderr" "$(good 0 1 2 3)"
}
