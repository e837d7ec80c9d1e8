# Programs of another Debian, whose PMIx or MPI is of another version, under this tprun: a task enters a root
# of tests/debian, as it would enter a container. The whole table is tests/matrix with CROSS=ROOT.
load ../lib/common
setup() {
    local suite
    start_test
    [ "$(id -u)" = 0 ] && unshare -m --propagation private true 2>/dev/null || skip "roots need root, and namespaces"
    for suite in trixie forky bookworm; do
        root=${XDG_CACHE_HOME:-$HOME/.cache}/tprun-tests/debian/$suite
        [ ! -e "$root.ready" ] || [ "$suite" = "$(. /etc/os-release && echo "$VERSION_CODENAME")" ] || return 0
    done
    skip "no root of another Debian here (tests/debian makes them)"
}
teardown() { nothing_left; }

@test "clients of another version of PMIx start, meet in a fence and exchange their keys" {
    local feature enter=$ROOT/tests/lib/enter
    serves_pmix || skip "this tprun has no PMIx"
    exec 9>"$root.lock"
    flock -s 9 # it is not brought up to date meanwhile
    "$enter" "$root" sh -c 'cc -o "/mnt$1/feature" "/mnt$2" $(pkg-config --cflags --libs pmix)' \
        cc "$PWD" "$ROOT/tests/programs/pmix-feature.c" 9>&-
    for feature in init fence modex; do
        run -0 --separate-stderr tprun --pmi pmix -n 3 "$enter" "$root" "/mnt$PWD/feature" "$feature" 9>&-
        equal "$output$stderr" "$feature of 3 tasks: right"
    done
}
