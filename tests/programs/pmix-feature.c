/*
 * pmix-feature FEATURE - one thing that PMIx clients ask for, between all tasks of the job. Rank 0
 * says "FEATURE of N tasks: right", and the status is 0, where what came of it is right; 1: it is
 * wrong or was refused.
 *   init     PMIx_Init, the job's size, PMIx_Finalize
 *   fence    PMIx_Fence without data
 *   modex    PMIx_Put, PMIx_Commit, PMIx_Fence, PMIx_Get of each rank's
 *   spawn    PMIx_Spawn of two more by rank 0, which meet their parent in PMIx_Connect
 *   connect  PMIx_Connect and PMIx_Disconnect of all ranks
 *   publish  PMIx_Publish, PMIx_Lookup, PMIx_Unpublish
 *   groups   PMIx_Group_construct with a context id, PMIx_Group_destruct
 *   events   PMIx_Notify_event by rank 0, heard by all others
 */
#include <pmix.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pmix-status.h"

#define NEWS (PMIX_EXTERNAL_ERR_BASE - 5)
#define KEY "tprun.feature"

static pmix_proc_t me;
static uint32_t size;
static const char *program;

static int done(pmix_status_t status, const char *call)
{
    if (status == PMIX_SUCCESS)
        return 1;
    fprintf(stderr, "pmix-feature: rank %u: %s: %s\n", me.rank, call, status_name(status));
    return 0;
}

static pmix_proc_t rank_of_job(const char *job, pmix_rank_t rank)
{
    pmix_proc_t proc;
    PMIX_LOAD_PROCID(&proc, job, rank);
    return proc;
}

static int has_size(const char *job, uint32_t *count)
{
    pmix_value_t *value = NULL;
    pmix_proc_t all = rank_of_job(job, PMIX_RANK_WILDCARD);
    if (!done(PMIx_Get(&all, PMIX_JOB_SIZE, NULL, 0, &value), "PMIx_Get of the size"))
        return 0;
    *count = value->data.uint32;
    PMIX_VALUE_RELEASE(value);
    return 1;
}

static int init(void)
{
    return me.rank < size;
}

static int fence(void)
{
    return done(PMIx_Fence(NULL, 0, NULL, 0), "PMIx_Fence");
}

static int has_value(pmix_rank_t rank)
{
    char expected[64];
    pmix_value_t *value = NULL;
    pmix_proc_t proc = rank_of_job(me.nspace, rank);
    snprintf(expected, sizeof(expected), "of rank %u", rank);
    if (!done(PMIx_Get(&proc, KEY, NULL, 0, &value), "PMIx_Get"))
        return 0;
    int right = value->type == PMIX_STRING && !strcmp(value->data.string, expected);
    PMIX_VALUE_RELEASE(value);
    return right;
}

static int modex(void)
{
    char text[64];
    pmix_value_t value = {.type = PMIX_STRING, .data.string = text};
    bool collect = true;
    pmix_info_t info;
    snprintf(text, sizeof(text), "of rank %u", me.rank);
    PMIX_INFO_LOAD(&info, PMIX_COLLECT_DATA, &collect, PMIX_BOOL);
    if (!done(PMIx_Put(PMIX_GLOBAL, KEY, &value), "PMIx_Put") ||
        !done(PMIx_Commit(), "PMIx_Commit") || !done(PMIx_Fence(NULL, 0, &info, 1), "PMIx_Fence"))
        return 0;
    int right = 1;
    for (uint32_t rank = 0; rank < size; rank++)
        right &= has_value(rank);
    return right;
}

/* Both sides of a spawn: rank 0 of the parents, and the children, who are two. Their number is asked for while all are
 * connected. openpmix 4.2 to now: PMIx_Disconnect() deletes what the client has been told of other namespaces, and the
 * server knows the children only until they have ended. */
static int meet(const char *parents, const char *children)
{
    pmix_proc_t both[2] = {rank_of_job(parents, 0), rank_of_job(children, PMIX_RANK_WILDCARD)};
    uint32_t count = 0;
    return done(PMIx_Connect(both, 2, NULL, 0), "PMIx_Connect") && has_size(children, &count) &&
           count == 2 && done(PMIx_Disconnect(both, 2, NULL, 0), "PMIx_Disconnect");
}

static int spawn(void)
{
    pmix_app_t app;
    pmix_nspace_t children;
    if (me.rank != 0)
        return 1;
    PMIX_APP_CONSTRUCT(&app);
    app.cmd = strdup(program);
    app.argv = calloc(3, sizeof(*app.argv));
    app.argv[0] = strdup(program);
    app.argv[1] = strdup("spawned");
    app.maxprocs = 2;
    int right =
        done(PMIx_Spawn(NULL, 0, &app, 1, children), "PMIx_Spawn") && meet(me.nspace, children);
    PMIX_APP_DESTRUCT(&app);
    return right;
}

