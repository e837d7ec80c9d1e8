/* A task of one of two jobs of test-pmix: pmix-client-jobs SCENARIO; exits 0 when all was as it
 * should be. */
#include <pmix.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/unit/pmix-leaks.h"
#include "tests/programs/pmix-versions.h"

static pmix_proc_t me;
static pmix_nspace_t other;
static bool first; /* of the two jobs */

#define SIZE 2 /* of each */
#define NEED(condition) need(condition, #condition, __LINE__)
#define GOOD(call) good(call, #call, __LINE__)

static void need(bool so, const char *what, int line)
{
    if (so)
        return;
    fprintf(stderr, "pmix-client-jobs: %s.%u, line %d: not so: %s\n", me.nspace, me.rank, line,
            what);
    exit(1);
}

static void good(pmix_status_t status, const char *what, int line)
{
    if (status != PMIX_SUCCESS)
        fprintf(stderr, "%s: ", PMIx_Error_string(status));
    need(status == PMIX_SUCCESS, what, line);
}

/* ---- values ---- */

static pmix_proc_t proc_of(const char *job, uint32_t rank)
{
    pmix_proc_t proc = {.rank = rank};
    strcpy(proc.nspace, job);
    return proc;
}

static pmix_value_t *get(const char *job, uint32_t rank, const char *key)
{
    pmix_proc_t proc = proc_of(job, rank);
    pmix_value_t *value = NULL;
    pmix_status_t status = PMIx_Get(&proc, key, NULL, 0, &value);
    if (status == PMIX_SUCCESS)
        return value;
    fprintf(stderr, "pmix-client-jobs: %s.%u: %s of %s.%d: %s\n", me.nspace, me.rank, key, job,
            (int)rank, PMIx_Error_string(status));
    exit(1);
}

static bool is_number(const char *job, uint32_t rank, const char *key, uint32_t wanted)
{
    pmix_status_t status;
    uint32_t number = UINT32_MAX;
    PMIX_VALUE_GET_NUMBER(status, get(job, rank, key), number, uint32_t);
    return status == PMIX_SUCCESS && number == wanted;
}

static bool is_text(const char *job, uint32_t rank, const char *key, const char *wanted)
{
    const pmix_value_t *value = get(job, rank, key);
    if (value->type == PMIX_STRING && !strcmp(value->data.string, wanted))
        return true;
    fprintf(stderr, "%s of %s.%d: \"%s\", not \"%s\"\n", key, job, (int)rank,
            value->type == PMIX_STRING ? value->data.string : "?", wanted);
    return false;
}

static void put_card(void)
{
    char text[64];
    pmix_value_t value = {.type = PMIX_STRING, .data.string = text};
    snprintf(text, sizeof(text), "card of %.40s.%u", me.nspace, me.rank);
    GOOD(PMIx_Put(PMIX_GLOBAL, "card", &value));
    GOOD(PMIx_Commit());
}

static void check_cards(void)
{
    char text[64];
    for (uint32_t rank = 0; rank < SIZE; rank++) {
        snprintf(text, sizeof(text), "card of %.40s.%u", other, rank);
        NEED(is_text(other, rank, "card", text));
    }
}

static pmix_info_t flag(const char *key)
{
    pmix_info_t info = {.value.type = PMIX_BOOL, .value.data.flag = true};
    strcpy(info.key, key);
    return info;
}

static pmix_info_t seconds(int count)
{
    pmix_info_t info = {.value.type = PMIX_INT, .value.data.integer = count};
    strcpy(info.key, PMIX_TIMEOUT);
    return info;
}

/* ---- both jobs ---- */

static void both(pmix_proc_t procs[2])
{
    procs[first] = proc_of(other, PMIX_RANK_WILDCARD); /* in another order each */
    procs[!first] = proc_of(me.nspace, PMIX_RANK_WILDCARD);
}

static void fence(bool collect)
{
    pmix_proc_t procs[2];
    pmix_info_t info = flag(PMIX_COLLECT_DATA);
    both(procs);
    GOOD(PMIx_Fence(procs, 2, collect ? &info : NULL, collect));
}

static void check_nodes(void)
{
    char *nodes = NULL;
    GOOD(PMIx_Resolve_nodes(other, &nodes));
    bool apart = is_number(me.nspace, PMIX_RANK_WILDCARD, PMIX_NUM_NODES, 1);
    NEED(!strcmp(nodes, !apart ? "hosta,hostb" : first ? "hostb" : "hosta"));
}

/* What is known of the other job. */
static void check_facts(void)
{
    NEED(is_number(other, PMIX_RANK_WILDCARD, PMIX_JOB_SIZE, SIZE));
    NEED(is_number(other, PMIX_RANK_WILDCARD, PMIX_JOB_NUM_APPS, 2));
    NEED(is_text(other, PMIX_RANK_WILDCARD, PMIX_JOBID, other));
}

