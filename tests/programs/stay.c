/*
 * stay [WORD...] - does not go away by itself (after 10 minutes it does).
 *   ignore   takes no notice of TERM, INT and HUP
 *   escape   leaves a copy behind in a session of its own, with no parent and no open descriptors
 *   fork     has a child in its own process group
 *   flee     leaves a daemon behind, deaf to TERM, that is another process every moment: it forks,
 *            the parent leaves, the child goes on; each puts its pid into the file "fleeing"
 *   become   is the user whose file it is, if it is setuid: who starts it may not signal it then
 * Says "ready" when all that is done.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define FLIGHT 20 /* s, so that a test that fails does not leave it running for ever */

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

static void run_on(int file)
{
    time_t end = time(NULL) + FLIGHT;
    while (time(NULL) < end) {
        char text[16];
        snprintf(text, sizeof(text), "%11d\n", (int)getpid());
        (void)!pwrite(file, text, 12, 0);
        if (fork())
            _exit(0);
    }
    _exit(0);
}

static void flee(void)
{
    int file = open("fleeing", O_RDWR | O_CREAT, 0600);
    if (fork())
        return;
    setsid();
    ignore();
    for (int fd = 0; fd < 1024; fd++)
        if (fd != file)
            close(fd);
    if (fork())
        _exit(0);
    run_on(file);
}

static void become(void)
{
    uid_t user = geteuid();
    if (setresuid(user, user, user) < 0)
        _exit(1);
}

int main(int argc, char *argv[])
{
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "ignore"))
            ignore();
        else if (!strcmp(argv[i], "escape"))
            escape();
        else if (!strcmp(argv[i], "flee"))
            flee();
        else if (!strcmp(argv[i], "become"))
            become();
        else if (!strcmp(argv[i], "fork") && fork() == 0)
            stay();
    }
    puts("ready");
    fflush(stdout);
    stay();
}
