/*
 * heard NAME [exit N] - counts the signals that it hears, and three processes that it forks do: one in
 * its process group, one in a group of its own, one in a session of its own.
 * Each writes "NAME.task", "NAME.same", "NAME.group", "NAME.session" with a line for each signal, its
 * number. SIGCONT is not counted. Says "ready" when all are there. Nobody goes away by a signal but by
 * KILL; with "exit" the task itself ends with that status 0.3 s after the first.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int file;
static volatile sig_atomic_t heard;

static void hear(int number)
{
    char line[] = {(char)('0' + number / 10), (char)('0' + number % 10), '\n'};
    (void)!write(file, line, sizeof(line));
    heard = 1;
}

static void listen_to(const char *name, const char *who)
{
    static const int numbers[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
    char path[256];
    snprintf(path, sizeof(path), "%s.%s", name, who);
    file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0644);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        sigaction(numbers[i], &(struct sigaction){.sa_handler = hear, .sa_flags = SA_RESTART},
                  NULL);
}

static void nap(long ms)
{
    struct timespec rest = {ms / 1000, ms % 1000 * 1000000};
    while (nanosleep(&rest, &rest) < 0)
        ;
}

static void stay(void)
{
    nap(120000); /* so that a test that fails does not leave it for ever */
    _exit(0);
}

static void fork_one(const char *name, const char *who, int (*leave)(void))
{
    int done[2];
    char byte;
    if (pipe(done) == 0 && fork() == 0) {
        leave();
        listen_to(name, who);
        close(done[0]);
        close(done[1]);
        stay();
    }
    close(done[1]);
    (void)!read(done[0], &byte, 1);
    close(done[0]);
}

static int leave_nothing(void)
{
    return 0;
}
static int leave_group(void)
{
    return setpgid(0, 0);
}
static int leave_session(void)
{
    return (int)setsid();
}

int main(int argc, char *argv[])
{
    if (argc < 2)
        return 2;
    fork_one(argv[1], "same", leave_nothing);
    fork_one(argv[1], "group", leave_group);
    fork_one(argv[1], "session", leave_session);
    listen_to(argv[1], "task");
    puts("ready");
    fflush(stdout);
    if (argc < 4)
        stay();
    while (!heard)
        nap(10);
    nap(300);
    return atoi(argv[3]);
}
