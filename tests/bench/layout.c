/*
 * layout [random COUNT SEED] - what the layout engine costs.
 *
 * Without arguments a table: a row a policy, a column a number of tasks, 64 on each node of 2
 * sockets x 8 NUMA domains x 8 cores; then nodes that are not alike. With `random` that many random
 * policies at 1 Mi tasks, worst last. Time is the processor time of layout_make and of the task
 * map's encoding, memory the peak of a process that does nothing else. Ends with status 1 when a
 * limit is broken: 1 Mi tasks under 1 s (2 s where all nodes differ) and 256 MiB, 64 tasks on 2
 * nodes under 5 ms.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "affinity/layout/layout.h"
#include "base/mem.h"

#define MACHINE "package:2 numa:8 core:8 pu:1"
#define CORES 128
#define PER_NODE 64
#define MANY (1u << 20)
#define LIMIT_MS 1000.0
#define LIMIT_MIB 256.0
#define SMALL_MS 5.0

enum unlike { ALIKE, HUNDRED_KINDS, ALL_DIFFER };

struct job {
    const char *title;
    struct layout_part part;
    bool counted; /* -N: as many nodes as there are */
    enum unlike unlike;
    uint32_t per_node; /* tasks; 0: PER_NODE */
};

struct cost {
    double ms, mib;
    bool refused;
};

static bool broken;

/* ---- one measurement ---- */

/* All cores; or in hundred or all different ways, all but some, which differ in number too. */
static struct idset *node_cores(const struct idset *all, enum unlike unlike, uint32_t node)
{
    struct idset *cores = idset_copy(all);
    uint32_t way = unlike == HUNDRED_KINDS ? node % 100 : unlike == ALL_DIFFER ? node : 0;
    for (uint32_t core = 0; way >> core; core++)
        if (way >> core & 1)
            idset_remove(cores, core * 8 % CORES + core / 16);
    return cores;
}

static double now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &at);
    return (double)at.tv_sec * 1e3 + (double)at.tv_nsec / 1e6;
}

static double time_layout(const struct layout_request *request)
{
    struct error err = ERROR_INIT;
    double start = now();
    struct layout *layout = layout_make(request, &err);
    if (!layout) {
        fprintf(stderr, "refused: %s\n", error_text(&err));
        error_clear(&err);
        return -1;
    }
    json_t *map = taskmap_to_json(layout->map);
    char *text = json_dumps(map, JSON_COMPACT), *mapping = taskmap_encode_pmi(layout->map);
    double took = now() - start;
    free(text);
    free(mapping);
    json_decref(map);
    layout_free(layout);
    return took;
}

/* The best of a few, since a first run also pays for memory that later ones find there. */
static double measure_here(const struct job *job, uint32_t ntasks, uint32_t rounds)
{
    struct layout_part part = job->part;
    uint32_t per_node = job->per_node ? job->per_node : PER_NODE;
    struct layout_request request = {
        .nnodes = (ntasks + per_node - 1) / per_node, .parts = &part, .nparts = 1};
    request.node_count = job->counted ? request.nnodes : 0;
    struct topo *topo = topo_load_synthetic(MACHINE, NULL);
    struct idset *all = topo_cores(topo);
    struct layout_node *nodes = mem_array(request.nnodes, sizeof(*nodes));
    part.ntasks = ntasks;
    request.nodes = nodes;
    for (uint32_t i = 0; i < request.nnodes; i++)
        nodes[i] = (struct layout_node){
            .host = "node", .target = i, .topo = topo, .cores = node_cores(all, job->unlike, i)};
    double best = time_layout(&request);
    for (uint32_t i = 1; i < rounds && best >= 0; i++) {
        double took = time_layout(&request);
        best = took < best ? took : best;
    }
    return best;
}

/* In a child, whose peak of memory is its own. */
static struct cost measure(const struct job *job, uint32_t ntasks, uint32_t rounds)
{
    struct cost cost = {.refused = true};
    int ends[2], status = 0;
    struct rusage usage;
    fflush(stdout);
    if (pipe(ends) < 0)
        return cost;
    pid_t child = fork();
    if (child == 0) {
        double took = measure_here(job, ntasks, rounds);
        _exit(write(ends[1], &took, sizeof(took)) != sizeof(took));
    }
    close(ends[1]);
    bool read_it = read(ends[0], &cost.ms, sizeof(cost.ms)) == sizeof(cost.ms);
    close(ends[0]);
    cost.refused =
        child < 0 || wait4(child, &status, 0, &usage) < 0 || status || !read_it || cost.ms < 0;
    if (!cost.refused)
        cost.mib = (double)usage.ru_maxrss / 1024;
    return cost;
}

