/*
 * pmix-event SCENARIO [ARGUMENT...] - what a task hears of others through openpmix, and does to them. A
 * line on stdout for each event that it hears: "RANK: CODE of RANK[, WORD]".
 *
 *   tell RANGE     rank 0 makes an event for everybody: namespace, global, local, or a rank's number
 *   flood RANGE N BYTES
 *                  rank 0 makes N events of so many bytes that nobody has a handler for
 *   fences N       N fences, each of some of the ranks; one rank of each node says how much memory its
 *                  host has in KiB when half of them are over, and at the end
 *   die RANK HOW   that one dies: a number (it exits), "finalized" (it does so, and exits with 3),
 *                  "kill" (a signal), or "abort RANK" (it aborts that one); the others hear of it, and meet without it
 *   last RANK HOW  the same, and the others are deaf to TERM, and end when they have heard
 *   fence RANK HOW the same, while the others wait for it in a fence, which tells them
 *   control RANK WHAT [NUMBER]
 *                  rank 0 has that done to that one ("all": to its job): signal, kill, terminate,
 *                  pause, resume; and says how it went
 *   speak FILE     stops the agent, whose pid it writes to FILE, has a line logged, and exits with 3
 *   stop RANK      rank 0 pauses that one for half a second, which says that it noticed
 *
 * With CALM in the environment TERM makes a task exit with 0, without a finalize.
 */
#include <pmix.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pmix-status.h"
#include "pmix-versions.h"

#define PATIENCE 10 /* s */
#define OWN_EVENT (PMIX_EXTERNAL_ERR_BASE - 7)

static pmix_proc_t me;
static uint32_t size;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static unsigned heard, answered;
static pmix_status_t answer;

static void need(bool good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "pmix-event: rank %u: not so: %s\n", me.rank, what);
    exit(3);
}

