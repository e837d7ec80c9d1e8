/*
 * ledger-storm [RUNS [AT-ONCE [CORES]]] - many runs on one instance, at once.
 *
 * Each is a process of its own that does what a tprun does with the ledger: it looks, claims cores
 * that were free, keeps them for a while, and ends; one in eight waits in line for what it does not
 * get; one in ten is killed at any moment. Every core has an owner in memory that they all share:
 * a second one is an error, and so is a run that does not end. The instance is one of its own, below
 * $TMPDIR. Prints how long the lock was held; exit status 1 where a core was given twice, somebody
 * hung, or something was left.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/directory.h"
#include "base/mem.h"
#include "launcher/ledger/claim.h"
#include "launcher/ledger/claim_queue.h"
#include "launcher/ledger/instance_directory.h"
#include "launcher/ledger/instance_lock.h"
#include "launcher/ledger/instance_private.h"
#include "launcher/ledger/ledger_entry.h"

#define MOST_CORES 65536
#define MOST_RUNS 200000
#define PATIENCE 120.0 /* s without any end that count as a hang */

enum outcome { OUTCOME_NONE, OUTCOME_GOT, OUTCOME_REFUSED, OUTCOME_FAILED };

struct run {
    atomic_int doomed; /* killed, or about to be */
    int outcome;
    size_t locks;
    float held[LEDGER_RECALL]; /* s that it had the lock, of the last ones */
};

static struct shared {
    atomic_int owner[MOST_CORES]; /* a run's number plus 1; 0: nobody */
    atomic_long twice;
    struct run runs[MOST_RUNS];
} * shared;

static unsigned ncores = 4096, nruns = 2000, at_once = 1000;

static double clock_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void pause_for(double seconds)
{
    nanosleep(&(struct timespec){(time_t)seconds, (long)((seconds - (long)seconds) * 1e9)}, NULL);
}

/* ---- one run ---- */

/* So many free cores from a random place on, the first free ones: who looks at the same time wants
 * the same. NULL where there are not enough. */
static struct idset *choose(struct ledger_entry *program, unsigned count)
{
    struct rset *barred = NULL, *held = entry_held(program, &barred, NULL);
    const struct rset *both[] = {held, barred};
    struct rset *taken = held && barred ? rset_union_hosts(both, 2) : NULL;
    const struct rset_node *node = taken ? rset_find_host(taken, "n0") : NULL;
    struct idset *cores = idset_new();
    unsigned found = 0;
    for (unsigned core = 0; taken && core < ncores && found < count; core++) {
        if (!node || !idset_has(node->children->cores, core)) {
            idset_add(cores, core);
            found++;
        }
    }
    rset_free(held);
    rset_free(barred);
    rset_free(taken);
    if (found == count)
        return cores;
    idset_free(cores);
    return NULL;
}

static void own(const struct idset *cores, int number, bool take)
{
    IDSET_FOREACH(core, cores)
    {
        int before = atomic_exchange(&shared->owner[core], take ? number + 1 : 0);
        int want = take ? 0 : number + 1;
        if (before != want && !(before && shared->runs[before - 1].doomed) && !(!take && !before))
            atomic_fetch_add(&shared->twice, 1);
    }
}

/* 0, 1 (not now) or -1. */
static int claim(struct instance *instance, struct ledger_entry *program, unsigned count,
                 int number)
{
    int turn = -1;
    for (int tries = 0; tries < 100; tries++) {
        struct idset *cores = choose(program, count);
        if (!cores)
            break;
        struct rset *set = rset_new();
        rset_append(set, 0, "n0", cores, NULL);
        int rc = entry_claim(program, set, NULL);
        rset_free(set);
        if (rc == 1 && turn < 0)
            turn = instance_turn(instance);
        else if (rc <= 0 && turn >= 0)
            close(turn);
        if (rc == 0) {
            own(cores, number, true);
            pause_for((double)(rand() % 50) * 1e-3);
            own(cores, number, false);
        }
        idset_free(cores);
        if (rc <= 0)
            return rc;
    }
    if (turn >= 0)
        close(turn);
    return 1;
}

static int wait_in_line(struct instance *instance, struct ledger_entry *program, unsigned count,
                        int number)
{
    struct rset *scope = rset_new();
    struct idset *all = idset_new();
    int watch = instance_watch(instance), rc = 1;
    idset_add_range(all, 0, ncores - 1);
    rset_append(scope, 0, "n0", all, NULL);
    if (entry_queue(program, scope, 0, NULL) < 0)
        rc = -1;
    while (rc == 1) {
        char bytes[4096];
        if (entry_place(program) == 0)
            rc = claim(instance, program, count, number);
        if (rc != 1)
            break;
        poll(&(struct pollfd){.fd = watch, .events = POLLIN}, 1, 500);
        while (watch >= 0 && read(watch, bytes, sizeof(bytes)) > 0)
            ;
    }
    if (watch >= 0)
        close(watch);
    idset_free(all);
    rset_free(scope);
    return rc;
}

