/*
 * stay [WORD...] - does not go away by itself (after 10 minutes it does).
 *   ignore   takes no notice of TERM, INT and HUP
 *   escape   leaves a copy behind in a session of its own, with no parent and no open descriptors
 *   fork     has a child in its own process group
 * Says "ready" when all that is done.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void stay(void)
{
    for (unsigned left = 600; left;)
        left = sleep(left);
    _exit(0);
}

static void ignore(void)
{
    signal(SIGTERM, SIG_IGN);
    signal(SIGINT, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
}

static void escape(void)
{
    int done[2];
    char byte;
    if (pipe(done) || fork()) {
        close(done[1]);
        (void)!read(done[0], &byte, 1);
        close(done[0]);
        return;
    }
    setsid();
    if (fork())
        _exit(0);
    for (int fd = 0; fd < 1024; fd++)
        if (fd != done[1])
            close(fd);
    close(done[1]);
    stay();
}

int main(int argc, char *argv[])
{
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "ignore"))
            ignore();
        else if (!strcmp(argv[i], "escape"))
            escape();
        else if (!strcmp(argv[i], "fork") && fork() == 0)
            stay();
    }
    puts("ready");
    fflush(stdout);
    stay();
}
