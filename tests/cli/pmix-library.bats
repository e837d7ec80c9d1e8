# shellcheck disable=SC2154 # bats sets stderr
# The openpmix that tprun finds: of a version that it does not know, or not whole. Stand-ins for it.
load ../lib/common
setup_file() { build_programs; }
setup() {
    start_test
    need_pmix_programs
    mkdir lib
}
teardown() { nothing_left; }

# What tprun calls of it.
symbols() { sed -n 's/^ *X([a-z_]*, \(PMIx_[A-Za-z_]*\)).*/\1/p' "$ROOT/pmi-server/pmix/library.h"; }
# stand_in VERSION [BUT]: lib/libpmix.so.2, which has all of that but BUT.
stand_in() {
    local symbol
    {
        [ "${2:-}" = PMIx_Get_version ] ||
            echo "const char *PMIx_Get_version(void) { return \"OpenPMIx $1 (PMIx Standard: 9)\"; }"
        echo '#include <stdlib.h>'
        for symbol in $(symbols | grep -vxe PMIx_Get_version -e "${2:-none}"); do
            echo "int $symbol(void) { abort(); }"
        done
    } >stand-in.c
    ${CC:-cc} -shared -fPIC -Wl,-soname,libpmix.so.2 -o lib/libpmix.so.2 stand-in.c
}
with_it() { run "$1" --separate-stderr env LD_LIBRARY_PATH="$PWD/lib" timeout 60 "$TPRUN" "${@:2}"; }

@test "openpmix of a version that is not known is refused by name" {
    local version
    [ "$(symbols | wc -l)" -gt 20 ]
    for version in 8.0.0 4.1.3 123.4 none; do
        stand_in "$version"
        with_it -1 -n 2 "$PROGRAMS/pmix-names"
        equal "$output" ""
        [ "$version" != none ] || version="of no version"
        equal "$stderr" "tprun: $(hostname): openpmix $version in $PWD/lib/libpmix.so.2 is not known to this \
tprun: install openpmix 4.2 to 7 or a newer tprun, or put such an openpmix first in LD_LIBRARY_PATH"
    done
    with_it -0 --version
    has_line "$output" "* built with PMIx, but openpmix of no version in $PWD/lib/libpmix.so.2 is not known *"
}
@test "programs that do not use PMIx run whatever openpmix there is" {
    stand_in 8.0.0
    [ ! -x "$PROGRAMS/mpi-hello" ] || with_it -0 -n 2 "$PROGRAMS/mpi-hello"
    with_it -0 -n 2 sh -c 'echo "$TPRUN_RANK"'
    equal "$(sort <<<"$output")$stderr" "$(printf '%s\n' 0 1)"
    with_it -0 -n 2 /bin/echo here
    equal "$output$stderr" "$(printf "%s\n" here here)"
}
@test "openpmix that lacks a function is refused by its name" {
    local symbol
    for symbol in PMIx_Get_nb PMIx_server_IOF_deliver; do
        stand_in 5.0.7 $symbol
        with_it -1 -n 2 "$PROGRAMS/pmix-names"
        equal "$stderr" "tprun: $(hostname): openpmix 5.0.7 in $PWD/lib/libpmix.so.2 has no $symbol: install a \
complete openpmix, 4.2 to 7, or put one first in LD_LIBRARY_PATH"
    done
    stand_in 5.0.7 PMIx_Get_version
    with_it -1 -n 2 "$PROGRAMS/pmix-names"
    equal "$stderr" "tprun: $(hostname): $PWD/lib/libpmix.so.2 has no PMIx_Get_version: install openpmix \
4.2 to 7, or put one first in LD_LIBRARY_PATH"
}
@test "openpmix that does not start is refused in one line, and says why with -v" {
    export PMIX_MCA_ptl_base_if_include=nosuch
    run -1 --separate-stderr tprun -n 2 "$PROGRAMS/pmix-names"
    [[ $stderr == "tprun: $(hostname): cannot start openpmix's server: "*": check TMPDIR and variables PMIX_*; -v \
shows what openpmix says" ]]
    run -1 --separate-stderr tprun -v -n 2 "$PROGRAMS/pmix-names"
    # 4.2 to 6.0, and 6.1
    has_line "$stderr" "*listener thread failed to start*" || has_line "$stderr" "*available interface*"
    has_line "$stderr" "tprun: $(hostname): cannot start openpmix's server: *: check TMPDIR and variables PMIX_*"
}
@test "where openpmix could not listen it is not started" {
    command -v python3 >/dev/null || skip "no python3 here"
    run -1 --separate-stderr bash -c 'ulimit -n 5000; for ((i = 0; i < 1100; i++)); do exec {fd}</dev/null; done
        exec "$TPRUN" -n 1 "$PROGRAMS/pmix-names" publish key value'
    has_line "$stderr" "tprun: $(hostname): openpmix's server needs descriptors below 1024, and 1*: start tprun with fewer *"
    { [ "$(id -u)" = 0 ] && unshare -n ip link set lo up; } || skip "no network namespaces here"
    run -1 --separate-stderr unshare -n bash -c 'ip link set lo up; echo 40000 40003 >/proc/sys/net/ipv4/ip_local_port_range
        python3 -c "
import os, socket, sys
held = [socket.socket() for i in range(4)]
for s in held: s.bind((\"127.0.0.1\", 0))
sys.exit(os.waitstatus_to_exitcode(os.system(os.environ[\"TPRUN\"] + \" -n 1 \" + os.environ[\"PROGRAMS\"] + \"/pmix-names publish key value\")))"'
    has_line "$stderr" "tprun: $(hostname): no port for openpmix's server: Address already in use: *ip_local_port_range*"
}
