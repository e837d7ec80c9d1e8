/* What logind.conf says of the processes that a login session leaves. */
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

static void test_a_drop_in_file_counts_more_and_a_user_who_lingers_is_spared(void **state)
{
    (void)state;
    put_file("/usr/lib/systemd/logind.conf", "[Login]\nKillUserProcesses=yes\n");
    assert_true(login_session_kills(root, "ann"));
    put_file("/var/lib/systemd/linger/ann", "");
    assert_false(login_session_kills(root, "ann"));
    assert_true(login_session_kills(root, "bob"));
    put_file("/etc/systemd/logind.conf.d/10-keep.conf", "[Login]\nKillUserProcesses=0\n");
    assert_false(login_session_kills(root, "bob"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_session_kills_only_where_it_is_said_and_for_whom,
                                        enter, leave),
        cmocka_unit_test_setup_teardown(
            test_a_drop_in_file_counts_more_and_a_user_who_lingers_is_spared, enter, leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
