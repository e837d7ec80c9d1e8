#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "launcher/cli/kept_agents.h"
#include "launcher/spec/spec.h"
#include "tests/unit/scratch-root.h"
#include "tests/unit/unit.h"

static struct spec *spec;

static int make_root(void **state)
{
    (void)state;
    if (root_make((const char *const[]){NULL}) < 0 || chmod(root, 0700) < 0)
        return -1;
    setenv("TPRUN_RUNTIME_DIR", root, 1);
    spec = spec_new();
    spec->hosts = mem_copy_text("a,b");
    spec->keep_agents = 60;
    return 0;
}

static int clear_root(void **state)
{
    spec_free(spec);
    return root_remove(state);
}

static int listen_at(struct kept_agents_socket *kept)
{
    struct error err = ERROR_INIT;
    int fd = kept_agents_listen(spec, kept, &err);
    if (fd < 0)
        fail_msg("%s", error_text(&err));
    return fd;
}

static bool is_there(const struct kept_agents_socket *kept)
{
    struct stat there;
    char *path = mem_format("%s/%s", kept->directory, kept->name);
    bool is = stat(path, &there) == 0 && there.st_ino == kept->file.st_ino;
    free(path);
    return is;
}

static void test_one_at_a_time_listens(void **state)
{
    struct kept_agents_socket first, second;
    (void)state;
    int fd = listen_at(&first);
    assert_true(fd > 0);
    assert_int_equal(listen_at(&second), 0);
    kept_agents_socket_clear(&second);
    close(fd);
    fd = listen_at(&second); /* nobody listened any more */
    assert_true(fd > 0);
    assert_true(is_there(&second));
    kept_agents_withdraw(&second);
    assert_false(is_there(&second));
    close(fd);
    kept_agents_socket_clear(&first);
    kept_agents_socket_clear(&second);
}

static void test_one_that_ends_leaves_the_file_of_the_next(void **state)
{
    struct kept_agents_socket first, second;
    (void)state;
    int older = listen_at(&first);
    kept_agents_withdraw(&first);
    int newer = listen_at(&second);
    assert_true(newer > 0);
    kept_agents_withdraw(&first);
    assert_true(is_there(&second));
    kept_agents_withdraw(&second);
    assert_false(is_there(&second));
    close(older);
    close(newer);
    kept_agents_socket_clear(&first);
    kept_agents_socket_clear(&second);
}

/* It ends while a run waits for its answer, and another listens there by then. */
static int end_and_replace(int listener, struct kept_agents_socket *kept)
{
    struct pollfd ready = {.fd = listener, .events = POLLIN};
    assert_int_equal(poll(&ready, 1, 20000), 1);
    int run = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    kept_agents_withdraw(kept);
    kept_agents_socket_clear(kept);
    int newer = listen_at(kept);
    close(run);
    return newer;
}

static void test_a_run_that_is_sent_away_leaves_the_file_of_the_next(void **state)
{
    struct kept_agents_socket kept;
    struct error err = ERROR_INIT;
    int status;
    (void)state;
    int listener = listen_at(&kept);
    pid_t run = fork();
    if (run == 0)
        _exit(kept_agents_connect(spec, &err) != 0);
    assert_true(run > 0);
    int newer = end_and_replace(listener, &kept);
    assert_true(newer > 0);
    assert_int_equal(waitpid(run, &status, 0), run);
    assert_int_equal(status, 0);
    assert_true(is_there(&kept));
    kept_agents_withdraw(&kept);
    close(listener);
    close(newer);
    kept_agents_socket_clear(&kept);
}

static unsigned link_pause; /* us before a name is given */

/* In place of the C library's. */
int linkat(int from, const char *name, int to, const char *other, int flags)
{
    usleep(link_pause);
    return (int)syscall(SYS_linkat, from, name, to, other, flags);
}

/* Listens for other hosts: 0 where its name is its own socket's. */
static int listen_for(const char *hosts)
{
    struct kept_agents_socket kept;
    free(spec->hosts);
    spec->hosts = mem_copy_text(hosts);
    int fd = kept_agents_listen(spec, &kept, NULL);
    return fd > 0 && is_there(&kept) ? 0 : 1;
}

/* In containers that share the directory, processes have the same numbers. */
static void test_each_of_one_pid_has_its_own_socket(void **state)
{
    pid_t pids[2];
    (void)state;
    int own = open("/proc/self/ns/pid", O_RDONLY | O_CLOEXEC);
    if (unshare(CLONE_NEWPID) < 0) {
        print_message("only root makes namespaces of pids\n");
        close(own);
        skip();
    }
    link_pause = 300000;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(setns(own, CLONE_NEWPID), 0);
        assert_int_equal(unshare(CLONE_NEWPID), 0);
        pids[i] = fork();
        if (pids[i] == 0)
            _exit(getpid() == 1 ? listen_for(i ? "c" : "d") : 2);
    }
    assert_int_equal(setns(own, CLONE_NEWPID), 0);
    close(own);
    for (int i = 0, status; i < 2; i++) {
        assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
        assert_int_equal(status, 0);
    }
    link_pause = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_at_a_time_listens),
        cmocka_unit_test(test_one_that_ends_leaves_the_file_of_the_next),
        cmocka_unit_test(test_a_run_that_is_sent_away_leaves_the_file_of_the_next),
        cmocka_unit_test(test_each_of_one_pid_has_its_own_socket),
    };
    return cmocka_run_group_tests(tests, make_root, clear_root);
}
