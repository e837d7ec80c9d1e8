/* Tasks for the tests of libpmi: forked, with the environment a launcher would give them. */
#ifndef TESTS_UNIT_LIBPMI_TASK_H
#define TESTS_UNIT_LIBPMI_TASK_H

#include "tests/unit/unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pmi-server/client/pmi.h"

/* In a task: a failed check ends it, with its line on stderr. */
#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                        \
            _exit(99);                                                                             \
        }                                                                                          \
    } while (0)

/* len letters and a NUL. */
static inline void fill(char *text, char letter, size_t len)
{
    memset(text, letter, len);
    text[len] = '\0';
}

static inline void set_number(const char *name, int number)
{
    char text[16];
    snprintf(text, sizeof(text), "%d", number);
    setenv(name, text, 1);
}

static inline void clear_environment(void)
{
    static const char *const names[] = {"PMI_FD",      "PMI_RANK", "PMI_SIZE",
                                        "PMI_SPAWNED", "PMI_PORT", "PMI_JOBID"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        unsetenv(names[i]);
}

static inline pid_t task_fork(int (*run)(void), int fd, int rank, int size)
{
    fflush(NULL);
    pid_t pid = fork();
    assert_int_not_equal(pid, -1);
    if (pid)
        return pid;
    alarm(30);
    for (int other = 3; other < 64; other++) /* the server's ends, which would hide its end */
        if (other != fd)
            close(other);
    clear_environment();
    set_number("PMI_FD", fd);
    set_number("PMI_RANK", rank);
    set_number("PMI_SIZE", size);
    int rc = run();
    fflush(NULL);
    _exit(rc);
}

static inline int status_of(pid_t pid)
{
    int status;
    while (waitpid(pid, &status, 0) < 0)
        assert_int_equal(errno, EINTR);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

#endif
