# shellcheck disable=SC2154 # bats sets stderr
# Other users of this machine, and the PMIx server of a program (pmix-user.c).
load ../lib/common
setup_file() { build_programs; }
setup() {
    start_test
    { [ -x "$PROGRAMS/pmix-user" ] && serves_pmix; } || skip "no PMIx here"
}
teardown() {
    : >over
    nothing_left 4
}

# program ARG...: tasks of pmix-user; sets nothing, leaves their variables in the file pmix.
program() {
    start timeout 60 "$TPRUN" "$@"
    wait_for 10 test -s pmix
}
# shellcheck disable=SC2016 # for the tasks' shells
TELLS='[ "$PMIX_RANK" != 0 ] || { env | grep "^PMIX_" >pmix.new && mv pmix.new pmix; };'
end_program() {
    : >over
    finish
    equal "$status $(sort out)$(<err)" "0 $1"
}
GOOD=$'rank 0: good\nrank 1: good'

# stranger [NAME=VALUE...] ARG...: pmix-user as another user, with the task's variables.
stranger() {
    { [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; } || skip "needs to be somebody else"
    local place=$BATS_RUN_TMPDIR/stranger variables=()
    mkdir -p "$place"
    [ -x "$place/pmix-user" ] || cp "$PROGRAMS/pmix-user" "$place/"
    chmod a+rx "$BATS_RUN_TMPDIR" "$place" "$place/pmix-user"
    chmod a+x "$BATS_TEST_TMPDIR" "$(dirname "$BATS_TEST_TMPDIR")"
    mapfile -t variables <pmix
    while [[ $1 == *=* ]]; do
        variables+=("$1")
        shift
    done
    env "${variables[@]}" TMPDIR=/tmp timeout -k 1 30 setpriv --reuid 65534 --regid 65534 \
        --clear-groups "$place/pmix-user" "$@"
}

@test "another user who claims to be the owner is not let in" {
    program -n 2 sh -c "$TELLS exec $PROGRAMS/pmix-user task"
    wait_for 10 lines_are out 2
    run stranger "CLAIM=$(id -u)" "CLAIM_GROUP=$(id -g)" init
    has_line "$output" "init: refused"
    equal "$(grep -c ': done' <<<"$output")" 0
    end_program "$GOOD"
}

@test "another user who is refused for the uid it has stops nobody" {
    program -n 2 sh -c "$TELLS exec $PROGRAMS/pmix-user task go"
    run stranger init
    has_line "$output" "init: refused"
    : >go
    wait_for 20 lines_are out 2
    end_program "$GOOD"
}

@test "connections of another user that say one byte, or too much, delay nobody" {
    program -n 2 sh -c "$TELLS exec $PROGRAMS/pmix-user task go"
    stranger connect 200 1 >few 3>&- &
    stranger connect 200 4000 >many 3>&- &
    wait_for 10 grep -q '^connected 200 times' few
    wait_for 10 grep -q '^connected 200 times' many
    : >go
    wait_for 20 lines_are out 2
    end_program "$GOOD"
    wait
}

@test "connections of another user that say nothing, more than may wait, delay nobody" {
    program -n 2 sh -c "$TELLS exec $PROGRAMS/pmix-user task go"
    (ulimit -n 8192; stranger connect 6000 0) >none 3>&- &
    wait_for 20 grep -q '^connected ' none
    : >go
    wait_for 20 lines_are out 2
    end_program "$GOOD"
    wait
}

@test "clients in a user namespace of their own still count as the owner's" {
    unshare --user --map-current-user true 2>/dev/null || skip "no user namespaces here"
    program -n 2 unshare --user --map-current-user sh -c "$TELLS exec $PROGRAMS/pmix-user task"
    wait_for 10 lines_are out 2
    end_program "$GOOD"
}

@test "where all other users have our uid, too, nothing is started" {
    unshare -U true || skip "no user namespaces here"
    local user=(env -u TPRUN_RUNTIME_DIR TMPDIR=/tmp HOME=/ setpriv --reuid 7001 --regid 7001 --clear-groups)
    run -1 --separate-stderr "${user[@]}" unshare -U --map-user=65534 "$TPRUN" -n 1 true
    [[ "$stderr" == "tprun: cannot run as uid 65534 in this user namespace: "*"unshare --map-current-user)" ]]
    run -0 "${user[@]}" unshare -U --map-user=7001 "$TPRUN" --overlap -n 1 true
}
