/*
 * spawn-loop N PROGRAM [ARG...] - the limit that a local launch is measured against: N times
 * posix_spawn, then wait for all. Fails if one of them does.
 */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

extern char **environ;

int main(int argc, char *argv[])
{
    if (argc < 3)
        return 2;
    int status, bad = 0, n = atoi(argv[1]);
    for (int i = 0; i < n; i++) {
        pid_t pid;
        if (posix_spawnp(&pid, argv[2], NULL, NULL, argv + 2, environ) != 0)
            return perror(argv[2]), 1;
    }
    for (int i = 0; i < n; i++)
        bad |= wait(&status) < 0 || status != 0;
    return bad;
}
