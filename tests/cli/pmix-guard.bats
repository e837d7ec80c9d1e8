# shellcheck disable=SC2154 # bats sets output
# openpmix with a page that nobody may touch behind all that it is given (guard-pmix.c).
load ../lib/common
setup_file() { build_programs; }
setup() {
    start_test
    need_pmix_programs
    need_plain_build "nothing may be preloaded before their library"
    export GUARD_LOG=$PWD/log
}
teardown() { nothing_left 4; }

guarded() { run "$1" --separate-stderr env LD_PRELOAD="$PROGRAMS/guard-pmix" timeout 60 "$TPRUN" "${@:2}"; }
not_past() { # and a server was started under guard, with a table of its own size
    [[ $stderr != *"guard-pmix: "* ]] || { echo "$stderr"; return 1; }
    [ -s log ]
    run ! grep -v '^\(28\|29\|30\|32\) slots for OpenPMIx ' log
    rm log
}

# Two of these crash while openpmix starts, when what it says about itself is not shown.
@test "a read past the end of what openpmix is given is detected" {
    local what
    for what in module infos freed; do
        GUARD_PAST=$what guarded -1 -n 2 "$PROGRAMS/pmix-names" lookup a
        [[ $stderr == *"guard-pmix: memory is touched past an end:"* ]]
    done
}
@test "openpmix does not read past the end of what it is given" {
    guarded -0 -n 2 "$PROGRAMS/pmix-names" publish a b lookup a unpublish a
    not_past
    guarded -0 -n 2 "$PROGRAMS/pmix-query" pmix.qry.ns pmix.job.size
    not_past
    guarded -0 -n 2 "$PROGRAMS/pmix-connect" 3
    not_past
    guarded -0 -n 2 "$PROGRAMS/pmix-spawn" 3 "$PROGRAMS/pmix-spawn" show
    not_past
    guarded -137 -n 4 --on-failure=continue "$PROGRAMS/pmix-bad" die-in-get 1
    not_past
}
