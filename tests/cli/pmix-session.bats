# shellcheck disable=SC2154 # bats sets output
# PMIx_Session_control(): what is done to all tasks of a program, which is one session.
load ../lib/common
setup_file() { build_programs; }
setup() {
    start_test
    need_pmix_programs
    [ "$(pmix_major)" -ge 6 ] || skip "openpmix before 6.0 has no PMIx_Session_control() that asks its server"
}
teardown() { nothing_left; }

@test "a signal for a session reaches all tasks of the program" {
    run -0 --separate-stderr tprun -n 3 "$PROGRAMS/pmix-session"
    equal "$(sort <<<"$output")" "$(printf '%s\n' 'pmix.ssn.complete of 0: NOT-SUPPORTED' \
        'pmix.ssn.sig of 0: ok' 'pmix.ssn.sig of 4711: NOT-FOUND' 'rank '{0,1,2}': signal 1')"
    equal "$stderr" ""
}
