/* A task of test-pmix: pmix-client SCENARIO; exits 0 when all was as it should be. */
#include <pmix.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/unit/pmix-leaks.h"

static pmix_proc_t me;
static uint32_t size;

#define NEED(condition) need(condition, #condition, __LINE__)

static void need(bool good, const char *what, int line)
{
    if (good)
        return;
    fprintf(stderr, "pmix-client: rank %u, line %d: not so: %s\n", me.rank, line, what);
    exit(1);
}

/* ---- values ---- */

static pmix_value_t *get(uint32_t rank, const char *key)
{
    pmix_proc_t proc = {.rank = rank};
    pmix_value_t *value = NULL;
    strcpy(proc.nspace, me.nspace);
    pmix_status_t status = PMIx_Get(&proc, key, NULL, 0, &value);
    if (status == PMIX_SUCCESS)
        return value;
    fprintf(stderr, "pmix-client: rank %u: %s of %d: %s\n", me.rank, key, (int)rank,
            PMIx_Error_string(status));
    exit(1);
}

static uint32_t get_number(uint32_t rank, const char *key)
{
    pmix_value_t *value = get(rank, key);
    pmix_status_t status;
    uint32_t number = UINT32_MAX;
    PMIX_VALUE_GET_NUMBER(status, value, number, uint32_t);
    NEED(status == PMIX_SUCCESS);
    return number;
}

static const char *get_text(uint32_t rank, const char *key)
{
    pmix_value_t *value = get(rank, key);
    NEED(value->type == PMIX_STRING);
    return value->data.string;
}

static void put_name(void)
{
    char text[32];
    pmix_value_t value = {.type = PMIX_STRING, .data.string = text};
    snprintf(text, sizeof(text), "card of %u", me.rank);
    NEED(PMIx_Put(PMIX_GLOBAL, "card", &value) == PMIX_SUCCESS);
    NEED(PMIx_Commit() == PMIX_SUCCESS);
}

static void check_name(uint32_t rank)
{
    char text[32];
    snprintf(text, sizeof(text), "card of %u", rank);
    NEED(!strcmp(get_text(rank, "card"), text));
}

static void fence(uint32_t first, uint32_t count, bool collect)
{
    pmix_proc_t procs[64] = {0};
    pmix_info_t info = {.value.type = PMIX_BOOL, .value.data.flag = true};
    strcpy(info.key, PMIX_COLLECT_DATA);
    for (uint32_t i = 0; i < count; i++) {
        strcpy(procs[i].nspace, me.nspace);
        procs[i].rank = first + i;
    }
    NEED(PMIx_Fence(count ? procs : NULL, count, collect ? &info : NULL, collect) == PMIX_SUCCESS);
}

/* ---- scenarios ---- */

static void everybody(void)
{
    put_name();
    fence(0, 0, true);
    for (uint32_t rank = 0; rank < size; rank++)
        check_name(rank);
    for (int i = 0; i < 20; i++)
        fence(0, 0, false);
}

/* The middle two of four, then all. */
static void some(void)
{
    put_name();
    if (me.rank == 1 || me.rank == 2) {
        fence(1, 2, true);
        check_name(3 - me.rank);
        fence(1, 2, false);
    }
    fence(0, size, false);
}

/* Nobody collects: what is asked for comes from where it is. */
static void modex(void)
{
    if (me.rank == 0)
        usleep(100000); /* who asks first waits for the commit */
    put_name();
    for (uint32_t rank = 0; rank < size; rank++)
        check_name(rank);
    fence(0, 0, false);
}

static void put(pmix_scope_t scope, const char *key)
{
    pmix_value_t value = {.type = PMIX_STRING, .data.string = (char *)key};
    NEED(PMIx_Put(scope, key, &value) == PMIX_SUCCESS);
    NEED(PMIx_Commit() == PMIX_SUCCESS);
}

