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
@test "tasks that go on without a killed one are not harmed" {
    local how times
    for how in get fence put; do
        for times in 0 1; do
            bad -137 --on-failure=continue "$PROGRAMS/pmix-bad" die-in-$how $times
            equal "$(sort <<<"$output")" "$(good 0 2 3)"
            ended
        done
    done
}
@test "a task that waits in a fence with a killed one is told" {
    run --separate-stderr tprun -n 4 --on-failure=continue "$PROGRAMS/pmix-bad" die-before-all
    [ "$status" = 137 ] || [ "$status" = 1 ] # whoever is seen to have ended first
    told=$(grep -c 'not so: fence(true) == PMIX_SUCCESS' <<<"$stderr")
    case $(pmix_major) in
    5 | 6) [ "$told" -ge 1 ] ;; # openpmix tells the first of a node's tasks alone (pmix-versions.h)
    *) equal "$told" 3 ;;
    esac
}
@test "several tasks that die at once while others wait in a fence harm nobody else" {
    # freed memory is overwritten: who still looks at it is seen
    local others
    for others in 1 2 3; do
        run -137 --separate-stderr env MALLOC_PERTURB_=165 timeout -k 5 30 "$TPRUN" -n 6 --on-failure=continue \
            "$PROGRAMS/pmix-bad" die-together "$others"
        equal "$(sort <<<"$output")" "$(good 0 $(seq $((others + 2)) 5))"
        equal "$stderr" "tprun: ranks 1-$((others + 1)) on $(hostname): killed by signal 9 (Killed)"
    done
}
@test "a task that dies while its server has much of it to read keeps nobody in a fence" {
    LIMIT=30 bad -137 --on-failure=continue "$PROGRAMS/pmix-bad" die-unread 1000
    equal "$(sort <<<"$output")" "$(good 0 2 3)"
    ended
}
# Its connection ends 0.3 s before the task does.
slowly() { bad "$1" --on-failure=continue sh -c '"$@"; status=$?; sleep 0.3; exit $status' sh "$PROGRAMS/pmix-bad" "${@:2}"; }
@test "a fence that is entered while a task dies, or that lists it as soon as another fence has failed, ends" {
    local told
    for i in 1 2 3 4 5; do
        LIMIT=30 bad -137 --on-failure=continue "$PROGRAMS/pmix-bad" die-listed
        equal "$(sort <<<"$output")" "$(good 0 2 3)"
        ended
    done
    LIMIT=30 slowly -137 die-listed
    equal "$(sort <<<"$output")" "$(good 0 2 3)"
    run --separate-stderr tprun -n 4 --on-failure=continue sh -c '"$@"; status=$?; sleep 0.3; exit $status' sh \
        "$PROGRAMS/pmix-bad" die-at-once 100000
    told=$(grep -c 'not so: fence(true) == PMIX_SUCCESS' <<<"$stderr")
    case $(pmix_major) in
    5 | 6) [ "$told" -ge 1 ] ;;
    *) equal "$told" 3 ;;
    esac
}
@test "a task that comes late is waited for" {
    bad -0 "$PROGRAMS/pmix-bad" late
    equal "$(sort <<<"$output")$stderr" "$(good 0 1 2 3)"
}
@test "requests about ranks and namespaces that do not exist are answered with an error" {
    bad -0 "$PROGRAMS/pmix-bad" ask-wrongly
    but_nobody
    equal "$(grep good <<<"$output" | sort)$stderr" "$(good 0 1 2 3)"
    has_line "$output" "fence beyond: BAD-PARAM"
    nobody_fenced
    equal "$(grep -c '^get ' <<<"$output")" 7
}
@test "requests about a namespace without a name harm nobody" {
    bad -0 "$PROGRAMS/pmix-bad" ask-nobody
    but_nobody
    equal "$(sort <<<"$output")$stderr" "$(good 0 1 2 3)"
}
@test "garbage on the server's socket harms nobody" {
    bad -0 "$PROGRAMS/pmix-bad" garbage 2000
    equal "$(sort <<<"$output")" "$(good 0 1 2 3)"
    equal "$(grep -v 'PMIX ERROR: \(PMIX_ERR_BAD_PARAM\|BAD-PARAM\)' <<<"$stderr")" ""
}
@test "greetings that stop in the middle, or never end, hold nobody up" {
    local slow
    for slow in 0 1; do # silent after 4 bytes, or a byte now and then
        bad -0 "$PROGRAMS/pmix-bad" halfway 3 $slow
        equal "$(sort <<<"$output")$stderr" "$(good 0 1 2 3)"
    done
}
@test "connections by the thousand that say nothing hold nobody up" {
    bad -0 "$PROGRAMS/pmix-bad" connect 3000
    equal "$(grep good <<<"$output" | sort)" "$(good 0 1 2 3)"
    has_line "$output" "connected 3000 times"
    equal "$stderr" ""
}
@test "tasks put and get thousands of keys" { # openpmix's own time for more of them grows with their square
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
@test "64 MB in the keys of one task take bounded memory, and no task counts as not finalized" {
    local peak
    start timeout 60 "$TPRUN" -n 4 "$PROGRAMS/pmix-bad" flood 64 1000000
    peak=$(agent_peak)
    finish
    equal "$status$(sort out)$(<err)" "0$(good 0 1 2 3)"
    [ "$peak" -gt 64 ] && [ "$peak" -lt 1000 ] || { echo "the agent had $peak MB"; return 1; }
}

@test "events that nobody hears are kept up to a bound, and what is more is said" {
    local peak range bytes most
    for range in local global; do # what is kept is 16 of 2 MB; beside the hub's 32 MiB, 16 of 1 MB
        [ $range = local ] && bytes=2000000 most=100 || bytes=1000000 most=250
        [ -z "${REPORTS:-}" ] || most=900 # with sanitizers what was freed is kept for a while
        start timeout 60 "$TPRUN" -n 2 "$PROGRAMS/pmix-event" flood $range 600 "$bytes"
        peak=$(agent_peak)
        finish
        equal "$status $(<out)" "0 "
        case $range in # what is larger than 1 MiB is not passed on
        local) equal "$(<err)" "" ;;
        global) # with sanitizers they may come too slowly for that
            [ -n "${REPORTS:-}" ] && [ ! -s err ] ||
                equal "$(sort -u err)" "tprun: PMIx events are made faster than they are passed on: some are refused"
            ;;
        esac
        [ "$peak" -gt 20 ] && [ "$peak" -lt $most ] || { echo "the agent had $peak MB: $range"; return 1; }
    done
}
@test "what openpmix says in an agent about what it was sent is shown with -v alone" {
    # the head of a greeting, 20 bytes of it: a security module, and that who greets is of kind 99
    cat >greet <<'EOF_'
exec 3<>"/dev/tcp/127.0.0.1/$(env | sed -n 's/^PMIX_SERVER_URI[0-9]*=.*:\([0-9]*\)$/\1/p' | head -n 1)"
printf '\0\0\0\0\0\0\0\0\24\0\0\0\0\0\0\0native\0\0\0\0\0\143\0\0\0\0\0\0\0\0' >&3 # in one piece
cat <&3 # until it is closed
EOF_
    run -0 --separate-stderr tprun --pmi pmix -n 1 bash greet
    equal "$output$stderr" ""
    run -0 --separate-stderr tprun -v --pmi pmix -n 1 bash greet
    has_line "$stderr" "*PMIX ERROR: * in file *"
    run -0 --separate-stderr env PMIX_OUTPUT_STDERR_FD=2 timeout 60 "$TPRUN" --pmi pmix -n 1 bash greet
    has_line "$stderr" "*PMIX ERROR: * in file *"
}