static int spawned(void)
{
    pmix_value_t *value = NULL;
    if (!done(PMIx_Get(&me, PMIX_PARENT_ID, NULL, 0, &value), "PMIx_Get of the parent"))
        return 0;
    int right = meet(value->data.proc->nspace, me.nspace);
    PMIX_VALUE_RELEASE(value);
    return right;
}

static int connect_all(void)
{
    pmix_proc_t all = rank_of_job(me.nspace, PMIX_RANK_WILDCARD);
    return done(PMIx_Connect(&all, 1, NULL, 0), "PMIx_Connect") &&
           done(PMIx_Disconnect(&all, 1, NULL, 0), "PMIx_Disconnect");
}

static int look_up(void)
{
    pmix_pdata_t data;
    PMIX_PDATA_CONSTRUCT(&data);
    snprintf(data.key, sizeof(data.key), "%s", KEY);
    int right = done(PMIx_Lookup(&data, 1, NULL, 0), "PMIx_Lookup") &&
                data.value.type == PMIX_STRING && !strcmp(data.value.data.string, "a name");
    PMIX_PDATA_DESTRUCT(&data);
    return right;
}

static int publish(void)
{
    pmix_info_t info;
    char *keys[] = {KEY, NULL};
    PMIX_INFO_LOAD(&info, KEY, "a name", PMIX_STRING);
    int right = me.rank != 0 || done(PMIx_Publish(&info, 1), "PMIx_Publish");
    PMIX_INFO_DESTRUCT(&info);
    if (!fence() || !right)
        return 0;
    right = look_up();
    return fence() && right &&
           (me.rank != 0 || done(PMIx_Unpublish(keys, NULL, 0), "PMIx_Unpublish"));
}

static int groups(void)
{
    pmix_proc_t all = rank_of_job(me.nspace, PMIX_RANK_WILDCARD);
    pmix_info_t info, *results = NULL;
    size_t nresults = 0;
    bool wanted = true;
    int numbered = 0;
    PMIX_INFO_LOAD(&info, PMIX_GROUP_ASSIGN_CONTEXT_ID, &wanted, PMIX_BOOL);
    if (!done(PMIx_Group_construct("tprun-group", &all, 1, &info, 1, &results, &nresults),
              "PMIx_Group_construct"))
        return 0;
    for (size_t i = 0; i < nresults; i++)
        numbered |= PMIX_CHECK_KEY(&results[i], PMIX_GROUP_CONTEXT_ID);
    PMIX_INFO_FREE(results, nresults);
    return done(PMIx_Group_destruct("tprun-group", NULL, 0), "PMIx_Group_destruct") && numbered;
}

static volatile int heard;

static void hear(size_t handler, pmix_status_t status, const pmix_proc_t *source, pmix_info_t *info,
                 size_t ninfo, pmix_info_t *results, size_t nresults,
                 pmix_event_notification_cbfunc_fn_t next, void *arg)
{
    (void)handler, (void)info, (void)ninfo, (void)results, (void)nresults;
    heard = status == NEWS && source->rank == 0;
    if (next)
        next(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, arg);
}

static int events(void)
{
    pmix_status_t news = NEWS;
    bool off = true;
    pmix_info_t info;
    if (PMIx_Register_event_handler(&news, 1, NULL, 0, hear, NULL, NULL) < 0 || !fence())
        return 0;
    PMIX_INFO_LOAD(&info, PMIX_EVENT_NON_DEFAULT, &off, PMIX_BOOL);
    if (me.rank == 0 &&
        !done(PMIx_Notify_event(NEWS, &me, PMIX_RANGE_NAMESPACE, &info, 1, NULL, NULL),
              "PMIx_Notify_event"))
        return 0;
    for (int i = 0; i < 2000 && me.rank != 0 && !heard; i++)
        usleep(5000);
    return fence() && (heard || me.rank == 0);
}

static const struct feature {
    const char *name;
    int (*run)(void);
} features[] = {
    {"init", init},       {"fence", fence},     {"modex", modex},
    {"spawn", spawn},     {"spawned", spawned}, {"connect", connect_all},
    {"publish", publish}, {"groups", groups},   {"events", events},
};

int main(int argc, char *argv[])
{
    int right = -1;
    program = argv[0];
    if (!done(PMIx_Init(&me, NULL, 0), "PMIx_Init") || !has_size(me.nspace, &size))
        return 1;
    for (size_t i = 0; argc > 1 && i < sizeof(features) / sizeof(features[0]); i++)
        if (!strcmp(argv[1], features[i].name))
            right = features[i].run();
    if (right == 1 && me.rank == 0 && strcmp(argv[1], "spawned") != 0)
        printf("%s of %u tasks: right\n", argv[1], size);
    fflush(stdout);
    if (!done(PMIx_Finalize(NULL, 0), "PMIx_Finalize"))
        return 1;
    return right == 1 ? 0 : 1;
}
