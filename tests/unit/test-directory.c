/* directory: closed to other users, or refused. */
#include "tests/unit/unit.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/directory.h"
#include "tests/unit/scratch-root.h"

static int make_root(void **state)
{
    (void)state;
    return root_make((const char *const[]){NULL});
}

static void one_is_made_and_one_that_is_there_is_used(void **state)
{
    struct stat made;
    (void)state;
    assert_int_equal(directory_make_private("new"), 0);
    assert_int_equal(stat("new", &made), 0);
    assert_int_equal(made.st_mode & 07777, 0700);
    assert_int_equal(directory_make_private("new"), 0);
    rmdir("new");
}

static void refused(const char *path, int number)
{
    errno = 0;
    assert_int_equal(directory_make_private(path), -1);
    assert_int_equal(errno, number);
}

static void what_others_may_enter_is_refused(void **state)
{
    (void)state;
    assert_int_equal(mkdir("open", 0700), 0);
    for (int mode = 1; mode < 0100; mode <<= 1) {
        assert_int_equal(chmod("open", (mode_t)(0700 | mode)), 0);
        refused("open", EPERM);
    }
    rmdir("open");
}

static void what_is_another_users_is_refused(void **state)
{
    (void)state;
    if (geteuid())
        skip(); /* only root can give one away */
    assert_int_equal(mkdir("other", 0700), 0);
    assert_int_equal(chown("other", 65534, 65534), 0);
    refused("other", EPERM);
    rmdir("other");
}

static void what_is_no_directory_is_refused(void **state)
{
    (void)state;
    assert_int_equal(mkdir("far", 0700), 0);
    assert_int_equal(symlink("far", "link"), 0);
    assert_int_equal(symlink("nowhere", "dangling"), 0);
    assert_int_equal(mknod("file", S_IFREG | 0600, 0), 0);
    refused("link", EPERM);
    refused("dangling", EPERM);
    refused("file", ENOTDIR);
    refused("none/below", ENOENT);
    unlink("link");
    unlink("dangling");
    unlink("file");
    rmdir("far");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_is_made_and_one_that_is_there_is_used),
        cmocka_unit_test(what_others_may_enter_is_refused),
        cmocka_unit_test(what_is_another_users_is_refused),
        cmocka_unit_test(what_is_no_directory_is_refused),
    };
    return cmocka_run_group_tests(tests, make_root, root_remove);
}