static void judge(const struct cost *cost, double ms)
{
    if (!cost->refused && cost->ms < ms && cost->mib < LIMIT_MIB)
        return;
    broken = true;
    printf("    that is over the limit, %.0f ms and %.0f MiB\n", ms, LIMIT_MIB);
}

static void judge_many(const struct job *job, const struct cost *cost)
{
    judge(cost, job->unlike == ALL_DIFFER ? 2 * LIMIT_MS : LIMIT_MS);
}

/* ---- the table ---- */

static const struct job jobs[] = {
    {.title = "core (a block a node)", .part = {.map = "core"}},
    {.title = "numa:span", .part = {.map = "numa:span"}},
    {.title = "node (cyclic)", .part = {.map = "node"}},
    {.title = "node, bound to cores", .part = {.map = "node", .bind = "core"}},
    {.title = "no options", .part = {.ntasks = 0}},
    {.title = "hwthread", .part = {.map = "hwthread"}},
    {.title = "scnh", .part = {.map = "scnh"}},
    {.title = "L2nhNsL1cbL3", .part = {.map = "L2nhNsL1cbL3", .bind = "1h"}},
    {.title = "nsNch", .part = {.map = "nsNch", .bind = "1c"}},
    {.title = "socket, sequential", .part = {.map = "socket", .bind = "1c", .order = "s"}},
    {.title = "node, sequential", .part = {.map = "node", .bind = "1c", .order = "s"}},
    {.title = "numa, --mppr 4:N,64:n", .part = {.map = "numa", .mppr = "4:N,64:n"}},
    {.title = "nch, --mppr 1:N,2:s,64:n, over",
     .part = {.map = "nch", .mppr = "1:N,2:s,64:n", .oversubscribe = true}},
    {.title = "-c 2", .part = {.cores_per_task = 2}},
    {.title = "-c 4, --mppr 2:c", .part = {.cores_per_task = 4, .mppr = "2:c"}},
    {.title = "-c 4, numa:span, --mppr 2:c",
     .part = {.cores_per_task = 4, .map = "numa:span", .mppr = "2:c"}},
    {.title = "--bind-to none", .part = {.bind = "none"}},
    {.title = "core, 3c, --mppr none", .part = {.map = "core", .bind = "3c", .mppr = "none"}},
    {.title = "core, oversubscribed twice",
     .part = {.map = "core", .mppr = "1:N,1:s", .oversubscribe = true},
     .per_node = 128},
    {.title = "core, -N", .part = {.map = "core"}, .counted = true},
    {.title = "node, -N", .part = {.map = "node"}, .counted = true},
};

static const struct job unlike_jobs[] = {
    {.title = "core, 100 kinds", .part = {.map = "core"}, .unlike = HUNDRED_KINDS},
    {.title = "numa:span, 100 kinds", .part = {.map = "numa:span"}, .unlike = HUNDRED_KINDS},
    {.title = "node, 100 kinds", .part = {.map = "node"}, .unlike = HUNDRED_KINDS},
    {.title = "core, all nodes differ", .part = {.map = "core"}, .unlike = ALL_DIFFER},
    {.title = "numa:span, all nodes differ", .part = {.map = "numa:span"}, .unlike = ALL_DIFFER},
    {.title = "node, all nodes differ", .part = {.map = "node"}, .unlike = ALL_DIFFER},
    {.title = "scnh, all nodes differ", .part = {.map = "scnh"}, .unlike = ALL_DIFFER},
};

static const uint32_t sizes[] = {100, 1000, 10000, 100000, MANY};
#define NSIZES (sizeof(sizes) / sizeof(sizes[0]))

static void print_row(const struct job *job)
{
    struct cost cost = {0};
    printf("%-32s", job->title);
    for (size_t i = 0; i < NSIZES; i++) {
        cost = measure(job, sizes[i], sizes[i] < 100000 ? 9 : 3);
        if (cost.refused)
            printf("%12s", "refused");
        else
            printf("%9.3f ms", cost.ms);
    }
    printf("%9.1f MiB\n", cost.mib);
    judge_many(job, &cost);
}