static void be_a_run(int number)
{
    struct error err = ERROR_INIT;
    struct run *run = &shared->runs[number];
    srand((unsigned)number * 7919u + 1u);
    unsigned count = 1 + (unsigned)rand() % (number % 50 == 0 ? ncores / 2 : 16);
    struct instance *instance = instance_open("storm", &err);
    struct ledger_entry *program = instance ? entry_new(instance, "storm", &err) : NULL;
    int rc = program ? claim(instance, program, count, number) : -1;
    if (rc == 1 && number % 8 == 0)
        rc = wait_in_line(instance, program, count, number);
    if (rc < 0)
        fprintf(stderr, "run %d: %s\n", number, error_text(&err));
    run->outcome = rc == 0 ? OUTCOME_GOT : rc > 0 ? OUTCOME_REFUSED : OUTCOME_FAILED;
    entry_end(program);
    if (instance) {
        run->locks = instance->locks;
        memcpy(run->held, instance->held, sizeof(run->held));
    }
    _exit(rc < 0);
}

/* ---- all of them ---- */

struct storm {
    pid_t *pids; /* by run; 0: is not there */
    unsigned next, live, ended, killed;
};

static void begin(struct storm *storm)
{
    pid_t pid = fork();
    if (pid == 0)
        be_a_run((int)storm->next);
    if (pid < 0) {
        fprintf(stderr, "cannot fork: %s\n", strerror(errno));
        exit(1);
    }
    storm->pids[storm->next++] = pid;
    storm->live++;
}

static void kill_some(struct storm *storm)
{
    unsigned victim = (unsigned)rand() % storm->next;
    if (storm->killed >= storm->next / 10 || !storm->pids[victim])
        return;
    shared->runs[victim].doomed = 1;
    kill(storm->pids[victim], SIGKILL);
    storm->killed++;
}

static bool reap(struct storm *storm)
{
    pid_t pid = waitpid(-1, NULL, WNOHANG);
    if (pid <= 0)
        return false;
    for (unsigned i = 0; i < storm->next; i++)
        if (storm->pids[i] == pid)
            storm->pids[i] = 0;
    storm->live--;
    storm->ended++;
    return true;
}

static int ride(struct storm *storm)
{
    double last = clock_now();
    while (storm->ended < nruns) {
        while (storm->next < nruns && storm->live < at_once)
            begin(storm);
        kill_some(storm);
        while (reap(storm))
            last = clock_now();
        if (clock_now() - last > PATIENCE) {
            fprintf(stderr, "%u runs hang\n", storm->live);
            for (unsigned i = 0; i < storm->next; i++)
                if (storm->pids[i])
                    kill(storm->pids[i], SIGKILL);
            return 1;
        }
        pause_for(0.001);
    }
    return 0;
}

static int compare(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static size_t gather(float *held)
{
    size_t count = 0;
    for (unsigned i = 0; i < nruns; i++) {
        const struct run *run = &shared->runs[i];
        for (size_t j = 0; j < run->locks && j < LEDGER_RECALL; j++)
            held[count++] = run->held[j];
    }
    qsort(held, count, sizeof(*held), compare);
    return count;
}

static void report(const struct storm *storm, double seconds)
{
    float *held = mem_array((size_t)nruns * LEDGER_RECALL + 1, sizeof(*held));
    unsigned counts[4] = {0};
    size_t locks = gather(held);
    for (unsigned i = 0; i < nruns; i++)
        counts[shared->runs[i].outcome]++;
    printf("%u runs, %u at once, in %.1f s: %u got cores, %u were refused, %u failed, %u killed\n",
           nruns, at_once, seconds, counts[OUTCOME_GOT], counts[OUTCOME_REFUSED],
           counts[OUTCOME_FAILED], storm->killed);
    printf("%zu locks, held: median %.3f ms, 99th percentile %.3f ms, most %.3f ms\n", locks,
           1e3 * (double)held[locks / 2], 1e3 * (double)held[locks * 99 / 100],
           1e3 * (double)held[locks ? locks - 1 : 0]);
    printf("cores given twice: %ld\n", shared->twice);
    free(held);
}

/* Nothing is held when all have ended, however they did. */
static int check_end(void)
{
    struct error err = ERROR_INIT;
    struct instance *instance = instance_open("storm", &err);
    struct rset *held = instance ? instance_held(instance, &err) : NULL;
    size_t left = held ? held->nnodes : 1;
    if (left)
        fprintf(stderr, "something is still held: %s\n", error_text(&err));
    rset_free(held);
    instance_close(instance);
    error_clear(&err);
    return left ? 1 : 0;
}

static unsigned number_of(const char *text, unsigned most)
{
    unsigned long number = strtoul(text, NULL, 10);
    return number >= 1 && number <= most ? (unsigned)number : most;
}

int main(int argc, char *argv[])
{
    const char *base = getenv("TMPDIR");
    char *world = mem_format("%s/ledger-storm-XXXXXX", base && *base ? base : "/tmp");
    struct storm storm = {0};
    if (argc > 1)
        nruns = number_of(argv[1], MOST_RUNS);
    if (argc > 2)
        at_once = number_of(argv[2], nruns);
    if (argc > 3)
        ncores = number_of(argv[3], MOST_CORES);
    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED || !mkdtemp(world)) {
        fprintf(stderr, "ledger-storm: %s\n", strerror(errno));
        return 1;
    }
    setenv("TPRUN_RUNTIME_DIR", world, 1);
    storm.pids = mem_array(nruns, sizeof(*storm.pids));
    double start = clock_now();
    int bad = ride(&storm);
    report(&storm, clock_now() - start);
    bad |= check_end() | (shared->twice != 0);
    for (unsigned i = 0; i < nruns; i++)
        bad |= shared->runs[i].outcome == OUTCOME_FAILED;
    directory_remove(AT_FDCWD, world);
    free(storm.pids);
    free(world);
    return bad;
}
