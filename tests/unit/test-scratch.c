/* The scratch directory: named when needed, removed by whoever is left. */
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "launcher/process/scratch.h"

static char above[] = "/tmp/test-scratch.XXXXXX";

static void put_file(const char *directory, const char *name)
{
    char *path = mem_format("%s/%s", directory, name);
    int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    close(fd);
    free(path);
}

static void fill(const char *directory)
{
    char *inner = mem_format("%s/inner", directory), *link = mem_format("%s/link", directory);
    assert_int_equal(mkdir(inner, 0700), 0);
    assert_int_equal(symlink(above, link), 0);
    put_file(directory, "file");
    put_file(inner, "file");
    free(inner);
    free(link);
}

static void it_has_one_name_and_is_removed_with_all_in_it(void **state)
{
    struct scratch *scratch = scratch_new();
    struct stat what;
    (void)state;
    put_file(above, "kept");
    char *path = mem_copy_text(scratch_name(scratch, NULL));
    assert_int_equal(stat(path, &what), -1);
    assert_string_equal(scratch_name(scratch, NULL), path);
    assert_int_equal(mkdir(path, 0700), 0);
    fill(path);
    char *memory = mem_copy_text(scratch_make_memory(scratch, NULL));
    assert_int_equal(strncmp(memory, "/dev/shm/", 9), 0);
    assert_int_equal(stat(memory, &what), 0);
    assert_int_equal(what.st_mode & 07777, 0700);
    assert_string_equal(scratch_make_memory(scratch, NULL), memory);
    put_file(memory, "segment");
    scratch_remove(scratch);
    assert_int_equal(stat(path, &what), -1);
    assert_int_equal(stat(memory, &what), -1);
    scratch_remove(scratch);
    free(memory);
    char *kept = mem_format("%s/kept", above); /* behind a link */
    assert_int_equal(unlink(kept), 0);
    free(kept);
    free(path);
}

static void who_forked_its_maker_removes_it(void **state)
{
    struct scratch *scratch = scratch_new();
    int status, ends[2];
    struct stat what;
    char path[256] = "";
    (void)state;
    assert_int_equal(pipe(ends), 0);
    pid_t maker = fork();
    if (maker == 0) {
        const char *made = scratch_name(scratch, NULL);
        if (mkdir(made, 0700) == 0)
            fill(made);
        (void)!write(ends[1], made, strlen(made) + 1);
        raise(SIGKILL);
    }
    assert_int_equal(waitpid(maker, &status, 0), maker);
    assert_true(read(ends[0], path, sizeof(path)) > 1);
    assert_int_equal(stat(path, &what), 0);
    scratch_remove(scratch);
    assert_int_equal(stat(path, &what), -1);
    close(ends[0]);
    close(ends[1]);
}

static void without_a_place_for_it_it_says_so(void **state)
{
    struct error err = ERROR_INIT;
    (void)state;
    setenv("TMPDIR", "/nonexistent", 1);
    assert_null(scratch_name(scratch_new(), &err));
    assert_string_equal(err.text, "cannot make a directory in /nonexistent: No such file or "
                                  "directory; TMPDIR may name another");
    error_clear(&err);
    assert_null(scratch_make_memory(NULL, NULL));
    assert_null(scratch_name(NULL, &err));
    error_clear(&err);
    scratch_remove(NULL);
    setenv("TMPDIR", above, 1);
}

static void one_that_nobody_made_is_removed_quietly(void **state)
{
    struct scratch *scratch = scratch_new();
    (void)state;
    char *path = mem_copy_text(scratch_name(scratch, NULL));
    scratch_remove(scratch);
    assert_string_not_equal(scratch_name(scratch, NULL), path);
    scratch_remove(scratch);
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_has_one_name_and_is_removed_with_all_in_it),
        cmocka_unit_test(who_forked_its_maker_removes_it),
        cmocka_unit_test(one_that_nobody_made_is_removed_quietly),
        cmocka_unit_test(without_a_place_for_it_it_says_so),
    };
    if (!mkdtemp(above))
        return 1;
    setenv("TMPDIR", above, 1);
    int rc = cmocka_run_group_tests(tests, NULL, NULL);
    return rmdir(above) < 0 ? 1 : rc;
}
