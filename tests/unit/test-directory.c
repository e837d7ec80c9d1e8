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

static void a_directory_is_made_or_used_where_it_is_there(void **state)
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

static void a_directory_that_others_may_enter_is_refused(void **state)
{
    (void)state;
    assert_int_equal(mkdir("open", 0700), 0);
    for (int mode = 1; mode < 0100; mode <<= 1) {
        assert_int_equal(chmod("open", (mode_t)(0700 | mode)), 0);
        refused("open", EPERM);
    }
    rmdir("open");
}

static void a_directory_of_another_user_is_refused(void **state)
{
    (void)state;
    if (geteuid())
        skip(); /* only root can give one away */
    assert_int_equal(mkdir("other", 0700), 0);
    assert_int_equal(chown("other", 65534, 65534), 0);
    refused("other", EPERM);
    rmdir("other");
}

static void a_link_or_a_file_is_refused_as_a_directory(void **state)
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
        cmocka_unit_test(a_directory_is_made_or_used_where_it_is_there),
        cmocka_unit_test(a_directory_that_others_may_enter_is_refused),
        cmocka_unit_test(a_directory_of_another_user_is_refused),
        cmocka_unit_test(a_link_or_a_file_is_refused_as_a_directory),
    };
    return cmocka_run_group_tests(tests, make_root, root_remove);
}
