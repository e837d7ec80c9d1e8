/*
 * whole-time COMMAND [ARG...] - runs the command, adopts what it leaves in the background, and waits for that, too.
 * Prints to stderr: ms until the command ended, ms until all had, and ms of processor time of all of it.
 */
#include <errno.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

static double milliseconds(struct timeval time)
{
    return (double)time.tv_sec * 1e3 + (double)time.tv_usec / 1e3;
}

int main(int argc, char *argv[])
{
    int status = 0, one;
    double start = now(), ended = 0;
    struct rusage used;
    if (argc < 2 || prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
        return 2;
    pid_t command = fork(), pid;
    if (command == 0) {
        execvp(argv[1], argv + 1);
        perror(argv[1]);
        _exit(127);
    }
    while ((pid = wait(&one)) > 0 || (pid < 0 && errno == EINTR))
        if (pid == command) {
            ended = now();
            status = one;
        }
    getrusage(RUSAGE_CHILDREN, &used);
    fprintf(stderr, "%.2f %.2f %.2f\n", ended - start, now() - start,
            milliseconds(used.ru_utime) + milliseconds(used.ru_stime));
    return status != 0;
}