/* Where single tasks of it are openpmix 4.2 tells of what has tasks on the same node alone. */
static void check_places(void)
{
    pmix_proc_t *procs = NULL;
    size_t nprocs = 0;
    if (is_number(me.nspace, PMIX_RANK_WILDCARD, PMIX_NUM_NODES, 1))
        return;
    NEED(is_text(other, 1, PMIX_HOSTNAME, "hostb"));
    NEED(is_number(other, 1, PMIX_LOCAL_RANK, 0));
    GOOD(PMIx_Resolve_peers("hostb", other, &procs, &nprocs));
    NEED(nprocs == 1 && procs[0].rank == 1 && !strcmp(procs[0].nspace, other));
}

static void connect_jobs(void)
{
    pmix_proc_t procs[2];
    both(procs);
    put_card();
    for (int i = 0; i < 3; i++) {
        GOOD(PMIx_Connect(procs, 2, NULL, 0));
        check_facts();
        check_places();
        check_cards();
        check_nodes();
        GOOD(PMIx_Disconnect(procs, 2, NULL, 0));
    }
}

static void connect_some(void)
{
    pmix_proc_t procs[2] = {proc_of(me.nspace, me.rank), proc_of(other, me.rank)};
    put_card();
    GOOD(PMIx_Connect(procs, 2, NULL, 0));
    check_facts();
    GOOD(PMIx_Disconnect(procs, 2, NULL, 0));
    fence(false);
}

static void fences(void)
{
    put_card();
    fence(true);
    check_cards();
    for (int i = 0; i < 20; i++)
        fence(false);
}

static volatile bool released;

static void release(pmix_status_t status, void *cbdata)
{
    *(pmix_status_t *)cbdata = status;
    released = true;
}

static void fence_nb(void)
{
    pmix_proc_t procs[2];
    pmix_status_t status = PMIX_ERROR;
    both(procs);
    put_card();
    GOOD(PMIx_Fence_nb(procs, 2, NULL, 0, release, &status));
    GOOD(PMIx_Fence(NULL, 0, NULL, 0)); /* of one job, meanwhile */
    while (!released)
        usleep(1000);
    GOOD(status);
    check_cards();
    fence(false); /* nobody leaves before */
}

/* Nobody is connected. */
static void modex(void)
{
    pmix_proc_t nobody = proc_of("tprun.job.9", 0), beyond = proc_of(other, SIZE);
    pmix_value_t *value = NULL;
    if (first && me.rank == 0)
        usleep(100000); /* who asks first waits for the commit */
    put_card();
    check_cards();
    check_facts();
    NEED(PMIx_Get(&nobody, "card", NULL, 0, &value) != PMIX_SUCCESS);
    nobody.rank = PMIX_RANK_WILDCARD;
    NEED(PMIx_Get(&nobody, PMIX_JOB_SIZE, NULL, 0, &value) != PMIX_SUCCESS);
    NEED(PMIx_Get(&beyond, "card", NULL, 0, &value) != PMIX_SUCCESS);
    fence(false);
}

static void modex_never(void)
{
    pmix_proc_t proc = proc_of(other, 1);
    pmix_info_t info = seconds(1);
    pmix_value_t *value = NULL;
    if (first)
        NEED(PMIx_Get(&proc, "never", &info, 1, &value) == PMIX_ERR_TIMEOUT);
    fence(false);
}

/* ---- who does not come ---- */

/* openpmix 4.2 cannot count the time of a connect of two tasks of one node. */
static void too_late(void)
{
    pmix_proc_t procs[2], one[2] = {proc_of(me.nspace, 0), proc_of(other, 0)};
    pmix_info_t info = seconds(1);
    both(procs);
    if (first && me.rank == 0)
        NEED(PMIx_Connect(one, 2, &info, 1) == PMIX_ERR_TIMEOUT);
    fence(false);
    if (first) {
        pmix_status_t status = PMIx_Fence(procs, 2, &info, 1);
        NEED(status == PMIX_ERR_TIMEOUT || fence_may_succeed(status));
    } else {
        sleep(2);
    }
    GOOD(PMIx_Connect(procs, 2, NULL, 0)); /* the next is whole again */
}

static void left(void)
{
    pmix_proc_t procs[2];
    both(procs);
    if (!first)
        return;
    NEED(PMIx_Connect(procs, 2, NULL, 0) != PMIX_SUCCESS);
    pmix_status_t status = PMIx_Fence(procs, 2, NULL, 0); /* at once */
    NEED(status != PMIX_SUCCESS || fence_may_succeed(status));
}

static void killed(void)
{
    pmix_proc_t procs[2];
    both(procs);
    if (!first && me.rank == 0) {
        usleep(300000); /* all others wait */
        raise(SIGKILL);
    }
    NEED(PMIx_Connect(procs, 2, NULL, 0) != PMIX_SUCCESS);
}

