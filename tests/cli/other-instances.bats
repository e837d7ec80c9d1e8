# shellcheck disable=SC2016,SC2154 # what is for other shells; bats sets stderr
# Runs on one machine that cannot see each other's claims are warned where they bind to the same cores.
load ../lib/common
setup_file() { build_programs; }
setup() {
    start_test
    unset TPRUN_OPTIONS TPRUN_RUNTIME_DIR
    { [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; } || skip "needs to be several users"
    unshare -mn true 2>/dev/null || skip "namespaces are not permitted here"
    HOST=$(uname -n)
    ONE=40000001 TWO=40000002
}
teardown() {
    nothing_left
    rm -rf "/tmp/tprun-$ONE" "/tmp/tprun-$TWO"
}

# both FIRST SECOND: the second script while a run of the first one is there, with a network of their own.
both() {
    export FIRST=$1 SECOND=$2 ONE TWO PROGRAMS
    run -0 --separate-stderr timeout 40 unshare -mn bash -c '
        as() { local user=$1; shift; HOME=/ exec setpriv --reuid "$user" --regid "$user" --clear-groups "$@"; }
        out=$BATS_TEST_TMPDIR/held
        hold() { "$@" "$TPRUN" -n 1 --bind-to core sh -c "echo; exec $PROGRAMS/stay" >"$out" 2>"$out.err" & }
        ip link set lo up
        cd / # where all may be
        eval "$FIRST"
        for ((i = 0; i < 200; i++)); do [ ! -s "$out" ] || break; sleep 0.05; done
        for ((i = 0; i < 200; i++)); do ! grep -q "@tprun $ONE " /proc/net/unix || break; sleep 0.05; done
        (eval "$SECOND")
        kill $! && wait 2>/dev/null
        grep processor "$out.err" >&2 # and not how it ended
        exit 0'
}

@test "a run is told of another user whose tasks are bound to the same cores" {
    both 'hold as $ONE' 'as $TWO "$TPRUN" -n 1 --bind-to core sleep 0.3'
    has_line "$stderr" "tprun: $HOST: processor* also bound by a run of user $ONE: users do not see each other's claims"
    equal "$(grep -c processor <<<"$stderr")" 1
    both 'hold as $ONE' 'as $TWO "$TPRUN" -n 1 --overlap --bind-to core sleep 0.3'
    equal "$stderr" ""
}

@test "a run with a private /tmp is told of one of the same user outside of it" {
    both 'hold as $ONE' 'unshare -m sh -c "mount --bind $(dirname "$TPRUN") /mnt; mount -t tmpfs none /tmp
        cd /; exec setpriv --reuid $ONE --clear-groups /mnt/tprun -n 1 --bind-to core sleep 0.3"'
    has_line "$stderr" "tprun: $HOST: processor* also bound by a run of yours that has another runtime directory mounted (a private /tmp, a container): neither sees what the other claims"
}

@test "runs that see each other's claims, and those in a program, are told nothing" {
    need_cores 2
    both 'hold as $ONE' '(as $ONE "$TPRUN" -n 1 --bind-to core sleep 0.3)
        as $ONE "$TPRUN" -n 1 --bind-to core "$TPRUN" -n 1 --bind-to core sleep 0.3'
    equal "$stderr" ""
}
