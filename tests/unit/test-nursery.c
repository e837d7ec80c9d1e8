#include "launcher/process/nursery.h"
#include "config.h"
#include "tests/unit/unit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* What a forked process has open, as a text: "0 1 2 3". */
static void list_descriptors(char *text, size_t room)
{
    size_t len = 0;
    for (int fd = 0; fd < 256; fd++)
        if (fcntl(fd, F_GETFD) >= 0)
            len += (size_t)snprintf(text + len, room - len, "%s%d", len ? " " : "", fd);
}

/* Every second piece of the heap is free then. */
static void make_holes(void)
{
    static void *pieces[200];
    for (size_t i = 0; i < 200; i++)
        pieces[i] = malloc(300 + i);
    for (size_t i = 0; i < 200; i += 2)
        free(pieces[i]);
}

static int prepared; /* so often, */
static pid_t prepared_in;

static void prepare(void *arg)
{
    prepared += strcmp(arg, "argument") == 0;
    prepared_in = getpid();
    make_holes();
}

static char told[64]; /* what the nursery was told, one after the other */

static void hear(void *arg, int fd)
{
    size_t len = strlen(told);
    ssize_t got = strcmp(arg, "argument") == 0 ? read(fd, told + len, sizeof(told) - 1 - len) : 0;
    told[len + (size_t)(got > 0 ? got : 0)] = '\0';
    make_holes();
}

static int warmed;

static bool warm(void *arg)
{
    warmed += strcmp(arg, "argument") == 0;
    return warmed == 2;
}

static int *without; /* shared: so many were forked without a descriptor */

/* An order comes over the first descriptor, the answer goes there. */
static int obey(void *arg, const int *fds, size_t nfds)
{
    if (without)
        *without += !nfds;
    char order = 0, text[1024] = "";
    while (read(fds[0], &order, 1) == 1) {
        if (order == 'd')
            list_descriptors(text, sizeof(text));
        else if (order == 'a')
            snprintf(text, sizeof(text), "%s, %zu", (const char *)arg, nfds);
        else if (order == 'p')
            snprintf(text, sizeof(text), "%d", (int)getpid());
        else if (order == 'c') /* a child of its own can be waited for */
            snprintf(text, sizeof(text), "%d", waitpid(fork() ?: (_exit(7), 0), NULL, 0) > 0);
        else if (order == 'r')
            snprintf(text, sizeof(text), "%d times in %d", prepared, prepared_in == getppid());
        else if (order == 'w')
            snprintf(text, sizeof(text), "%d times", warmed);
        else if (order == 't')
            snprintf(text, sizeof(text), "told \"%s\"", told);
#ifdef UNIT_KNOWS_HEAP
        else if (order == 'h')
            snprintf(text, sizeof(text), "%s", unit_heap_pieces() < 4096 ? "whole" : "holes");
#endif
        else if (order == 's') /* to the second */
            return write(fds[1], "second", 6) != 6;
        else
            return 0;
        if (send(fds[0], text, strlen(text), MSG_NOSIGNAL) < 0)
            return 1;
    }
    return 0;
}

static int obey_later(void *arg, int request)
{
    char message[8];
    int fds[DESCRIPTOR_MESSAGE_FDS];
    size_t nfds;
    ssize_t got = descriptor_message_receive(request, message, sizeof(message), fds, &nfds);
    close(request);
    return got > 0 ? obey(arg, fds, nfds) : 0;
}

static const struct nursery_ops obey_ops = {
    .child = obey, .told = hear, .prepare = prepare, .warm = warm};
static const struct nursery_ops ahead_ops = {
    .child = obey, .prepare = prepare, .child_ahead = obey_later, .ahead_kept = 10000};
static const struct nursery_ops brief_ops = {
    .child = obey, .child_ahead = obey_later, .ahead_kept = 100};
static char argument[] = "argument", orphan[] = "orphan";

