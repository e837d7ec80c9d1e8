/* Raw mode, and back. */
#include "launcher/stdio/raw_terminal.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

#include "base/mem.h"

/* What ends this process unless it is caught, and is not read as signals are that are passed on. */
static const int fatal[] = {SIGSEGV, SIGBUS,  SIGILL,  SIGFPE,    SIGABRT, SIGSYS,
                            SIGTRAP, SIGXCPU, SIGALRM, SIGVTALRM, SIGPROF};
enum { NFATAL = sizeof(fatal) / sizeof(fatal[0]) };

static struct termios before;
static int raw_fd = -1;             /* whose modes `before` are; -1: none yet */
static volatile sig_atomic_t is_on; /* it is in raw mode */

/* No terminal of this process's own has no foreground. */
static bool is_foreground(int fd)
{
    pid_t group = tcgetpgrp(fd);
    return group < 0 || group == getpgrp();
}

/* Safe in a signal handler. A shell that takes the terminal in this moment must not stop us. */
static bool set_modes(int fd, const struct termios *modes)
{
    sigset_t stop, old;
    sigemptyset(&stop);
    sigaddset(&stop, SIGTTOU);
    pthread_sigmask(SIG_BLOCK, &stop, &old);
    bool set = is_foreground(fd) && tcsetattr(fd, TCSANOW, modes) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return set;
}

void raw_terminal_leave(void)
{
    if (is_on)
        set_modes(raw_fd, &before);
    is_on = 0;
}

static void on_fatal(int number)
{
    raw_terminal_leave();
    signal(number, SIG_DFL);
    raise(number);
}

static void guard_terminal(void)
{
    atexit(raw_terminal_leave);
    mem_on_failure(raw_terminal_leave);
    for (size_t i = 0; i < NFATAL; i++) {
        struct sigaction now;
        if (sigaction(fatal[i], NULL, &now) == 0 && now.sa_handler == SIG_DFL)
            sigaction(fatal[i], &(struct sigaction){.sa_handler = on_fatal}, NULL);
    }
}

bool raw_terminal_enter(int fd)
{
    struct termios modes;
    if (raw_fd < 0) {
        if (!is_foreground(fd) || tcgetattr(fd, &before) < 0)
            return false;
        raw_fd = fd;
        guard_terminal();
    }
    modes = before;
    cfmakeraw(&modes);
    is_on = 1; /* first: a signal may come between */
    if (!set_modes(fd, &modes))
        is_on = 0;
    return is_on;
}