static void nobody(void)
{
    pmix_proc_t procs[2] = {proc_of(me.nspace, PMIX_RANK_WILDCARD),
                            proc_of("tprun.job.9", PMIX_RANK_WILDCARD)};
    NEED(PMIx_Connect(procs, 2, NULL, 0) == PMIX_ERR_NOT_FOUND);
    procs[1] = proc_of(other, SIZE);
    NEED(PMIx_Connect(procs, 2, NULL, 0) == PMIX_ERR_NOT_FOUND);
    fence(false);
}

/* ---- groups ---- */

struct group {
    size_t number;
    const pmix_proc_t *members;
    size_t nmembers;
};

static struct group construct_of(const char *name, const pmix_proc_t *procs, size_t nprocs,
                                 const pmix_info_t *infos, size_t ninfos)
{
    struct group group = {0};
    pmix_info_t *results = NULL;
    size_t nresults = 0;
    GOOD(PMIx_Group_construct(name, procs, nprocs, infos, ninfos, &results, &nresults));
    for (size_t i = 0; i < nresults; i++)
        if (!strcmp(results[i].key, PMIX_GROUP_CONTEXT_ID)) {
            group.number = results[i].value.data.size;
        } else if (!strcmp(results[i].key, PMIX_GROUP_MEMBERSHIP)) {
            group.members = results[i].value.data.darray->array;
            group.nmembers = results[i].value.data.darray->size;
        }
    NEED(group.number != 0 && group.number != SIZE_MAX);
    return group;
}

static size_t construct(const char *name)
{
    pmix_proc_t procs[2];
    pmix_info_t info = flag(PMIX_GROUP_ASSIGN_CONTEXT_ID);
    both(procs);
    if (group_needs_known_jobs())
        GOOD(PMIx_Connect(procs, 2, NULL, 0));
    return construct_of(name, procs, 2, &info, 1).number;
}

static void put_number(const char *key, size_t number)
{
    pmix_value_t value = {.type = PMIX_SIZE, .data.size = number};
    GOOD(PMIx_Put(PMIX_GLOBAL, key, &value));
    GOOD(PMIx_Commit());
}

static void group(void)
{
    put_card();
    size_t number = construct("a group");
    check_cards();
    put_number("number", number);
    fence(true);
    for (uint32_t rank = 0; rank < SIZE; rank++)
        NEED(get(other, rank, "number")->data.size == number);
    pmix_proc_t proc = proc_of("a group", PMIX_RANK_WILDCARD);
    if (fence_takes_groups())
        GOOD(PMIx_Fence(&proc, 1, NULL, 0));
    GOOD(PMIx_Group_destruct("a group", NULL, 0));
    NEED(construct("another") != number);
    if (first && me.rank == SIZE - 1)
        usleep(200000); /* all others may be over by then */
    GOOD(PMIx_Group_destruct("another", NULL, 0));
}

/* Each gives all others a text, which each of them has from its own server. */
static pmix_info_t gift(pmix_data_array_t *array, pmix_info_t *info)
{
    static char text[64];
    pmix_info_t given = {.value.type = PMIX_DATA_ARRAY, .value.data.darray = array};
    snprintf(text, sizeof(text), "gift of %.40s.%u", me.nspace, me.rank);
    *info = (pmix_info_t){.value.type = PMIX_STRING, .value.data.string = text};
    strcpy(info->key, "gift");
    *array = (pmix_data_array_t){.type = PMIX_INFO, .size = 1, .array = info};
    strcpy(given.key, PMIX_GROUP_INFO);
    return given;
}

static void check_gift(const char *job, uint32_t rank, size_t number)
{
    char text[64];
    pmix_proc_t proc = proc_of(job, rank);
    pmix_value_t *value = NULL;
    pmix_info_t infos[] = {{.value.type = PMIX_SIZE, .value.data.size = number},
                           flag(PMIX_OPTIONAL)};
    strcpy(infos[0].key, PMIX_GROUP_CONTEXT_ID);
#if PMIX_NUMERIC_VERSION >= 0x00060000
    PMIX_INFO_SET_QUALIFIER(&infos[0]);
#endif
    GOOD(PMIx_Get(&proc, "gift", infos, 2, &value));
    snprintf(text, sizeof(text), "gift of %.40s.%u", job, rank);
    NEED(value->type == PMIX_STRING && !strcmp(value->data.string, text));
}

