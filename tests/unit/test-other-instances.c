#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launcher/agent/other_instances.h"
#include "tests/unit/unit.h"

/* A network of the test's own: what it says nobody else has to read. */
static bool alone(void)
{
    return geteuid() == 0 && unshare(CLONE_NEWNET) == 0;
}

static int say(const char *name, size_t len)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    memcpy(address.sun_path + 1, name, len);
    assert_int_equal(bind(fd, (struct sockaddr *)&address,
                          (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + len)),
                     0);
    return fd;
}

static void expect_found(const char *cpus, const char *want)
{
    struct neighbours *own = other_instances_new("/tmp", "family");
    struct idset *set = idset_decode(cpus, NULL);
    char *got = other_instances_find(own, set);
    if (*want ? strncmp(got, want, strlen(want)) != 0 : *got)
        fail_msg("\"%s\", not \"%s\"", got, want);
    free(got);
    idset_free(set);
    other_instances_free(own);
}

static void test_what_others_tell_is_found(void **state)
{
    (void)state;
    if (!alone())
        skip();
    struct neighbours *other = other_instances_new("/", "other");
    struct idset *many = idset_new();
    for (uint32_t i = 0; i < 400; i += 2)
        idset_add(many, 1000 + i); /* in more names than one */
    other_instances_tell(other, many);
    expect_found("0-999,1001", "");
    expect_found("1000", "processor 1000 is also bound by a run of yours");
    expect_found("0,1100-1104,1398-3000",
                 "processors 1100,1102,1104,1398 are also bound by a run of");
    struct idset *few = idset_decode("3", NULL);
    other_instances_tell(other, few);
    expect_found("1000-1400", "");
    expect_found("3", "processor 3 is also bound by a run of yours");
    other_instances_free(other);
    expect_found("3", "");
    struct neighbours *same = other_instances_new("/tmp", "x"),
                      *family = other_instances_new("/", "family");
    other_instances_tell(same, few);
    other_instances_tell(family, few);
    expect_found("3", ""); /* the register tells of these */
    other_instances_free(same);
    other_instances_free(family);
    idset_free(few);
    idset_free(many);
}

static void test_names_that_say_something_else_are_passed_over(void **state)
{
    static const char *const names[] = {
        "",
        "tprun",
        "tprun ",
        "tpruns 0 1:2 f 7 3",
        "tprun 0 1:2 f 7",
        "tprun 0 1:2 f 7 ",
        "tprun 0 1:2 f 7 3 4",
        "tprun 0 1:2 f 7 x",
        "tprun 0 1:2 f 7 3-",
        "tprun 0 1:2 f 7 3-1",
        "tprun x 1:2 f 7 3",
        "tprun -1 1:2 f 7 3",
        "tprun 12345 1:2 f 7 3", /* it is another user's who says so */
        "tprun 0 1:2 f 7 999999999999999999999999999",
    };
    (void)state;
    if (!alone())
        skip();
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        int fd = say(names[i], strlen(names[i]));
        expect_found("0-100", "");
        close(fd);
    }
    char longest[107];
    memset(longest, '7', sizeof(longest));
    memcpy(longest, "tprun 0 1:2 f 7 3,", 18);
    int fd = say(longest, sizeof(longest)), bytes = say("tprun 0 1:2 f 7 3\0\n", 19);
    expect_found("0-100", "processor 3 is also bound by a run of yours"); /* before the zero byte */
    close(bytes);
    expect_found("0-100", "");
    close(fd);
}

/* A host may have many of them, and each costs. */
static void test_sockets_that_listen_are_passed_over(void **state)
{
    (void)state;
    if (!alone())
        skip();
    int fd = say("tprun 0 1:2 f 7 3", 17);
    expect_found("0-100", "processor 3 is also bound by a run of yours");
    assert_int_equal(listen(fd, 1), 0);
    expect_found("0-100", "");
    close(fd);
}

static void test_other_users_are_named(void **state)
{
    int pipefd[2];
    char byte;
    (void)state;
    if (!alone())
        skip();
    assert_int_equal(pipe(pipefd), 0);
    pid_t pid = fork();
    if (pid == 0) {
        struct idset *cpus = idset_decode("0-3", NULL);
        if (setresuid(1, 1, 1) < 0)
            _exit(1);
        other_instances_tell(other_instances_new("/tmp", "family"), cpus);
        if (write(pipefd[1], "", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    assert_int_equal(read(pipefd[0], &byte, 1), 1);
    expect_found("2-9", "processors 2-3 are also bound by a run of daemon (1): users do not see");
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    expect_found("2-9", "");
    close(pipefd[0]);
    close(pipefd[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_others_tell_is_found),
        cmocka_unit_test(test_names_that_say_something_else_are_passed_over),
        cmocka_unit_test(test_sockets_that_listen_are_passed_over),
        cmocka_unit_test(test_other_users_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
