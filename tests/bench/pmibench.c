/*
 * pmibench - what PMI-1 costs, on the wire that PMI_FD names; no library.
 *
 *     tprun -n 64 pmibench [PUTS [BARRIERS]]     mpiexec.hydra -n 64 pmibench
 *     pmibench pipes TASKS [ROUNDS]
 *
 * Every task puts PUTS values (1), meets the others, gets one value of everybody else, and goes
 * through BARRIERS barriers (200). Rank 0 prints
 *
 *     TASKS puts/s gets/s us-a-barrier KiB-of-the-parent
 *
 * where the rates are those of all tasks together, each phase with the barrier at its end, and the
 * last is the highest resident size of the process that started it. With "pipes": what a barrier
 * costs at the least, one process reading a line of each of TASKS others and then writing one to
 * each, over the same kind of socket.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int fd;
static char reply[4096], name[300];

static void die(const char *what)
{
    fprintf(stderr, "pmibench: %s\n", what);
    exit(1);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* One request, one line in reply: a client has no more than that under way. */
static void ask(const char *request, size_t len)
{
    size_t got = 0;
    if (write(fd, request, len) != (ssize_t)len)
        die("cannot write");
    do {
        ssize_t n = read(fd, reply + got, sizeof(reply) - 1 - got);
        if (n <= 0)
            die("no reply");
        got += (size_t)n;
    } while (reply[got - 1] != '\n');
    reply[got] = '\0';
}

static void ask_text(const char *request)
{
    ask(request, strlen(request));
}

static void barrier(void)
{
    ask_text("cmd=barrier_in\n");
}

static void put(int rank, int i)
{
    char request[1024];
    int len = snprintf(request, sizeof(request),
                       "cmd=put kvsname=%s key=P%d-%d value=description#host$port#%d$ifname#"
                       "127.0.0.1$0123456789abcdef0123456789abcdef0123456789abcdef\n",
                       name, rank, i, rank);
    ask(request, (size_t)len);
    if (!strstr(reply, "rc=0"))
        die(reply);
}

static void get(int rank)
{
    char request[512];
    ask(request,
        (size_t)snprintf(request, sizeof(request), "cmd=get kvsname=%s key=P%d-0\n", name, rank));
    if (!strstr(reply, "value=description"))
        die(reply);
}

static long parent_kib(void)
{
    char path[64], line[256];
    long kib = 0;
    snprintf(path, sizeof(path), "/proc/%d/status", (int)getppid());
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof(line), file))
        sscanf(line, "VmHWM: %ld", &kib);
    if (file)
        fclose(file);
    return kib;
}

static void bench(int puts, int barriers)
{
    int rank = atoi(getenv("PMI_RANK")), size = atoi(getenv("PMI_SIZE"));
    fd = atoi(getenv("PMI_FD"));
    ask_text("cmd=init pmi_version=1 pmi_subversion=1\n");
    ask_text("cmd=get_my_kvsname\n");
    if (sscanf(reply, "cmd=my_kvsname kvsname=%299s", name) != 1)
        die(reply);
    barrier();
    barrier();
    double start = now();
    for (int i = 0; i < puts; i++)
        put(rank, i);
    barrier();
    double put_at = now();
    for (int i = 1; i < size; i++)
        get((rank + i) % size);
    barrier();
    double got_at = now();
    for (int i = 0; i < barriers; i++)
        barrier();
    double end = now();
    if (rank == 0)
        printf("%d %.0f %.0f %.1f %ld\n", size, size * puts / (put_at - start),
               (double)size * (size - 1) / (got_at - put_at), (end - got_at) / barriers * 1e6,
               parent_kib());
    ask_text("cmd=finalize\n");
}

/* ---- the least there can be ---- */

static void echo(int socket, int rounds)
{
    char byte[64];
    for (int i = 0; i < rounds; i++)
        if (write(socket, "cmd=barrier_in\n", 15) != 15 || read(socket, byte, sizeof(byte)) <= 0)
            exit(1);
    exit(0);
}

static void pipes_round(int epoll, const int sockets[], int tasks)
{
    struct epoll_event events[64];
    char bytes[64];
    for (int heard = 0; heard < tasks;) {
        int n = epoll_wait(epoll, events, 64, -1);
        for (int i = 0; i < n; i++)
            heard += read(sockets[events[i].data.u32], bytes, sizeof(bytes)) == 15;
    }
    for (int i = 0; i < tasks; i++)
        if (write(sockets[i], "cmd=barrier_out\n", 16) != 16)
            die("cannot write");
}

static void pipes(int tasks, int rounds)
{
    int *sockets = calloc((size_t)tasks, sizeof(*sockets)), epoll = epoll_create1(0);
    for (int i = 0; i < tasks; i++) {
        int ends[2];
        struct epoll_event event = {.events = EPOLLIN, .data.u32 = (unsigned)i};
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
            die("no sockets");
        if (!fork())
            echo(ends[1], rounds + 2);
        close(ends[1]);
        sockets[i] = ends[0];
        epoll_ctl(epoll, EPOLL_CTL_ADD, sockets[i], &event);
    }
    pipes_round(epoll, sockets, tasks);
    pipes_round(epoll, sockets, tasks);
    double start = now();
    for (int i = 0; i < rounds; i++)
        pipes_round(epoll, sockets, tasks);
    printf("%d %.1f\n", tasks, (now() - start) / rounds * 1e6);
    while (wait(NULL) > 0)
        ;
    free(sockets);
}

static int number(int argc, char **argv, int at, int absent)
{
    return argc > at ? atoi(argv[at]) : absent;
}

int main(int argc, char **argv)
{
    if (argc > 2 && !strcmp(argv[1], "pipes"))
        pipes(atoi(argv[2]), number(argc, argv, 3, 200));
    else if (getenv("PMI_FD"))
        bench(number(argc, argv, 1, 1), number(argc, argv, 2, 200));
    else
        die("usage: pmibench pipes TASKS [ROUNDS], or under a launcher: pmibench [PUTS "
            "[BARRIERS]]");
    return 0;
}