static void count(unsigned *what)
{
    pthread_mutex_lock(&lock);
    ++*what;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static bool await(const unsigned *what, unsigned least, double seconds)
{
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += (time_t)seconds;
    end.tv_nsec += (long)((seconds - (double)(time_t)seconds) * 1e9);
    end.tv_sec += end.tv_nsec / 1000000000;
    end.tv_nsec %= 1000000000;
    pthread_mutex_lock(&lock);
    while (*what < least && pthread_cond_timedwait(&changed, &lock, &end) == 0)
        ;
    bool enough = *what >= least;
    pthread_mutex_unlock(&lock);
    return enough;
}

/* ---- events ---- */

static const char *name_of(pmix_status_t status)
{
    static const struct {
        pmix_status_t status;
        const char *name;
    } names[] = {
        {OWN_EVENT, "own"},
        {PMIX_ERR_PROC_ABORTED, "aborted"},
        {PMIX_ERR_EXIT_NONZERO_TERM, "failed"},
        {PMIX_ERR_PROC_TERM_WO_SYNC, "left"},
        {PMIX_ERR_NODE_DOWN, "node"},
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (names[i].status == status)
            return names[i].name;
    return status_name(status);
}

static void hear(size_t handler, pmix_status_t status, const pmix_proc_t *source,
                 pmix_info_t infos[], size_t ninfos, pmix_info_t results[], size_t nresults,
                 pmix_event_notification_cbfunc_fn_t next, void *data)
{
    char line[256], word[64] = "";
    uint32_t affected = source->rank;
    (void)handler, (void)results, (void)nresults;
    for (size_t i = 0; i < ninfos; i++) {
        const pmix_value_t *value = &infos[i].value;
        if (!strcmp(infos[i].key, PMIX_EVENT_AFFECTED_PROC))
            affected = value->data.proc->rank;
        else if (!strcmp(infos[i].key, PMIX_EXIT_CODE))
            snprintf(word, sizeof(word), ", %d", value->data.integer);
        else if (!strcmp(infos[i].key, "word"))
            snprintf(word, sizeof(word), ", %s", value->data.string);
    }
    int len =
        snprintf(line, sizeof(line), "%u: %s of %u%s\n", me.rank, name_of(status), affected, word);
    if (write(1, line, (size_t)len) < 0)
        exit(4);
    next(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
    count(&heard);
}

static void registered(pmix_status_t status, size_t handler, void *data)
{
    (void)handler, (void)data;
    need(status == PMIX_SUCCESS, "a handler is registered");
    count(&answered);
}

static void listen(void)
{
    pmix_status_t codes[] = {OWN_EVENT, PMIX_ERR_PROC_ABORTED, PMIX_ERR_EXIT_NONZERO_TERM,
                             PMIX_ERR_PROC_TERM_WO_SYNC, PMIX_ERR_NODE_DOWN};
    PMIx_Register_event_handler(codes, sizeof(codes) / sizeof(codes[0]), NULL, 0, hear, registered,
                                NULL);
    need(await(&answered, 1, PATIENCE), "a handler is registered in time");
}

/* ---- meeting ---- */

/* All but that rank; UINT32_MAX: all. */
static pmix_status_t meet(uint32_t without)
{
    pmix_proc_t *procs = calloc(size, sizeof(*procs));
    uint32_t n = 0;
    for (uint32_t rank = 0; rank < size; rank++) {
        strcpy(procs[n].nspace, me.nspace);
        procs[n].rank = rank;
        n += rank != without;
    }
    pmix_status_t status = PMIx_Fence(procs, n, NULL, 0);
    free(procs);
    return status;
}

static void put_text(pmix_info_t *info, const char *key, char *text)
{
    memset(info, 0, sizeof(*info));
    strcpy(info->key, key);
    info->value.type = PMIX_STRING;
    info->value.data.string = text;
}

/* ---- scenarios ---- */

static void tell(char **args)
{
    pmix_proc_t only = {0};
    pmix_data_array_t array = {.type = PMIX_PROC, .size = 1, .array = &only};
    pmix_info_t infos[2] = {0};
    pmix_data_range_t range = !strcmp(args[0], "namespace") ? PMIX_RANGE_NAMESPACE
                              : !strcmp(args[0], "global")  ? PMIX_RANGE_GLOBAL
                              : !strcmp(args[0], "local")   ? PMIX_RANGE_LOCAL
                                                            : PMIX_RANGE_CUSTOM;
    put_text(&infos[0], "word", (char *)"hello");
    strcpy(only.nspace, me.nspace);
    only.rank = (uint32_t)strtoul(args[0], NULL, 10);
    strcpy(infos[1].key, PMIX_EVENT_CUSTOM_RANGE);
    infos[1].value.type = PMIX_DATA_ARRAY;
    infos[1].value.data.darray = &array;
    need(meet(UINT32_MAX) == PMIX_SUCCESS, "all listen");
    if (me.rank == 0)
        need(PMIx_Notify_event(OWN_EVENT, &me, range, infos, 1 + (range == PMIX_RANGE_CUSTOM), NULL,
                               NULL) == PMIX_SUCCESS,
             "an event is made");
    await(&heard, 2, 1); /* nothing comes twice */
    need(meet(UINT32_MAX) == PMIX_SUCCESS, "all meet again");
}

static void flood(char **args)
{
    size_t len = args[1] && args[2] ? strtoul(args[2], NULL, 10) : 0;
    char *bytes = calloc(1, len);
    pmix_info_t info = {.value = {.type = PMIX_BYTE_OBJECT, .data.bo = {bytes, len}}};
    pmix_data_range_t range = !strcmp(args[0], "local") ? PMIX_RANGE_LOCAL : PMIX_RANGE_GLOBAL;
    strcpy(info.key, "bytes");
    for (unsigned long i = 0; me.rank == 0 && i < strtoul(args[1], NULL, 10); i++)
        PMIx_Notify_event(OWN_EVENT - 1, &me, range, &info, 1, NULL, NULL);
    free(bytes);
    need(meet(UINT32_MAX) == PMIX_SUCCESS, "all meet again");
}

static long host_kib(void)
{
    char path[64], line[256];
    long kib = 0;
    snprintf(path, sizeof(path), "/proc/%d/status", getppid());
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof(line), file))
        sscanf(line, "VmRSS: %ld", &kib);
    if (file)
        fclose(file);
    return kib;
}

/* All sets of ranks in turn, but for those of one rank and of all. */
static void fences(char **args)
{
    unsigned long many = strtoul(args[0], NULL, 10), done = 0;
    long half = 0;
    for (unsigned long set = 0; done < many; set = (set + 1) % ((1ul << size) - 1)) {
        pmix_proc_t procs[64] = {0};
        size_t n = 0;
        for (uint32_t rank = 0; rank < size; rank++)
            if (set >> rank & 1) {
                strcpy(procs[n].nspace, me.nspace);
                procs[n++].rank = rank;
            }
        if (n < 2)
            continue;
        if (set >> me.rank & 1)
            need(PMIx_Fence(procs, n, NULL, 0) == PMIX_SUCCESS, "some meet");
        if (++done == many / 2)
            half = host_kib();
    }
    need(meet(UINT32_MAX) == PMIX_SUCCESS, "all meet again");
    if (me.rank < 2)
        printf("%u: %ld KiB\n", me.rank, host_kib() - half);
}

/* Comes back where it is another one that dies. */
static void die(char **args)
{
    pmix_proc_t other = {.rank = args[1] && args[2] ? (uint32_t)strtoul(args[2], NULL, 10) : 0};
    strcpy(other.nspace, me.nspace);
    if (!strcmp(args[1], "kill"))
        raise(SIGKILL);
    if (!strcmp(args[1], "finalized")) {
        PMIx_Finalize(NULL, 0);
        exit(3);
    }
    if (strcmp(args[1], "abort") != 0)
        exit((int)strtol(args[1], NULL, 10));
    need(PMIx_Abort(9, "enough", &other, 1) == PMIX_SUCCESS, "an abort is asked for");
}

static uint32_t dead_of(char **args)
{
    return (uint32_t)strtoul(!strcmp(args[1], "abort") ? args[2] : args[0], NULL, 10);
}

static void meet_without(uint32_t dead)
{
    if (me.rank == dead)
        pause();
    need(await(&heard, 1, PATIENCE), "a death is heard of");
    need(meet(dead) == PMIX_SUCCESS, "the others meet");
    need(PMIx_Finalize(NULL, 0) == PMIX_SUCCESS, "it ends well");
    exit(0);
}

static void hear_of_death(char **args)
{
    need(meet(UINT32_MAX) == PMIX_SUCCESS, "all listen");
    if (me.rank == strtoul(args[0], NULL, 10))
        die(args);
    meet_without(dead_of(args));
}

static void hear_last(char **args)
{
    signal(SIGTERM, SIG_IGN);
    need(meet(UINT32_MAX) == PMIX_SUCCESS, "all listen");
    if (me.rank == strtoul(args[0], NULL, 10))
        die(args);
    fprintf(stderr, "%u: listens\n", me.rank);
    need(await(&heard, 1, PATIENCE), "a death is heard of");
    exit(0);
}

static bool fence_fails(const pmix_proc_t *all)
{
    pmix_status_t status = PMIx_Fence(all, 1, NULL, 0);
    return status != PMIX_SUCCESS || fence_may_succeed(status);
}

static void wait_for_dead(char **args)
{
    pmix_status_t status;
    pmix_proc_t all = {.rank = PMIX_RANK_WILDCARD};
    strcpy(all.nspace, me.nspace);
    need(meet(UINT32_MAX) == PMIX_SUCCESS, "all listen");
    if (me.rank == strtoul(args[0], NULL, 10)) {
        usleep(200000);
        die(args);
    }
    if (me.rank == dead_of(args))
        pause();
    if (strcmp(args[1], "finalized") != 0 || !fence_waits_for_finalized())
        need(fence_fails(&all), "a fence with a dead one fails");
    need(await(&heard, 1, PATIENCE), "a death is heard of");
    need(fence_fails(&all), "a later one fails");
    status = meet(UINT32_MAX);
    need(status != PMIX_SUCCESS || fence_may_succeed(status), "one that lists it fails");
    meet_without(dead_of(args));
}

static void got_signal(int number)
{
    char line[64];
    int len = snprintf(line, sizeof(line), "%u: signal %d\n", me.rank, number);
    if (write(1, line, (size_t)len) < 0)
        _exit(4);
}

static void controlled(pmix_status_t status, pmix_info_t infos[], size_t ninfos, void *data,
                       pmix_release_cbfunc_t release, void *release_data)
{
    (void)infos, (void)ninfos, (void)data;
    answer = status;
    if (release)
        release(release_data);
    count(&answered);
}

static pmix_status_t ask(const pmix_proc_t *target, pmix_info_t *info)
{
    unsigned before = answered;
    pmix_status_t status = PMIx_Job_control_nb(target, target != NULL, info, 1, controlled, NULL);
    if (status != PMIX_SUCCESS)
        return status;
    need(await(&answered, before + 1, PATIENCE), "it is answered");
    return answer;
}

static double now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

static void notice(double patience)
{
    double begin = now(), last = begin;
    for (double at = begin; at - begin < patience; last = at) {
        usleep(10000);
        at = now();
        if (at - last < 0.4)
            continue;
        printf("%u: stopped\n", me.rank);
        return;
    }
}

static void stop(char **args)
{
    pmix_proc_t target = {.rank = (uint32_t)strtoul(args[0], NULL, 10)};
    pmix_info_t info = {.value.type = PMIX_BOOL, .value.data.flag = true};
    strcpy(target.nspace, me.nspace);
    need(meet(UINT32_MAX) == PMIX_SUCCESS, "all are there");
    if (me.rank == 0) {
        usleep(100000);
        strcpy(info.key, PMIX_JOB_CTRL_PAUSE);
        need(ask(&target, &info) == PMIX_SUCCESS, "it is paused");
        usleep(500000);
        strcpy(info.key, PMIX_JOB_CTRL_RESUME);
        need(ask(&target, &info) == PMIX_SUCCESS, "it is resumed");
    } else {
        notice(me.rank == target.rank ? PATIENCE : 1);
    }
}

static void ignore_answer(pmix_status_t status, void *data)
{
    (void)status, (void)data;
}

/* Open MPI 6 exits without waiting for the answer when it cannot start. */
static void speak(char **args)
{
    static pmix_info_t info;
    FILE *file = fopen(args[0], "w");
    need(file && fprintf(file, "%d\n", (int)getppid()) > 0 && fclose(file) == 0, "a file");
    put_text(&info, PMIX_LOG_STDERR, (char *)"last words\n");
    kill(getppid(), SIGSTOP);
    need(PMIx_Log_nb(&info, 1, NULL, 0, ignore_answer, NULL) == PMIX_SUCCESS, "a line is logged");
    usleep(100000); /* it is sent */
    _exit(3);
}

static void control(char **args)
{
    char key[64];
    pmix_proc_t target = {.rank = (uint32_t)strtoul(args[0], NULL, 10)};
    pmix_info_t info = {.value.type = PMIX_BOOL, .value.data.flag = true};
    snprintf(key, sizeof(key), "pmix.jctrl.%s",
             !strcmp(args[1], "signal")      ? "sig"
             : !strcmp(args[1], "terminate") ? "term"
                                             : args[1]);
    strcpy(info.key, key);
    strcpy(target.nspace, args[0][0] == '?' ? "nobody" : me.nspace);
    if (args[2])
        info.value =
            (pmix_value_t){.type = PMIX_INT, .data.integer = (int)strtol(args[2], NULL, 10)};
    bool all = !strcmp(args[0], "all");
    signal(SIGUSR1, got_signal);
    need(meet(UINT32_MAX) == PMIX_SUCCESS, "all listen");
    if (me.rank == 0) {
        printf("%s\n", status_name(ask(all ? NULL : &target, &info)));
        fflush(stdout);
    }
    await(&heard, 2, 1);
}

static const struct {
    const char *name;
    void (*run)(char **args);
} scenarios[] = {
    {"tell", tell},           {"flood", flood},    {"die", hear_of_death},
    {"fence", wait_for_dead}, {"last", hear_last}, {"control", control},
    {"stop", stop},           {"speak", speak},    {"fences", fences},
};

static void leave(int number)
{
    (void)number;
    _exit(0);
}

int main(int argc, char **argv)
{
    pmix_proc_t job = {.rank = PMIX_RANK_WILDCARD};
    pmix_value_t *value = NULL;
    need(argc > 2, "a scenario and its arguments");
    if (getenv("CALM"))
        signal(SIGTERM, leave);
    need(PMIx_Init(&me, NULL, 0) == PMIX_SUCCESS, "PMIx starts");
    strcpy(job.nspace, me.nspace);
    need(PMIx_Get(&job, PMIX_JOB_SIZE, NULL, 0, &value) == PMIX_SUCCESS, "there is a size");
    size = value->data.uint32;
    listen();
    for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++)
        if (!strcmp(argv[1], scenarios[i].name))
            scenarios[i].run(argv + 2);
    need(PMIx_Finalize(NULL, 0) == PMIX_SUCCESS, "it ends well");
    return 0;
}
