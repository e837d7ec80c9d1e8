# shellcheck disable=SC2154,SC2030,SC2031 # bats sets output and stderr
# Who starts before whom where there are several hosts: what the first in line cannot use is not kept for it.
load common
load ../lib/tpctl
setup_file() { start_cluster 4; }
teardown_file() { stop_cluster; }
setup() {
    start_cluster_test
    unset TPRUN_OPTIONS
    ALL=$(nproc)
    ON=(--hosts 'node[0-3]' --bind-to core)
    export PROGRAMS
}
teardown() {
    [ -z "${NO_CLUSTER:-}" ] || return 0
    "$CLUSTER" heal 3>&-
    hosts_clean 10
}
tpctl() { on head "$TPCTL" "$@"; }
in_line() { [ "$(tpctl list --format=json | jq '[.programs[] | select(.waits)] | length')" = "$1" ]; }
later() { # NAME [OPTION...]: a program in the background that writes NAME when it runs
    local name=$1
    shift
    "$CLUSTER" exec head timeout --foreground -k 5 60 "$TPRUN" "$@" \
        sh -c "[ \$TPRUN_RANK != 0 ] || echo $name" >>order 2>"$name.err" 3>&- &
}
# Holds node0 to node2, so that node3 is free, until it is told to end; sets $holder.
hold_three() {
    start_on head "$TPRUN" "${ON[@]}" -N 3 -n $((3 * ALL)) "$@" sh -c "echo; exec $PROGRAMS/stay"
    wait_for 20 lines_are out $((3 * ALL))
}
release() {
    tpctl terminate "$(tpctl list --format=json | jq -r ".programs[0].id")"
    finish
    wait
}

# While one that needs all four hosts waits, node3 is for programs that are over before those on the others, and for no
# others.
waits_for_four() {
    later four "${ON[@]}" -N 4 -n $((4 * ALL))
    wait_for 10 in_line 1
    run_tprun -1 --no-wait "${ON[@]}" true
    run_tprun -0 --no-wait --time-limit 5 "${ON[@]}" -n "$ALL" uname -n
    equal "$(uniq <<<"$output")" node3
    release
    equal "$(cat order)" four
}

@test "a host that is of no use to the first in line is for others, without any limit of time" {
    hold_three
    later three "${ON[@]}" -N 3 -n $((3 * ALL))
    wait_for 10 in_line 1
    run_tprun -0 --no-wait "${ON[@]}" uname -n
    equal "$output" node3
    later four "${ON[@]}" -N 4 -n $((4 * ALL))
    wait_for 10 in_line 2
    run_tprun -1 --no-wait "${ON[@]}" true
    has_line "$stderr" "tprun: --no-wait: it would delay program * (sh -c *, since ??:??, for *s), which came first; --overlap shares them"
    release
    equal "$(sort order | paste -sd' ')" "four three"
}

@test "one that needs all hosts keeps the free one, but for what is over by then" {
    hold_three --time-limit 60
    waits_for_four
}

@test "when one that stages files, or has a shape, is over is known once its tasks run" {
    local options
    for options in "--stage /bin/true -N 3 -n $((3 * ALL))" "--shape node=3/slot=1/core=$ALL"; do
        : >order
        # shellcheck disable=SC2086
        start_on head "$TPRUN" "${ON[@]:0:2}" --time-limit 60 $options sh -c "echo; exec $PROGRAMS/stay"
        wait_for 20 lines_are out "$([[ $options = *shape* ]] && echo 3 || echo $((3 * ALL)))"
        waits_for_four
    done
}

@test "the same goes for shapes, which are not counts of cores" {
    hold_three
    later shape "${ON[@]:0:2}" --shape "node=1/slot=1/core=$ALL"
    sleep 1
    equal "$(cat order)" shape # on node3
    later shapes "${ON[@]:0:2}" --shape "node=2/slot=1/core=$ALL"
    wait_for 10 in_line 1
    run_tprun -0 --no-wait "${ON[@]:0:2}" --shape "slot/core=$ALL" uname -n
    equal "$output" node3
    release
    equal "$(cat order)" "shape
shapes"
}
