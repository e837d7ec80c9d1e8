/*
 * pool-time [SHAPE] - what an allocation costs: of a table of shapes, or of this one.
 *
 * A pool of 16,384 nodes of 2 sockets x 4 NUMA domains x 16 cores with a GPU each, half of it held
 * by 1,000 programs: by whole NUMA domains here and there, or by cores so that no two nodes are
 * alike. Time is the processor time of treepool_allocate(), the best of a few; memory the peak of a
 * process that reads R from text, allocates and writes what it got. Ends with status 1 when a limit
 * is broken: 50 ms (250 ms where all nodes differ) and 64 MiB.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "affinity/treepool/treepool.h"
#include "base/mem.h"

#define NODES 16384u
#define DOMAINS 8u
#define CORES 16u /* in a domain */
#define PROGRAMS 1000u
#define LIMIT_MS 50.0
#define UNLIKE_MS 250.0
#define LIMIT_MIB 64.0
#define ROUNDS 5

enum holding { NOTHING, WHOLE_DOMAINS, ODD_CORES };

struct job {
    const char *title;
    enum holding holding;
    const char *shape;
};

static bool broken;

static uint32_t below(uint64_t *seed, uint32_t n)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33) % n;
}

/* ---- the pool ---- */

static char *pool_text(void)
{
    char numa[2][512] = {"", ""};
    for (uint32_t i = 0; i < DOMAINS; i++)
        sprintf(strchr(numa[i / 4], '\0'), "%s{\"cores\":\"%u-%u\",\"gpus\":\"%u\"}",
                i % 4 ? "," : "", i * CORES, (i + 1) * CORES - 1, i);
    return mem_format("{\"version\":1,\"execution\":{\"R_lite\":[{\"rank\":\"0-%u\",\"children\":"
                      "{\"core\":\"0-%u\",\"gpu\":\"0-%u\"}}],\"nodelist\":[\"node[0-%u]\"]},"
                      "\"scheduling\":{\"writer\":\"TreePool\",\"children\":[{\"ranks\":\"0-%u\","
                      "\"topo\":{\"socket\":[{\"numa\":[%s]},{\"numa\":[%s]}]}}]}}",
                      NODES - 1, DOMAINS * CORES - 1, DOMAINS - 1, NODES - 1, NODES - 1, numa[0],
                      numa[1]);
}

/* Half of the domains, whole or all but a core; the program that holds one is as good as random. */
static struct rset *hold(const struct rset *R, enum holding holding)
{
    struct rset **sets = mem_array(PROGRAMS, sizeof(struct rset *));
    uint64_t seed = 49;
    for (uint32_t p = 0; p < PROGRAMS; p++)
        sets[p] = rset_new();
    for (uint32_t i = 0; i < NODES * DOMAINS && holding != NOTHING; i++) {
        struct rset *set = sets[below(&seed, PROGRAMS)];
        uint32_t first = i % DOMAINS * CORES;
        struct idset *cores = idset_new(), *gpus = idset_new();
        idset_add_range(cores, first, first + CORES - 1);
        idset_add(gpus, i % DOMAINS);
        if (holding == ODD_CORES)
            idset_remove(cores, first + below(&seed, CORES));
        if (below(&seed, 2)) /* a node twice in one set is right as well */
            rset_append(set, (uint32_t)set->nnodes, R->nodes[i / DOMAINS].host, cores, gpus);
        idset_free(cores);
        idset_free(gpus);
    }
    struct rset *held = rset_union_hosts((const struct rset *const *)sets, PROGRAMS);
    for (uint32_t p = 0; p < PROGRAMS; p++)
        rset_free(sets[p]);
    free(sets);
    return held;
}

/* ---- one measurement ---- */

static double now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &at);
    return (double)at.tv_sec * 1e3 + (double)at.tv_nsec / 1e6;
}

static struct request *ask(const char *text)
{
    struct error err = ERROR_INIT;
    struct shape *shape = shape_decode(text, &err);
    struct request *request = shape ? request_from_shape(shape, &err) : NULL;
    if (!request)
        fprintf(stderr, "%s: %s\n", text, error_text(&err));
    shape_free(shape);
    error_clear(&err);
    return request;
}

