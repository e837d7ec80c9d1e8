/* singleton HOW: as an MPI process that was started without a launcher and now wants one, so far as
 * the wire goes. Runs mpiexec of PATH, and prints what it was told.
 *   finalize   a session from init to finalize
 *   vanish     ends without finalize
 *   new        the first words of a later MPICH: -v first, and stdin closed
 *   silent     says nothing once it is connected
 *   deaf       says nothing, and never takes the connection
 *   later      asks for PMI 1.2
 *   second     asks for PMI-2
 *   shy        does not let go of its input and output
 *   talk       ends its session, then copies its input to output and error; exits with 5
 *   leave      the same, without ending its session
 *   spawn      spawns two that sleep for an hour, and ends without finalize
 *   stay       waits for a signal within its session
 *   PORT       runs mpiexec with this port in place of its own */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* As in MPICH's library mpiexec inherits the socket. */
static int listen_at(int *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t len = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, len) < 0 || listen(fd, 5) < 0 ||
        getsockname(fd, (struct sockaddr *)&address, &len) < 0)
        exit(90);
    *port = ntohs(address.sin_port);
    return fd;
}

static pid_t start_mpiexec(const char *port, int new)
{
    pid_t child = fork();
    char pid[16];
    if (child)
        return child;
    snprintf(pid, sizeof(pid), "%d", (int)getpid());
    if (new)
        close(0);
    if (new)
        execlp("mpiexec", "mpiexec", "-v", "-pmi_args", port, "default_interface", "default_key",
               pid, NULL);
    else
        execlp("mpiexec", "mpiexec", "-pmi_args", port, "default_interface", "default_key", pid,
               NULL);
    _exit(91);
}

static FILE *stream;

/* Prints the line, without the name of a space. 1 where it says that our input, output and error
 * will be connected. */
static int hear(void)
{
    char line[1024];
    if (!fgets(line, sizeof(line), stream)) {
        printf("closed\n");
        exit(3);
    }
    char *name = strstr(line, "kvsname=");
    if (name)
        *name = '\0';
    printf("%s%s", line, name ? "kvsname\n" : "");
    return strstr(line, "stdio=yes") != NULL;
}

static void ask(const char *text)
{
    dprintf(fileno(stream), "%s\n", text);
    hear();
}

static int is(const char *how, const char *what)
{
    return strcmp(how, what) == 0;
}

/* As the launcher may have said last: the next three are our input, output and error. */
static void take_stdio(int listener)
{
    for (int i = 0; i < 3; i++) {
        int fd = accept(listener, NULL, NULL);
        if (fd < 0 || dup2(fd, i) < 0)
            exit(92);
    }
}

static int talk(void)
{
    char line[256];
    while (fgets(line, sizeof(line), stdin)) {
        printf("out %s", line);
        fprintf(stderr, "err %s", line);
    }
    return 5;
}

static int greet(int fd, const char *how)
{
    dprintf(fd, "cmd=singinit pmi_version=%d pmi_subversion=1 stdio=%s authtype=none\n",
            is(how, "second") ? 2 : 1, is(how, "shy") ? "no" : "yes");
    return hear();
}

static void spawn(void)
{
    ask("mcmd=spawn\nnprocs=2\nexecname=sleep\ntotspawns=1\nspawnssofar=1\narg1=3600\nargcnt=1\n"
        "preput_num=0\ninfo_num=0\nendcmd");
}

static void ask_all(void)
{
    ask("cmd=barrier_in");
    ask("cmd=publish_name service=me port=x");
    ask("cmd=lookup_name service=me");
    ask("cmd=finalize");
    fclose(stream);
}

int main(int argc, char *argv[])
{
    const char *how = argc > 1 ? argv[1] : "finalize";
    char port[16];
    int number, status, listener = listen_at(&number);
    snprintf(port, sizeof(port), "%d", number);
    setvbuf(stdout, NULL, _IOLBF, 0);
    pid_t child = start_mpiexec(strspn(how, "0123456789") ? how : port, is(how, "new"));
    if (is(how, "deaf"))
        return pause();
    int fd = accept(listener, NULL, NULL);
    stream = fdopen(fd, "r");
    hear();
    if (is(how, "silent"))
        return pause();
    int stdio = greet(fd, how);
    if (stdio)
        take_stdio(listener);
    ask(is(how, "later") ? "cmd=init pmi_version=1 pmi_subversion=2"
                         : "cmd=init pmi_version=1 pmi_subversion=1");
    ask("cmd=get_maxes");
    ask("cmd=get_universe_size");
    if (is(how, "vanish"))
        return 0;
    if (is(how, "spawn"))
        return spawn(), 0;
    if (is(how, "stay"))
        return pause();
    if (is(how, "leave"))
        return talk();
    ask_all();
    if (is(how, "talk"))
        return talk();
    if (stdio)
        return 0;
    waitpid(child, &status, 0);
    printf("mpiexec ended with %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
    return 0;
}
