/* What logind.conf says of the processes that a login session leaves, and where a process is. */
#include "launcher/process/login_session.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/directory.h"
#include "tests/unit/unit.h"

static char root[] = "/tmp/test-login-session-XXXXXX";

static int enter(void **state)
{
    (void)state;
    snprintf(root, sizeof(root), "/tmp/test-login-session-XXXXXX");
    return mkdtemp(root) ? 0 : -1;
}

static int leave(void **state)
{
    (void)state;
    return directory_remove(AT_FDCWD, root);
}

static void put_file(const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof(path), "%s%s", root, name);
    for (char *slash = strchr(path + sizeof(root), '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void test_a_session_kills_only_where_it_is_said_and_for_whom(void **state)
{
    (void)state;
    assert_false(login_session_kills(root, "ann"));
    put_file("/etc/systemd/logind.conf", "[Login]\n#KillUserProcesses=yes\n");
    assert_false(login_session_kills(root, "ann"));
    put_file("/etc/systemd/logind.conf",
             "[Login]\nKillUserProcesses = no\n KillUserProcesses=yes \n");
    assert_true(login_session_kills(root, "ann"));
    assert_false(login_session_kills(root, "root"));
    put_file("/etc/systemd/logind.conf",
             "[Login]\nKillUserProcesses=yes\nKillExcludeUsers=bob ann\n");
    assert_false(login_session_kills(root, "ann"));
    assert_true(login_session_kills(root, "an"));
    assert_true(login_session_kills(root, "root"));
    put_file("/etc/systemd/logind.conf", "[Login]\nKillUserProcesses=yes\nKillOnlyUsers=bob\n");
    assert_false(login_session_kills(root, "ann"));
    assert_true(login_session_kills(root, "bob"));
}

static void test_a_drop_in_file_counts_more_the_last_by_its_name(void **state)
{
    (void)state;
    put_file("/usr/lib/systemd/logind.conf", "[Login]\nKillUserProcesses=yes\n");
    assert_true(login_session_kills(root, "ann"));
    assert_true(login_session_kills(root, NULL));
    put_file("/etc/systemd/logind.conf.d/10-keep.conf", "[Login]\nKillUserProcesses=0\n");
    assert_false(login_session_kills(root, "ann"));
    assert_false(login_session_kills(root, NULL));
    put_file("/usr/lib/systemd/logind.conf.d/20-kill.conf", "[Login]\nKillUserProcesses=1\n");
    assert_true(login_session_kills(root, "ann"));
    put_file("/run/systemd/logind.conf.d/20-kill.conf", "[Login]\nKillExcludeUsers=ann\n");
    assert_false(login_session_kills(root, "bob"));
    put_file("/etc/systemd/logind.conf.d/20-kill.conf", "");
    assert_false(login_session_kills(root, "bob"));
}

static void test_of_the_main_files_one_is_read(void **state)
{
    (void)state;
    put_file("/usr/lib/systemd/logind.conf", "[Login]\nKillUserProcesses=yes\n");
    put_file("/run/systemd/logind.conf", "[Login]\nKillExcludeUsers=ann\n");
    assert_false(login_session_kills(root, "bob"));
    put_file("/etc/systemd/logind.conf", "[Login]\nKillUserProcesses=yes\nKillExcludeUsers=\n");
    assert_true(login_session_kills(root, "ann"));
    assert_true(login_session_kills(root, "root"));
}

static void test_a_user_lingers_by_a_file(void **state)
{
    (void)state;
    assert_false(login_session_lingers(root, "ann"));
    put_file("/var/lib/systemd/linger/ann", "");
    assert_true(login_session_lingers(root, "ann"));
    assert_false(login_session_lingers(root, "an"));
}

static void test_the_place_is_read_from_the_cgroup(void **state)
{
    static const struct {
        const char *text;
        enum login_session_place place;
        uid_t owner;
    } rows[] = {
        {"", LOGIN_SESSION_NONE, 0},
        {"0::/\n", LOGIN_SESSION_NONE, 0},
        {"0::/system.slice/slurmstepd.scope/job_7/step_0/user/task_0\n", LOGIN_SESSION_NONE, 0},
        {"0::/user.slice/user-1000.slice/session-3.scope\n", LOGIN_SESSION_SCOPE, 1000},
        {"0::/user.slice/user-0.slice/session-c1.scope/tprun.1\n", LOGIN_SESSION_SCOPE, 0},
        {"4:memory:/\n1:name=systemd:/user.slice/user-1000.slice/session-3.scope\n0::/\n",
         LOGIN_SESSION_SCOPE, 1000},
        {"0::/user.slice/user-1000.slice/user@1000.service/app.slice/tprun-1-2.scope\n",
         LOGIN_SESSION_SYSTEMD, 1000},
        {"1:name=systemd:/user.slice/user-12.slice/user@12.service\n", LOGIN_SESSION_SYSTEMD, 12},
        {"0::/user.slice/user-1000.slice\n", LOGIN_SESSION_NONE, 0},
        {"0::/user.slice/user-1000.slice/session-3\n", LOGIN_SESSION_NONE, 0},
        {"0::/user.slice/user-.slice/session-3.scope\n", LOGIN_SESSION_NONE, 0},
        {"0::/user.slice/user-1000.slice/background.scope\n", LOGIN_SESSION_NONE, 0},
        {"0::/docker/user-7/user-1000.slice/session-3.scope\n", LOGIN_SESSION_SCOPE, 1000},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        uid_t owner = 0;
        enum login_session_place place = login_session_place(rows[i].text, &owner);
        if (place != rows[i].place || (place && owner != rows[i].owner))
            fail_msg("%s: expected %d of %u, got %d of %u", rows[i].text, rows[i].place,
                     (unsigned)rows[i].owner, place, (unsigned)owner);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_session_kills_only_where_it_is_said_and_for_whom,
                                        enter, leave),
        cmocka_unit_test_setup_teardown(test_a_drop_in_file_counts_more_the_last_by_its_name, enter,
                                        leave),
        cmocka_unit_test_setup_teardown(test_of_the_main_files_one_is_read, enter, leave),
        cmocka_unit_test_setup_teardown(test_a_user_lingers_by_a_file, enter, leave),
        cmocka_unit_test(test_the_place_is_read_from_the_cgroup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