static struct rset *read_pool(void)
{
    struct error err = ERROR_INIT;
    char *text = pool_text();
    struct rset *R = rset_decode(text, strlen(text), &err);
    if (!R)
        fprintf(stderr, "%s\n", error_text(&err));
    free(text);
    error_clear(&err);
    return R;
}

static void write_grant(const struct treepool_grant *grant)
{
    json_t *R = rset_to_json(grant->R);
    char *text = json_dumps(R, JSON_COMPACT);
    free(text);
    json_decref(R);
}

static void time_job(const struct job *job)
{
    struct rset *R = read_pool(), *held = R ? hold(R, job->holding) : NULL;
    struct request *request = ask(job->shape);
    enum treepool_answer answer = TREEPOOL_NEVER;
    double best = 1e9;
    if (!R || !request)
        exit(1);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        struct error err = ERROR_INIT;
        struct treepool_grant *grant;
        double start = now();
        answer = treepool_allocate(R, held, request, NULL, &grant, &err);
        double took = now() - start;
        best = took < best ? took : best;
        if (grant)
            write_grant(grant);
        treepool_grant_free(grant);
        error_clear(&err);
    }
    static const char *const words[] = {"granted", "busy", "never"};
    bool late = best > (job->holding == ODD_CORES ? UNLIKE_MS : LIMIT_MS);
    printf("%-44s %-8s %9.2f ms%s\n", job->title, words[answer], best, late ? "  too slow" : "");
    request_free(request);
    rset_free(held);
    rset_free(R);
    broken |= late;
}

/* In a child, whose peak of memory is its own: R from text, one allocation, and that as text. */
static void measure_memory(void)
{
    struct rusage usage;
    int status;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        struct rset *R = read_pool();
        struct request *request = ask("node=8192/slot=8/[core=16;gpu=1]");
        struct treepool_grant *grant = NULL;
        if (R && request &&
            treepool_allocate(R, NULL, request, NULL, &grant, NULL) == TREEPOOL_GRANTED)
            write_grant(grant);
        _exit(grant == NULL);
    }
    if (child < 0 || wait4(child, &status, 0, &usage) < 0 || status) {
        broken = true;
        return;
    }
    double mib = (double)usage.ru_maxrss / 1024;
    broken |= mib > LIMIT_MIB;
    printf("%-44s %8s %9.1f MiB%s\n", "read, allocate 8,192 nodes, write", "", mib,
           mib > LIMIT_MIB ? "  too large" : "");
}

static const struct job jobs[] = {
    {"nothing held, node=512/slot=8", NOTHING, "node=512/slot=8/[core=16;gpu=1]"},
    {"slot=1/[core=8;gpu=1]", WHOLE_DOMAINS, "slot=1/[core=8;gpu=1]"},
    {"slot=4096/[core=16;gpu=1]", WHOLE_DOMAINS, "slot=4096/[core=16;gpu=1]"},
    {"node=1024/slot=4/[core=15;gpu=1]", WHOLE_DOMAINS, "node=1024/slot=4/[core=15;gpu=1]"},
    {"node=64/slot=40/core=1", WHOLE_DOMAINS, "node=64/slot=40/core=1"},
    {"slot=100/numa=2/core=8", WHOLE_DOMAINS, "slot=100/numa=2/core=8"},
    {"slot=8/numa{x}", WHOLE_DOMAINS, "slot=8/numa{x}"},
    {"slot=8/node{x}", WHOLE_DOMAINS, "slot=8/node{x}"},
    {"node=16384/slot=8/core=16 (busy)", WHOLE_DOMAINS, "node=16384/slot=8/core=16"},
    {"slot=4096/[core=15;gpu=1], all nodes differ", ODD_CORES, "slot=4096/[core=15;gpu=1]"},
    {"node=512/slot=4/core=15, all nodes differ", ODD_CORES, "node=512/slot=4/core=15"},
};

int main(int argc, char **argv)
{
    if (argc > 1) {
        for (int i = NOTHING; i <= ODD_CORES; i++)
            time_job(&(struct job){argv[1], (enum holding)i, argv[1]});
        return broken;
    }
    measure_memory();
    for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++)
        time_job(&jobs[i]);
    return broken;
}