/* All tasks of both jobs, each once, the same on all nodes. */
static void check_members(const struct group *group)
{
    NEED(group->nmembers == 2 * SIZE);
    for (uint32_t i = 0; i < 2 * SIZE; i++) {
        const pmix_proc_t *proc = &group->members[i];
        const char *job = (strcmp(me.nspace, other) < 0) == (i < SIZE) ? me.nspace : other;
        NEED(!strcmp(proc->nspace, job) && proc->rank == i % SIZE);
    }
    for (uint32_t rank = 0; rank < SIZE; rank++) {
        check_gift(me.nspace, rank, group->number);
        check_gift(other, rank, group->number);
    }
}

/* All have come to know of all, and can use what they have. */
static void use_group(const char *name, const struct group *group)
{
    pmix_proc_t proc = proc_of(name, PMIX_RANK_WILDCARD);
    check_members(group);
    NEED(is_number(other, PMIX_RANK_WILDCARD, PMIX_JOB_SIZE, SIZE));
    check_cards();
    put_number(name, group->number);
    GOOD(PMIx_Fence(&proc, 1, NULL, 0));
    for (uint32_t rank = 0; rank < SIZE; rank++)
        NEED(get(other, rank, name)->data.size == group->number);
    GOOD(PMIx_Group_destruct(name, NULL, 0));
}

static pmix_info_t add(pmix_data_array_t *array, pmix_proc_t *procs, size_t nprocs)
{
    pmix_info_t info = {.value.type = PMIX_DATA_ARRAY, .value.data.darray = array};
    *array = (pmix_data_array_t){.type = PMIX_PROC, .size = nprocs, .array = procs};
    strcpy(info.key, PMIX_GROUP_ADD_MEMBERS);
    return info;
}

/* The first task of each job leads, and brings the other one along. */
static struct group bootstrap(const char *name)
{
    pmix_proc_t follower = proc_of(me.nspace, 1);
    pmix_data_array_t gifts, more;
    pmix_info_t text, infos[4] = {gift(&gifts, &text)};
    if (me.rank > 0)
        return construct_of(name, NULL, 0, infos, 1);
    infos[1] = add(&more, &follower, 1);
    infos[2] = flag(PMIX_GROUP_ASSIGN_CONTEXT_ID);
    infos[3] = (pmix_info_t){.value.type = PMIX_SIZE, .value.data.size = 2};
    strcpy(infos[3].key, "pmix.grp.btstrp");
    return construct_of(name, &me, 1, infos, 4);
}

/* The same, but leaders know each other, and one of them alone knows who follows. */
static struct group bring(const char *name)
{
    pmix_proc_t leaders[] = {proc_of(me.nspace, 0), proc_of(other, 0)};
    pmix_proc_t followers[] = {proc_of(me.nspace, 1), proc_of(other, 1)};
    pmix_data_array_t gifts, more;
    pmix_info_t text, infos[3] = {gift(&gifts, &text)};
    if (me.rank > 0)
        return construct_of(name, NULL, 0, infos, 1);
    infos[1] = flag(PMIX_GROUP_ASSIGN_CONTEXT_ID);
    infos[2] = add(&more, followers, 2);
    return construct_of(name, leaders, 2, infos, first ? 3 : 2);
}

static void followers(void)
{
    put_card();
    struct group group = bootstrap("bootstrapped");
    use_group("bootstrapped", &group);
}

static void added(void)
{
    put_card();
    struct group group = bring("brought");
    use_group("brought", &group);
}

/* How long a gathering takes; one task of each node. */
static void speed(void)
{
    struct timespec from, to;
    fence(false);
    clock_gettime(CLOCK_MONOTONIC, &from);
    for (int i = 0; i < 1000; i++)
        fence(false);
    clock_gettime(CLOCK_MONOTONIC, &to);
    double us = (double)(to.tv_sec - from.tv_sec) * 1e6 + (double)(to.tv_nsec - from.tv_nsec) / 1e3;
    if (first && me.rank == 0)
        printf("a fence of two jobs on two nodes: %.0f us\n", us / 1000);
}

static const struct {
    const char *name;
    void (*run)(void);
} scenarios[] = {
    {"connect", connect_jobs}, {"connect-some", connect_some},
    {"fences", fences},        {"fence-nb", fence_nb},
    {"modex", modex},          {"modex-never", modex_never},
    {"too-late", too_late},    {"left", left},
    {"killed", killed},        {"nobody", nobody},
    {"group", group},          {"speed", speed},
    {"followers", followers},  {"added", added},
};

int main(int argc, char **argv)
{
    NEED(argc == 2);
    GOOD(PMIx_Init(&me, NULL, 0));
    first = me.nspace[strlen(me.nspace) - 1] == '1';
    strcpy(other, first ? "tprun.job.2" : "tprun.job.1");
    size_t i = 0, count = sizeof(scenarios) / sizeof(scenarios[0]);
    while (i < count && strcmp(argv[1], scenarios[i].name) != 0)
        i++;
    NEED(i < count);
    scenarios[i].run();
    GOOD(PMIx_Finalize(NULL, 0));
    return 0;
}
