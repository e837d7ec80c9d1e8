/* singleton HOW: as an MPI process that was started without a launcher and now wants one, so far as
 * the wire goes. Runs mpiexec of PATH, and prints what it was told.
 *   finalize   a session from init to finalize
 *   vanish     ends without finalize
 *   new        the first words of a later MPICH: -v first, and stdin closed
 *   silent     says nothing once it is connected
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

static int listen_at(int *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t len = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
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

static void hear(void)
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
}

static void ask(const char *text)
{
    dprintf(fileno(stream), "%s\n", text);
    hear();
}

int main(int argc, char *argv[])
{
    const char *how = argc > 1 ? argv[1] : "finalize";
    char port[16];
    int number, status, listener = listen_at(&number);
    snprintf(port, sizeof(port), "%d", number);
    setvbuf(stdout, NULL, _IOLBF, 0);
    pid_t child = start_mpiexec(strspn(how, "0123456789") ? how : port, strcmp(how, "new") == 0);
    int fd = accept(listener, NULL, NULL);
    stream = fdopen(fd, "r");
    hear();
    if (strcmp(how, "silent") == 0)
        return pause();
    dprintf(fd, "cmd=singinit pmi_version=1 pmi_subversion=1 stdio=yes authtype=none\n");
    hear();
    ask("cmd=init pmi_version=1 pmi_subversion=1");
    ask("cmd=get_maxes");
    ask("cmd=get_universe_size");
    if (strcmp(how, "vanish") == 0)
        return 0;
    ask("cmd=barrier_in");
    ask("cmd=publish_name service=me port=x");
    ask("cmd=lookup_name service=me");
    ask("cmd=finalize");
    fclose(stream);
    waitpid(child, &status, 0);
    printf("mpiexec ended with %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
    return 0;
}