static struct nursery *open_with(const struct nursery_ops *ops)
{
    struct error err = ERROR_INIT;
    struct nursery *nursery = nursery_new(NULL, ops, argument, &err);
    assert_non_null(nursery);
    return nursery;
}

static struct nursery *open_nursery(void)
{
    return open_with(&obey_ops);
}

typedef int start_function(struct nursery *nursery, const int *fds, size_t nfds, struct error *err);

/* A process that it forks: the end here. */
static int born_by(struct nursery *nursery, start_function *start)
{
    struct error err = ERROR_INIT;
    int pair[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    assert_int_equal(start(nursery, &pair[1], 1, &err), 0);
    close(pair[1]);
    return pair[0];
}

static int born(struct nursery *nursery)
{
    return born_by(nursery, nursery_start);
}

static int born_ahead(struct nursery *nursery)
{
    return born_by(nursery, nursery_start_ahead);
}

static const char *ask(int fd, char order)
{
    static char text[1024];
    assert_int_equal(send(fd, &order, 1, MSG_NOSIGNAL), 1);
    ssize_t got = read(fd, text, sizeof(text) - 1);
    assert_true(got > 0);
    text[got] = '\0';
    return text;
}

static void await_end(int fd)
{
    char byte;
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    assert_int_equal(poll(&ready, 1, 10000), 1);
    assert_true(read(fd, &byte, 1) <= 0);
}

/* Processes whose parent is this one, ended or not; *child: one of them. */
static size_t find_children(pid_t parent, char state, pid_t *child)
{
    size_t count = 0;
    DIR *proc = opendir("/proc");
    assert_non_null(proc);
    for (struct dirent *entry; (entry = readdir(proc));) {
        char path[300], line[512] = "", what;
        int ppid;
        snprintf(path, sizeof(path), "/proc/%s/stat", entry->d_name);
        int fd = *entry->d_name >= '0' && *entry->d_name <= '9' ? open(path, O_RDONLY) : -1;
        if (fd < 0)
            continue;
        if (read(fd, line, sizeof(line) - 1) > 0 && strrchr(line, ')') &&
            sscanf(strrchr(line, ')') + 1, " %c %d", &what, &ppid) == 2 && ppid == parent &&
            (!state || what == state)) {
            *child = atoi(entry->d_name);
            count++;
        }
        close(fd);
    }
    closedir(proc);
    return count;
}

static size_t children_of(pid_t parent, char state)
{
    pid_t child;
    return find_children(parent, state, &child);
}

/* After a request, whose process has ended: the one that was forked ahead of the next request. */
static pid_t await_ahead(struct nursery *nursery)
{
    pid_t first, ahead = 0;
    int fd = born_ahead(nursery);
    first = atoi(ask(fd, 'p'));
    close(fd);
    for (int i = 0; i < 500; i++) {
        if (find_children(nursery_pid(nursery), 0, &ahead) == 1 && ahead != first)
            return ahead;
        usleep(10000);
    }
    fail_msg("none is forked ahead");
    return 0;
}

static void await_exit(pid_t pid)
{
    for (int i = 0; i < 500 && kill(pid, 0) == 0; i++)
        usleep(10000);
    assert_int_equal(kill(pid, 0), -1);
}

static void ask_for(struct nursery *nursery, int *fds, int many)
{
    for (int i = 0; i < many; i++) {
        errno = 0; /* what was there before says nothing */
        fds[i] = born(nursery);
    }
}

static void order_to_end(const int *fds, int many)
{
    for (int i = 0; i < many; i++)
        assert_int_equal(send(fds[i], "q", 1, MSG_NOSIGNAL), 1);
}

static void await_ends(const int *fds, int many)
{
    for (int i = 0; i < many; i++)
        await_end(fds[i]), close(fds[i]);
}

/* ---- so many are asked for while it is stopped that they do not go into its socket ---- */

enum { WAITING = 500 };
static struct {
    struct ev_loop *loop;
    struct nursery *nursery;
    int fds[WAITING];
} stopped;

static int open_stopped(void **state)
{
    (void)state;
    stopped.loop = ev_loop_new(EVFLAG_AUTO);
    stopped.nursery = open_nursery();
    nursery_attach(stopped.nursery, stopped.loop);
    kill(nursery_pid(stopped.nursery), SIGSTOP);
    ask_for(stopped.nursery, stopped.fds, WAITING);
    return 0;
}

static int close_stopped(void **state)
{
    (void)state;
    ev_loop_destroy(stopped.loop);
    return 0;
}

/* ---- ---- */

static void forks_with_what_was_sent_and_no_more(void **state)
{
    int other = open("/dev/null", O_RDONLY), far = fcntl(other, F_DUPFD, 100);
    struct nursery *nursery = open_nursery();
    (void)state;
    int late = open("/dev/null", O_RDONLY); /* opened after it was forked */
    int fd = born(nursery);
    assert_string_equal(ask(fd, 'a'), "argument, 1");
    assert_string_equal(ask(fd, 'd'), "0 1 2 3");
    close(fd);
    close(other);
    close(far);
    close(late);
    nursery_free(nursery);
}

static void all_that_it_forks_have_what_it_prepared_once(void **state)
{
    struct nursery *nursery = open_nursery();
    (void)state;
    for (int i = 0; i < 3; i++) {
        int fd = born(nursery);
        assert_string_equal(ask(fd, 'r'), "1 times in 1");
        close(fd);
    }
    nursery_free(nursery);
}

static size_t descriptors_of(pid_t pid)
{
    char path[64];
    size_t count = 0;
    snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
    DIR *list = opendir(path);
    assert_non_null(list);
    while (readdir(list))
        count++;
    closedir(list);
    return count;
}

static void tell(struct nursery *nursery, const char *text)
{
    struct error err = ERROR_INIT;
    int fd = memfd_create("told", MFD_CLOEXEC);
    assert_int_equal(pwrite(fd, text, strlen(text), 0), strlen(text));
    assert_int_equal(nursery_tell(nursery, fd, &err), 0);
    close(fd);
}

#ifdef UNIT_KNOWS_HEAP
/* The first one is not kept waiting for it. */
static void who_is_forked_later_has_a_heap_without_holes(void **state)
{
    struct nursery *nursery = open_nursery();
    (void)state;
    int first = born(nursery), second = born(nursery);
    assert_string_equal(ask(first, 'h'), "holes");
    assert_string_equal(ask(second, 'h'), "whole");
    tell(nursery, "one");
    int third = born(nursery), fourth = born(nursery);
    assert_string_equal(ask(third, 'h'), "holes");
    assert_string_equal(ask(fourth, 'h'), "whole");
    close(first);
    close(second);
    close(third);
    close(fourth);
    nursery_free(nursery);
}
#endif

static void who_is_forked_later_knows_what_it_was_told(void **state)
{
    struct nursery *nursery = open_nursery();
    (void)state;
    tell(nursery, "one");
    int first = born(nursery);
    assert_string_equal(ask(first, 't'), "told \"one\"");
    usleep(50000); /* it closes what it has handed on */
    size_t descriptors = descriptors_of(nursery_pid(nursery));
    tell(nursery, " two");
    int second = born(nursery);
    assert_string_equal(ask(second, 't'), "told \"one two\"");
    assert_string_equal(ask(first, 't'), "told \"one\"");
    for (int i = 0; i < 500 && descriptors_of(nursery_pid(nursery)) > descriptors; i++)
        usleep(10000);
    assert_true(descriptors_of(nursery_pid(nursery)) <= descriptors); /* the file is closed */
    close(first);
    close(second);
    nursery_free(nursery);
}

static void it_warms_after_each_fork_until_it_is_warm(void **state)
{
    static const char *const wanted[] = {"0 times", "1 times", "2 times", "2 times"};
    struct nursery *nursery = open_nursery();
    (void)state;
    for (int i = 0; i < 4; i++) {
        int fd = born(nursery);
        assert_string_equal(ask(fd, 'w'), wanted[i]);
        close(fd);
    }
    nursery_free(nursery);
}

static void sends_several_descriptors_in_their_order(void **state)
{
    struct error err = ERROR_INIT;
    struct nursery *nursery = open_nursery();
    int pair[2], second[2];
    char text[16] = "";
    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    assert_int_equal(pipe2(second, O_CLOEXEC), 0);
    const int fds[] = {pair[1], second[1]};
    assert_int_equal(nursery_start(nursery, fds, 2, &err), 0);
    close(pair[1]);
    close(second[1]);
    assert_string_equal(ask(pair[0], 'a'), "argument, 2");
    assert_string_equal(ask(pair[0], 'd'), "0 1 2 3 4");
    assert_int_equal(send(pair[0], "s", 1, MSG_NOSIGNAL), 1);
    await_end(pair[0]);
    assert_int_equal(read(second[0], text, sizeof(text)), 6);
    assert_int_equal(read(second[0], text, sizeof(text)), 0); /* nobody else has it open */
    close(second[0]);
    close(pair[0]);
    nursery_free(nursery);
}

static void what_it_forks_waits_for_its_own_children(void **state)
{
    struct nursery *nursery = open_nursery();
    (void)state;
    int fd = born(nursery);
    assert_string_equal(ask(fd, 'c'), "1");
    close(fd);
    nursery_free(nursery);
}

static void forks_many_at_once_and_keeps_no_zombies(void **state)
{
    enum { MANY = 100 };
    int fds[MANY], pids[MANY];
    struct nursery *nursery = open_nursery();
    (void)state;
    for (int i = 0; i < MANY; i++)
        fds[i] = born(nursery);
    for (int i = 0; i < MANY; i++)
        pids[i] = atoi(ask(fds[i], 'p'));
    for (int i = 1; i < MANY; i++)
        assert_int_not_equal(pids[i], pids[i - 1]);
    assert_int_equal(children_of(nursery_pid(nursery), 0), MANY);
    order_to_end(fds, MANY);
    await_ends(fds, MANY);
    for (int i = 0; i < 200 && children_of(nursery_pid(nursery), 0); i++)
        usleep(20000);
    assert_int_equal(children_of(nursery_pid(nursery), 0), 0);
    nursery_free(nursery);
    assert_int_equal(children_of(getpid(), 'Z'), 0);
}

static void what_was_forked_ahead_is_the_next(void **state)
{
    struct nursery *nursery = open_with(&ahead_ops);
    (void)state;
    pid_t ahead = await_ahead(nursery);
    int fds[] = {born(nursery), born_ahead(nursery), born_ahead(nursery)};
    assert_int_not_equal(atoi(ask(fds[0], 'p')), ahead); /* it did not ask for that one */
    assert_int_equal(atoi(ask(fds[1], 'p')), ahead);
    assert_string_equal(ask(fds[1], 'a'), "argument, 1");
    assert_string_equal(ask(fds[1], 'c'), "1");
    assert_int_not_equal(atoi(ask(fds[2], 'p')), ahead); /* it came at once */
    order_to_end(fds, 3);
    await_ends(fds, 3);
    ahead = await_ahead(nursery);
    nursery_free(nursery);
    await_exit(ahead);
}

static void one_ahead_that_is_killed_is_not_missed(void **state)
{
    struct nursery *nursery = open_with(&ahead_ops);
    (void)state;
    pid_t ahead = await_ahead(nursery);
    kill(ahead, SIGKILL);
    await_exit(ahead);
    int fd = born_ahead(nursery);
    assert_int_not_equal(atoi(ask(fd, 'p')), ahead);
    close(fd);
    nursery_free(nursery);
}

static void one_ahead_that_nobody_needs_ends(void **state)
{
    struct nursery *nursery = open_with(&brief_ops);
    (void)state;
    await_exit(await_ahead(nursery));
    usleep(50000); /* no other one comes without a request */
    assert_int_equal(children_of(nursery_pid(nursery), 0), 0);
    nursery_free(nursery);
}

static void more_than_its_socket_holds_waits_for_it_and_blocks_nobody(void **state)
{
    struct nursery *nursery = stopped.nursery;
    (void)state;
    for (int round = 0; round < 2; round++) { /* as well once nothing waited any more */
        ev_run(stopped.loop, EVRUN_NOWAIT);
        kill(nursery_pid(nursery), SIGCONT);
        ev_run(stopped.loop, 0); /* to the last of them: then nothing is watched */
        for (int i = 0; i < WAITING; i++)
            assert_true(atoi(ask(stopped.fds[i], 'p')) > 0);
        order_to_end(stopped.fds, WAITING);
        await_ends(stopped.fds, WAITING);
        kill(nursery_pid(nursery), SIGSTOP);
        if (round == 0)
            ask_for(nursery, stopped.fds, WAITING);
    }
    nursery_free(nursery);
}

static void what_waits_for_one_that_is_killed_is_dropped(void **state)
{
    (void)state;
    kill(nursery_pid(stopped.nursery), SIGKILL);
    ev_run(stopped.loop, 0);
    await_ends(stopped.fds, WAITING);
    nursery_free(stopped.nursery);
}

static void what_cannot_wait_is_refused(void **state)
{
    struct error err = ERROR_INIT;
    struct rlimit limit, less;
    int pair[2];
    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    getrlimit(RLIMIT_NOFILE, &limit);
    less = (struct rlimit){.rlim_cur = (rlim_t)pair[1] + 1, .rlim_max = limit.rlim_max};
    setrlimit(RLIMIT_NOFILE, &less); /* each that waits has descriptors of its own */
    assert_int_equal(nursery_start(stopped.nursery, &pair[1], 1, &err), -1);
    setrlimit(RLIMIT_NOFILE, &limit);
    assert_string_equal(error_text(&err), "cannot ask for a process: Too many open files");
    error_clear(&err);
    close(pair[0]);
    close(pair[1]);
    nursery_free(stopped.nursery);
    await_ends(stopped.fds, WAITING);
}

static void what_waits_is_dropped_with_it(void **state)
{
    (void)state;
    nursery_free(stopped.nursery);
    await_ends(stopped.fds, WAITING);
    usleep(20000);
    ev_run(stopped.loop, 0); /* nothing of it is watched any more */
}

/* With so many files at most. */
static void limit_files(struct nursery *nursery, rlim_t files)
{
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = files;
    assert_int_equal(prlimit(nursery_pid(nursery), RLIMIT_NOFILE, &limit, NULL), 0);
}

/* Nobody takes another descriptor for one of these; whoever waits sees theirs close. */
static void without_numbers_for_the_descriptors_nothing_runs(void **state)
{
    enum { OWN = 4 }; /* 0 to 2, and its socket */
    struct rlimit limit;
    (void)state;
    getrlimit(RLIMIT_NOFILE, &limit);
    without =
        mmap(NULL, sizeof(*without), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(without, MAP_FAILED);
    for (rlim_t more = 0; more <= 1; more++) { /* none comes; one comes, and cannot be moved */
        struct nursery *nursery = open_nursery();
        int fd = born(nursery);
        assert_string_equal(ask(fd, 'a'), "argument, 1"); /* it has begun */
        close(fd);
        limit_files(nursery, OWN + more);
        fd = born(nursery);
        await_end(fd);
        close(fd);
        for (int i = 0; i < 200 && children_of(nursery_pid(nursery), 0); i++)
            usleep(20000);
        assert_int_equal(children_of(nursery_pid(nursery), 0), 0);
        limit_files(nursery, limit.rlim_cur);
        fd = born(nursery);
        assert_string_equal(ask(fd, 'a'), "argument, 1");
        close(fd);
        nursery_free(nursery);
    }
    assert_int_equal(*without, 0);
    munmap(without, sizeof(*without));
    without = NULL;
}

static void ends_after_its_maker_once_what_it_forked_has_ended(void **state)
{
    struct error err = ERROR_INIT;
    int pair[2], pids[2];
    pid_t nursery = 0;
    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    assert_int_equal(pipe2(pids, O_CLOEXEC), 0);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    pid_t maker = fork();
    if (maker == 0) {
        struct nursery *made = nursery_new(NULL, &obey_ops, orphan, &err);
        pid_t pid = made ? nursery_pid(made) : 0;
        if (!made || nursery_start(made, &pair[1], 1, &err) < 0 ||
            write(pids[1], &pid, sizeof(pid)) != sizeof(pid))
            _exit(1);
        for (;;)
            pause();
    }
    close(pair[1]);
    assert_int_equal(read(pids[0], &nursery, sizeof(nursery)), sizeof(nursery));
    assert_string_equal(ask(pair[0], 'a'), "orphan, 1");
    kill(maker, SIGKILL);
    assert_int_equal(waitpid(maker, NULL, 0), maker);
    int status = -1;
    assert_string_equal(ask(pair[0], 'a'), "orphan, 1");
    usleep(50000);
    assert_int_equal(waitpid(nursery, &status, WNOHANG), 0);
    close(pair[0]);
    assert_int_equal(waitpid(nursery, &status, 0), nursery); /* by itself */
    assert_int_equal(status, 0);
    assert_int_equal(waitpid(-1, NULL, 0), -1);
    close(pids[0]);
    close(pids[1]);
}

static void says_so_when_it_was_killed(void **state)
{
    struct error err = ERROR_INIT;
    struct nursery *nursery = open_nursery();
    int pair[2];
    (void)state;
    kill(nursery_pid(nursery), SIGKILL);
    siginfo_t info;
    assert_int_equal(waitid(P_PID, (id_t)nursery_pid(nursery), &info, WEXITED | WNOWAIT), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    assert_int_equal(nursery_start(nursery, &pair[1], 1, &err), -1);
    assert_non_null(strstr(error_text(&err), "the process that forks it is gone"));
    error_clear(&err);
    close(pair[0]);
    close(pair[1]);
    nursery_free(nursery);
    nursery_free(NULL);
}

#define WHILE_STOPPED(test) cmocka_unit_test_setup_teardown(test, open_stopped, close_stopped)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forks_with_what_was_sent_and_no_more),
        cmocka_unit_test(all_that_it_forks_have_what_it_prepared_once),
        cmocka_unit_test(who_is_forked_later_knows_what_it_was_told),
#ifdef UNIT_KNOWS_HEAP
        cmocka_unit_test(who_is_forked_later_has_a_heap_without_holes),
#endif
        cmocka_unit_test(it_warms_after_each_fork_until_it_is_warm),
        cmocka_unit_test(sends_several_descriptors_in_their_order),
        cmocka_unit_test(what_it_forks_waits_for_its_own_children),
        cmocka_unit_test(what_was_forked_ahead_is_the_next),
        cmocka_unit_test(one_ahead_that_is_killed_is_not_missed),
        cmocka_unit_test(one_ahead_that_nobody_needs_ends),
        cmocka_unit_test(forks_many_at_once_and_keeps_no_zombies),
        WHILE_STOPPED(more_than_its_socket_holds_waits_for_it_and_blocks_nobody),
        WHILE_STOPPED(what_waits_for_one_that_is_killed_is_dropped),
        WHILE_STOPPED(what_cannot_wait_is_refused),
        WHILE_STOPPED(what_waits_is_dropped_with_it),
        cmocka_unit_test(without_numbers_for_the_descriptors_nothing_runs),
        cmocka_unit_test(ends_after_its_maker_once_what_it_forked_has_ended),
        cmocka_unit_test(says_so_when_it_was_killed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