static double seconds(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

/* The last rank is on the other node of two. There was a commit before what is asked for is put. */
static void modex_late(void)
{
    put(PMIX_GLOBAL, "early");
    fence(0, 0, true);
    if (me.rank == 0) {
        double at = seconds();
        NEED(!strcmp(get_text(size - 1, "late"), "late"));
        NEED(seconds() - at > 0.2);
    } else if (me.rank == size - 1) {
        usleep(300000);
        put(PMIX_GLOBAL, "late");
    }
    fence(0, 0, false);
}

/* Not for other nodes, or of no task at all: that takes no time, and the time for a key. */
static void modex_not_there(void)
{
    static const struct {
        const char *key;
        double from, to;
    } cases[] = {{"private", 0, 1}, {"no such key", 1.9, 5}};
    pmix_proc_t proc = {.rank = size - 1};
    strcpy(proc.nspace, me.nspace);
    put(PMIX_LOCAL, "private");
    put(PMIX_GLOBAL, "early");
    fence(0, 0, true);
    for (int i = 0; i < 2 && me.rank == 0; i++) {
        pmix_value_t *value = NULL;
        double at = seconds();
        NEED(PMIx_Get(&proc, cases[i].key, NULL, 0, &value) == PMIX_ERR_NOT_FOUND);
        NEED(seconds() - at >= cases[i].from && seconds() - at < cases[i].to);
    }
    fence(0, 0, false);
}

/* The type is what the standard has, or what openpmix's own tests have. */
static void modex_never(pmix_data_type_t type)
{
    pmix_proc_t proc = {.rank = size - 1};
    pmix_info_t info = {.value.type = type, .value.data.integer = 1};
    pmix_value_t *value = NULL;
    strcpy(info.key, PMIX_TIMEOUT);
    strcpy(proc.nspace, me.nspace);
    if (me.rank == 0)
        NEED(PMIx_Get(&proc, "never", &info, 1, &value) == PMIX_ERR_TIMEOUT);
    fence(0, 0, false);
}

static void modex_never_int(void)
{
    modex_never(PMIX_INT);
}

static void modex_never_uint32(void)
{
    modex_never(PMIX_UINT32);
}

static void text_of(const char *key, pmix_data_type_t type, const char *text, size_t len)
{
    pmix_info_t info = {.value.type = type};
    strcpy(info.key, key);
    if (type == PMIX_STRING)
        info.value.data.string = (char *)text;
    else
        info.value.data.bo = (pmix_byte_object_t){(char *)text, len};
    NEED(PMIx_Log(&info, 1, NULL, 0) == PMIX_SUCCESS);
}

static void say(void)
{
    static const char packed[] = "\0\0\0\7\1a message\0\0\2in two parts\n";
    if (me.rank == 0) {
        text_of(PMIX_LOG_STDERR, PMIX_STRING, "to stderr", 0);
        text_of(PMIX_LOG_STDOUT, PMIX_STRING, "to stdout\n", 0);
        text_of("pmix.log.msg", PMIX_BYTE_OBJECT, packed, sizeof(packed));
    }
    fence(0, 0, false);
}

static void give_up(void)
{
    if (me.rank == 1)
        PMIx_Abort(7, "enough", NULL, 0);
    else
        fence(0, 0, false);
}

static void die(void)
{
    if (me.rank == 1)
        raise(SIGKILL);
    fence(0, 0, false);
}

/* Rank 1 is not there. */
static void leave(void)
{
    put_name();
    fence(0, 0, true);
}

static void leave_others(void)
{
    if (me.rank > 1)
        fence(2, 2, false);
}

/* Rank 1 finalizes and is gone; then the others have a fence. */
static void finish_early(void)
{
    pmix_value_t value = {.type = PMIX_UINT32, .data.uint32 = (uint32_t)getpid()};
    NEED(PMIx_Put(PMIX_GLOBAL, "pid", &value) == PMIX_SUCCESS && PMIx_Commit() == PMIX_SUCCESS);
    fence(0, 0, true);
    if (me.rank == 1)
        return;
    pid_t other = (pid_t)get_number(1, "pid");
    while (kill(other, 0) == 0)
        usleep(10000);
    usleep(200000); /* and everybody has heard of it */
    fence(0, 0, false);
}

static void finish_in_turn(void)
{
    put_name();
    fence(0, 0, true);
    usleep(me.rank * 100000);
}

/* tests/unit/test-pmix.c: four ranks of two apps, on "hosta" and, where there are two, "hostb". */
static void facts(void)
{
    uint32_t nnodes = get_number(PMIX_RANK_WILDCARD, PMIX_NUM_NODES), per = size / nnodes;
    uint32_t node = me.rank / per;
    char peers[32] = "", cpus[32];
    for (uint32_t i = 0; i < per; i++)
        sprintf(peers + strlen(peers), "%s%u", i ? "," : "", node * per + i);
    NEED(get_number(PMIX_RANK_WILDCARD, PMIX_UNIV_SIZE) == 10);
    NEED(get_number(PMIX_RANK_WILDCARD, PMIX_MAX_PROCS) == size);
    NEED(get_number(PMIX_RANK_WILDCARD, PMIX_JOB_NUM_APPS) == 2);
    NEED(get_number(PMIX_RANK_WILDCARD, PMIX_LOCAL_SIZE) == per);
    NEED(!strcmp(get_text(PMIX_RANK_WILDCARD, PMIX_LOCAL_PEERS), peers));
    NEED(!strcmp(get_text(PMIX_RANK_WILDCARD, PMIX_JOBID), me.nspace));
    for (uint32_t rank = 0; rank < size; rank++) {
        if (rank / per == node) /* of others openpmix 4.2 does not find it, whatever it was told */
            NEED(get_number(rank, PMIX_NODEID) == node);
        NEED(get_number(rank, PMIX_LOCAL_RANK) == rank % per);
        NEED(get_number(rank, PMIX_NODE_RANK) == rank % per);
        NEED(!strcmp(get_text(rank, PMIX_HOSTNAME), rank / per ? "hostb" : "hosta"));
    }
    NEED(get_number(me.rank, PMIX_APPNUM) == (me.rank > 0));
    NEED(get_number(me.rank, PMIX_APP_RANK) == (me.rank ? me.rank - 1 : 0));
    NEED(get_number(me.rank, PMIX_GLOBAL_RANK) == me.rank);
    sprintf(cpus, "hwloc:%u", me.rank % per % 2);
    NEED(!strcmp(get_text(me.rank, PMIX_CPUSET), cpus));
    NEED(strchr(get_text(me.rank, PMIX_LOCALITY_STRING), ':') != NULL);
}

static const struct {
    const char *name;
    void (*run)(void);
} scenarios[] = {
    {"everybody", everybody},
    {"some", some},
    {"modex", modex},
    {"modex-late", modex_late},
    {"modex-not-there", modex_not_there},
    {"modex-never-int", modex_never_int},
    {"modex-never-uint32", modex_never_uint32},
    {"say", say},
    {"give-up", give_up},
    {"die", die},
    {"facts", facts},
    {"leave", leave},
    {"leave-late", leave},
    {"leave-others", leave_others},
    {"finish-early", finish_early},
    {"finish-in-turn", finish_in_turn},
};

int main(int argc, char **argv)
{
    NEED(argc == 2);
    const char *rank = getenv("PMIX_RANK");
    if (!strcmp(argv[1], "silent"))
        return 0;
    if (rank && !strcmp(rank, "1") && !strncmp(argv[1], "leave", 5)) {
        usleep(!strcmp(argv[1], "leave-late") ? 300000 : 0);
        return 0;
    }
    NEED(PMIx_Init(&me, NULL, 0) == PMIX_SUCCESS);
    size = get_number(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE);
    for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++)
        if (!strcmp(argv[1], scenarios[i].name))
            scenarios[i].run();
    NEED(PMIx_Finalize(NULL, 0) == PMIX_SUCCESS);
    return 0;
}
