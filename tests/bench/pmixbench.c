/*
 * pmixbench - what PMIx costs: a fence, and the memory of the process that serves it.
 *
 *     tprun -n 16 pmixbench [FENCES]
 *     pmixbench link COMMAND...
 *
 * Every task connects, and goes through FENCES fences without data (200). Rank 0 prints
 *
 *     TASKS us-a-fence RSS PSS own-RSS
 *
 * of which the last three are KiB: of the process that started it, while all tasks are connected,
 * and of itself. With "link": microseconds that a byte takes through a command that says what it is
 * told (`ssh HOST cat`), there and back; printed as a line of the same form.
 */
#include <pmix.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pmix_proc_t me;

static void die(const char *what)
{
    fprintf(stderr, "pmixbench: %s\n", what);
    exit(1);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static long kib_of(pid_t pid, const char *key)
{
    char path[64], line[256], format[32];
    long kib = 0;
    snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", (int)pid);
    snprintf(format, sizeof(format), "%s: %%ld", key);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof(line), file))
        sscanf(line, format, &kib);
    if (file)
        fclose(file);
    return kib;
}

static void fences(int count)
{
    for (int i = 0; i < count; i++)
        if (PMIx_Fence(NULL, 0, NULL, 0) != PMIX_SUCCESS)
            die("a fence failed");
}

static unsigned job_size(void)
{
    pmix_proc_t job = {.rank = PMIX_RANK_WILDCARD};
    pmix_value_t *value;
    memcpy(job.nspace, me.nspace, sizeof(job.nspace));
    if (PMIx_Get(&job, PMIX_JOB_SIZE, NULL, 0, &value) != PMIX_SUCCESS)
        die("the job has no size");
    return value->data.uint32;
}

static void bench(int count)
{
    if (PMIx_Init(&me, NULL, 0) != PMIX_SUCCESS)
        die("no PMIx here");
    fences(count / 10 + 1);
    double start = now();
    fences(count);
    double end = now();
    if (me.rank == 0)
        printf("%u %.1f %ld %ld %ld\n", job_size(), (end - start) / count * 1e6,
               kib_of(getppid(), "Rss"), kib_of(getppid(), "Pss"), kib_of(getpid(), "Rss"));
    fences(1);
    PMIx_Finalize(NULL, 0);
}

/* ---- the link ---- */

static void bounce(int fd, int count)
{
    char byte = 'x';
    for (int i = 0; i < count; i++)
        if (write(fd, &byte, 1) != 1 || read(fd, &byte, 1) != 1)
            die("nothing comes back");
}

static void bench_link(char **command, int count)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        die("no socket pair");
    pid_t pid = fork();
    if (pid == 0) {
        dup2(pair[1], 0);
        dup2(pair[1], 1);
        execvp(command[0], command);
        die("cannot run the command");
    }
    bounce(pair[0], count / 10 + 1);
    double start = now();
    bounce(pair[0], count);
    printf("1 %.1f - - -\n", (now() - start) / count * 1e6);
    shutdown(pair[0], SHUT_WR);
    waitpid(pid, NULL, 0);
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc > 2 && strcmp(argv[1], "link") == 0)
        bench_link(argv + 2, 500);
    else
        bench(argc > 1 ? atoi(argv[1]) : 200);
    return 0;
}