static void print_table(void)
{
    printf("%-32s", "tasks, 64 on each node");
    for (size_t i = 0; i < NSIZES; i++)
        printf("%12u", sizes[i]);
    printf("%13s\n", "peak");
    for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++)
        print_row(&jobs[i]);
    for (size_t i = 0; i < sizeof(unlike_jobs) / sizeof(unlike_jobs[0]); i++)
        print_row(&unlike_jobs[i]);
    struct cost cost = measure(&(struct job){.part = {.map = "numa"}, .per_node = 32}, 64, 1);
    printf("64 tasks on 2 nodes, numa, the first time: %.3f ms\n", cost.ms);
    judge(&cost, SMALL_MS);
}

/* ---- random policies ---- */

static uint32_t below(uint64_t *seed, uint32_t n)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33) % n;
}

static void random_map(char *map, uint64_t *seed)
{
    const char *order[] = {"n", "h", "c", "s", "N", "L1", "L2", "L3", "b"};
    uint32_t n = below(seed, 2) ? 9 : 2 + below(seed, 7);
    for (uint32_t i = 8; i >= 2; i--) {
        uint32_t j = 2 + below(seed, i - 1);
        const char *swap = order[i];
        order[i] = order[j];
        order[j] = swap;
    }
    map[0] = '\0';
    for (uint32_t left = n; left > 0; left--) {
        uint32_t take = below(seed, left);
        strcat(map, order[take]);
        order[take] = order[left - 1];
    }
}

struct sample {
    struct job job;
    char map[16];
    struct cost cost;
};

static void random_job(struct sample *sample, uint64_t *seed)
{
    static const char *const binds[] = {NULL, "none", "1c", "1h", "2c", "1N", "2N", "1s", "1n"};
    static const char *const limits[] = {NULL, NULL, "none", "1:h", "2:c", "1:s,2:n", "9:N,3:s"};
    random_map(sample->map, seed);
    sample->job = (struct job){.part = {.map = sample->map,
                                        .bind = binds[below(seed, 9)],
                                        .mppr = limits[below(seed, 7)],
                                        .order = below(seed, 3) ? NULL : "s",
                                        .cores_per_task = below(seed, 4) ? 0 : 1 + below(seed, 8),
                                        .oversubscribe = true}};
    sample->job.unlike = below(seed, 4) ? ALIKE : below(seed, 2) ? HUNDRED_KINDS : ALL_DIFFER;
    sample->job.counted = below(seed, 4) == 0;
}

static int compare_samples(const void *a, const void *b)
{
    const struct sample *x = a, *y = b;
    return (x->cost.ms > y->cost.ms) - (x->cost.ms < y->cost.ms);
}

static const char *or_dash(const char *text)
{
    return text ? text : "-";
}

static void print_samples(uint32_t count, uint64_t seed)
{
    static const char *const kinds[] = {"alike", "100 kinds", "all differ"};
    struct sample *samples = mem_array(count, sizeof(*samples));
    for (uint32_t i = 0; i < count; i++) {
        random_job(&samples[i], &seed);
        samples[i].cost = measure(&samples[i].job, MANY, 1);
        samples[i].job.part.map = NULL; /* it moves when they are sorted */
    }
    qsort(samples, count, sizeof(*samples), compare_samples);
    for (uint32_t i = 0; i < count; i++) {
        const struct sample *s = &samples[i];
        printf("%9.1f ms %7.1f MiB  %-13s bind %-5s mppr %-8s order %s -c %u %s%s%s\n", s->cost.ms,
               s->cost.mib, s->map, or_dash(s->job.part.bind), or_dash(s->job.part.mppr),
               or_dash(s->job.part.order), s->job.part.cores_per_task, kinds[s->job.unlike],
               s->job.counted ? ", -N" : "", s->cost.refused ? ", refused" : "");
        if (!s->cost.refused)
            judge_many(&s->job, &s->cost);
    }
    free(samples);
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "random") == 0)
        print_samples((uint32_t)atoi(argv[2]), (uint64_t)atoll(argv[3]));
    else if (argc == 1)
        print_table();
    else
        return fprintf(stderr, "usage: layout [random COUNT SEED]\n"), 2;
    return broken;
}
