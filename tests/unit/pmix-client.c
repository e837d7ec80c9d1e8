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
#include "tests/programs/pmix-versions.h"

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

/* ---- names ---- */

static pmix_info_t option(const char *key, pmix_data_type_t type, int value)
{
    pmix_info_t info = {.value.type = type};
    strcpy(info.key, key);
    if (type == PMIX_DATA_RANGE)
        info.value.data.range = (pmix_data_range_t)value;
    else if (type == PMIX_PERSIST)
        info.value.data.persist = (pmix_persistence_t)value;
    else if (type == PMIX_BOOL)
        info.value.data.flag = value;
    else
        info.value.data.integer = value;
    return info;
}

static pmix_status_t publish_text(const char *key, const char *text, pmix_data_range_t range,
                                  pmix_persistence_t persistence)
{
    pmix_info_t info[] = {{.value = {.type = PMIX_STRING, .data.string = (char *)text}},
                          option(PMIX_RANGE, PMIX_DATA_RANGE, range),
                          option(PMIX_PERSISTENCE, PMIX_PERSIST, persistence)};
    strcpy(info[0].key, key);
    return PMIx_Publish(info, 3);
}

/* What is found, or a status other than success. */
static pmix_status_t look(pmix_pdata_t *data, const char *key, const pmix_info_t *info,
                          size_t ninfo)
{
    memset(data, 0, sizeof(*data));
    strcpy(data->key, key);
    return PMIx_Lookup(data, 1, info, ninfo);
}

static bool finds(const char *key, const char *text)
{
    pmix_pdata_t data;
    pmix_info_t wait[] = {option(PMIX_WAIT, PMIX_BOOL, true), option(PMIX_TIMEOUT, PMIX_INT, 10)};
    pmix_status_t status = look(&data, key, wait, 2);
    bool same = status == PMIX_SUCCESS && data.value.type == PMIX_STRING &&
                !strcmp(data.value.data.string, text);
    PMIX_VALUE_DESTRUCT(&data.value);
    return same;
}

static bool finds_nothing(const char *key)
{
    pmix_pdata_t data;
    return look(&data, key, NULL, 0) == PMIX_ERR_NOT_FOUND;
}

static void publish_kinds(void)
{
    pmix_info_t info[5] = {{.value = {.type = PMIX_STRING, .data.string = (char *)"a text"}},
                           {.value = {.type = PMIX_SIZE, .data.size = 123456789012}},
                           {.value = {.type = PMIX_BYTE_OBJECT, .data.bo = {(char *)"a\0b", 3}}},
                           {.value = {.type = PMIX_PROC, .data.proc = &me}}};
    pmix_data_array_t array = {.type = PMIX_UINT16, .size = 2, .array = (uint16_t[]){7, 8}};
    info[4].value = (pmix_value_t){.type = PMIX_DATA_ARRAY, .data.darray = &array};
    for (int i = 0; i < 5; i++)
        sprintf(info[i].key, "kind%d", i);
    NEED(PMIx_Publish(info, 5) == PMIX_SUCCESS);
    NEED(PMIx_Publish(&info[1], 1) == PMIX_ERR_DUPLICATE_KEY);
    info[0] = option(PMIX_RANGE, PMIX_DATA_RANGE, PMIX_RANGE_LOCAL);
    NEED(PMIx_Publish(info, 1) == PMIX_ERR_BAD_PARAM); /* nothing */
}

static void check_kinds(void)
{
    pmix_pdata_t data[6] = {0};
    for (int i = 0; i < 6; i++)
        sprintf(data[i].key, "kind%d", i);
    NEED(PMIx_Lookup(data, 6, NULL, 0) == PMIX_SUCCESS); /* of what is there */
    for (int i = 0; i < 5; i++)
        NEED(data[i].proc.rank == size - 1 && !strcmp(data[i].proc.nspace, me.nspace));
    NEED(data[0].value.type == PMIX_STRING && !strcmp(data[0].value.data.string, "a text"));
    NEED(data[1].value.type == PMIX_SIZE && data[1].value.data.size == 123456789012);
    NEED(data[2].value.type == PMIX_BYTE_OBJECT && data[2].value.data.bo.size == 3);
    NEED(!memcmp(data[2].value.data.bo.bytes, "a\0b", 3));
    NEED(data[3].value.type == PMIX_PROC && data[3].value.data.proc->rank == size - 1);
    NEED(data[4].value.type == PMIX_DATA_ARRAY && data[4].value.data.darray->size == 2);
    NEED(((uint16_t *)data[4].value.data.darray->array)[1] == 8);
    NEED(data[5].value.type == PMIX_UNDEF);
    for (int i = 0; i < 6; i++)
        PMIX_VALUE_DESTRUCT(&data[i].value);
}

static void names(void)
{
    char *some[] = {(char *)"kind1", (char *)"kind7", NULL}, *others[] = {some[0], NULL};
    if (me.rank == size - 1)
        publish_kinds();
    fence(0, 0, false);
    check_kinds();
    fence(0, 0, false);
    NEED(finds_nothing("kind9"));
    if (me.rank == 0) {
        NEED(PMIx_Unpublish(&some[1], NULL, 0) == PMIX_ERR_NOT_FOUND);
        NEED(PMIx_Unpublish(others, NULL, 0) == PMIX_ERR_NO_PERMISSIONS);
    }
    fence(0, 0, false);
    if (me.rank == size - 1) {
        NEED(PMIx_Unpublish(some, NULL, 0) == PMIX_ERR_PARTIAL_SUCCESS);
        NEED(finds_nothing("kind1"));
        NEED(PMIx_Unpublish(NULL, NULL, 0) == PMIX_SUCCESS);
        NEED(finds_nothing("kind0"));
    }
    fence(0, 0, false);
}

/* With four ranks on one node or two. */
static void names_ranges(void)
{
    uint32_t per = size / get_number(PMIX_RANK_WILDCARD, PMIX_NUM_NODES);
    pmix_info_t mine = option(PMIX_RANGE, PMIX_DATA_RANGE, PMIX_RANGE_PROC_LOCAL);
    const int nowhere[] = {PMIX_RANGE_RM, PMIX_RANGE_CUSTOM, PMIX_RANGE_PROC_LOCAL + 1, 200, 254};
    pmix_pdata_t data;
    if (me.rank == 1) {
        NEED(!publish_text("node", "of 1", PMIX_RANGE_LOCAL, PMIX_PERSIST_APP));
        NEED(!publish_text("job", "of 1", PMIX_RANGE_NAMESPACE, PMIX_PERSIST_APP));
        NEED(!publish_text("task", "of 1", PMIX_RANGE_PROC_LOCAL, PMIX_PERSIST_APP));
        for (size_t i = 0; i < 5; i++)
            NEED(publish_text("no", "", (pmix_data_range_t)nowhere[i], PMIX_PERSIST_APP) ==
                 PMIX_ERR_NOT_SUPPORTED);
    }
    fence(0, 0, false);
    NEED(finds("job", "of 1"));
    NEED(me.rank / per == 1 / per ? finds("node", "of 1") : finds_nothing("node"));
    NEED(me.rank == 1 ? finds("task", "of 1") : finds_nothing("task"));
    NEED(look(&data, "job", &mine, 1) == (me.rank == 1 ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND));
    PMIX_VALUE_DESTRUCT(&data.value);
    for (size_t i = 0; i < 5; i++) { /* looked for everywhere */
        pmix_info_t range = option(PMIX_RANGE, PMIX_DATA_RANGE, nowhere[i]);
        NEED(look(&data, "job", &range, 1) == PMIX_SUCCESS);
        PMIX_VALUE_DESTRUCT(&data.value);
    }
    fence(0, 0, false);
}

static void names_wait(void)
{
    pmix_pdata_t data[2] = {0};
    pmix_info_t all[] = {option(PMIX_WAIT, PMIX_INT, 0), option(PMIX_TIMEOUT, PMIX_INT, 10)};
    pmix_info_t one[] = {option(PMIX_WAIT, PMIX_INT, 1), option(PMIX_TIMEOUT, PMIX_INT, 10)};
    pmix_info_t soon[] = {option(PMIX_WAIT, PMIX_BOOL, true), option(PMIX_TIMEOUT, PMIX_INT, 1)};
    strcpy(data[0].key, "first");
    strcpy(data[1].key, "second");
    if (me.rank == 0) {
        usleep(100000);
        NEED(!publish_text("first", "1", PMIX_RANGE_SESSION, PMIX_PERSIST_APP));
        fence(0, 2, false);
        NEED(!publish_text("second", "2", PMIX_RANGE_SESSION, PMIX_PERSIST_APP));
    } else if (me.rank == 1) {
        NEED(PMIx_Lookup(data, 2, one, 2) == PMIX_SUCCESS);
        NEED(data[0].value.type == PMIX_STRING && data[1].value.type == PMIX_UNDEF);
        fence(0, 2, false); /* the second is published after it */
    } else {
        NEED(PMIx_Lookup(data, 2, all, 2) == PMIX_SUCCESS);
        NEED(data[0].value.type == PMIX_STRING && data[1].value.type == PMIX_STRING);
    }
    NEED(look(&data[0], "never", soon, 2) == PMIX_ERR_TIMEOUT);
    fence(0, 0, false);
}

/* Each of many is read by one. */
static void names_once(void)
{
    enum { MANY = 50 };
    char key[32];
    int found = 0;
    for (int i = 0; i < MANY; i++) {
        pmix_pdata_t data;
        sprintf(key, "once %d", i);
        if (me.rank == 0)
            NEED(!publish_text(key, "one", PMIX_RANGE_SESSION, PMIX_PERSIST_FIRST_READ));
        fence(0, 0, false);
        pmix_status_t status = look(&data, key, NULL, 0);
        NEED(status == PMIX_SUCCESS || status == PMIX_ERR_NOT_FOUND);
        found += status == PMIX_SUCCESS;
        fence(0, 0, false);
        NEED(finds_nothing(key));
    }
    sprintf(key, "found by %u", me.rank);
    pmix_info_t info = {.value = {.type = PMIX_INT, .data.integer = found}};
    strcpy(info.key, key);
    NEED(PMIx_Publish(&info, 1) == PMIX_SUCCESS);
    fence(0, 0, false);
    for (uint32_t rank = found = 0; rank < size; rank++) {
        pmix_pdata_t data;
        sprintf(key, "found by %u", rank);
        NEED(look(&data, key, NULL, 0) == PMIX_SUCCESS && data.value.type == PMIX_INT);
        found += data.value.data.integer;
    }
    NEED(found == MANY);
    fence(0, 0, false);
}

/* The last has finalized when the others look. */
static void names_end(void)
{
    if (me.rank == size - 1) {
        NEED(!publish_text("task", "1", PMIX_RANGE_SESSION, PMIX_PERSIST_PROC));
        NEED(!publish_text("job", "2", PMIX_RANGE_SESSION, PMIX_PERSIST_APP));
    }
    fence(0, 0, false);
    if (me.rank == size - 1)
        return;
    for (int i = 0; i < 500 && !finds_nothing("task"); i++)
        usleep(20000);
    NEED(finds_nothing("task"));
    NEED(finds("job", "2"));
    fence(0, size - 1, false); /* the service is on a node that may be through before the other */
}

/* ---- events ---- */

static volatile int heard, ready, answered;
static volatile uint32_t affected;
static volatile int exit_code;
static volatile pmix_status_t heard_status, answer;

static void hear(size_t handler, pmix_status_t status, const pmix_proc_t *source,
                 pmix_info_t infos[], size_t ninfos, pmix_info_t results[], size_t nresults,
                 pmix_event_notification_cbfunc_fn_t next, void *data)
{
    (void)handler, (void)results, (void)nresults;
    affected = source->rank;
    heard_status = status;
    for (size_t i = 0; i < ninfos; i++)
        if (!strcmp(infos[i].key, PMIX_EVENT_AFFECTED_PROC))
            affected = infos[i].value.data.proc->rank;
        else if (!strcmp(infos[i].key, PMIX_EXIT_CODE))
            exit_code = infos[i].value.data.integer;
    heard++;
    next(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
}

static void registered(pmix_status_t status, size_t handler, void *data)
{
    (void)handler, (void)data;
    NEED(status == PMIX_SUCCESS);
    ready = 1;
}

static void await(const volatile int *what)
{
    for (int i = 0; i < 10000 && !*what; i++)
        usleep(1000);
    NEED(*what);
}

static void listen_to(pmix_status_t status)
{
    PMIx_Register_event_handler(&status, 1, NULL, 0, hear, registered, NULL);
    await(&ready);
}

static void event(void)
{
    pmix_status_t own = PMIX_EXTERNAL_ERR_BASE - 7;
    listen_to(own);
    fence(0, 0, false);
    if (me.rank == 0)
        NEED(PMIx_Notify_event(own, &me, PMIX_RANGE_NAMESPACE, NULL, 0, NULL, NULL) ==
             PMIX_SUCCESS);
    await(&heard);
    fence(0, 0, false);
    usleep(100000);
    NEED(heard == 1 && affected == 0 && heard_status == own);
}

static double now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

static bool fence_fails(const pmix_proc_t procs[], size_t nprocs)
{
    pmix_status_t status = PMIx_Fence(procs, nprocs, NULL, 0);
    return status != PMIX_SUCCESS || fence_may_succeed(status);
}

/* It is told of; a fence that it is to be in fails, listed or not, and one without it does not. */
static void without_one(void)
{
    pmix_proc_t all = {.rank = PMIX_RANK_WILDCARD};
    pmix_proc_t procs[] = {{.rank = 0}, {.rank = 2}, {.rank = 3}, {.rank = 1}};
    strcpy(all.nspace, me.nspace);
    for (int i = 0; i < 4; i++)
        strcpy(procs[i].nspace, me.nspace);
    listen_to(PMIX_ERR_PROC_ABORTED);
    fence(0, 0, false);
    if (me.rank == 1) {
        usleep(50000);
        raise(SIGKILL);
    }
    NEED(fence_fails(&all, 1));
    await(&heard);
    NEED(affected == 1 && exit_code == 128 + SIGKILL);
    pmix_value_t *value;
    if (size / get_number(PMIX_RANK_WILDCARD, PMIX_NUM_NODES) <= 2 && me.rank >= 2) {
        double began = now();
        NEED(PMIx_Get(&procs[3], "never", NULL, 0, &value) != PMIX_SUCCESS);
        NEED(now() - began < 5);
    }
    usleep(100000); /* until openpmix has forgotten it */
    NEED(fence_fails(&all, 1));
    NEED(fence_fails(procs, 4));
    NEED(PMIx_Fence(procs, 3, NULL, 0) == PMIX_SUCCESS);
    NEED(heard == 1);
}

static volatile int signals;

static void got_signal(int number)
{
    (void)number;
    signals++;
}

static void controlled(pmix_status_t status, pmix_info_t infos[], size_t ninfos, void *data,
                       pmix_release_cbfunc_t release, void *release_data)
{
    (void)infos, (void)ninfos, (void)data, (void)release, (void)release_data;
    answer = status;
    answered = 1;
}

static pmix_status_t control(const char *key, pmix_data_type_t type, int number, uint32_t rank)
{
    pmix_proc_t target = {.rank = rank};
    pmix_info_t info = {.value.type = type};
    strcpy(target.nspace, me.nspace);
    strcpy(info.key, key);
    if (type == PMIX_BOOL)
        info.value.data.flag = true;
    else
        info.value.data.integer = number;
    answered = 0;
    pmix_status_t status = PMIx_Job_control_nb(&target, 1, &info, 1, controlled, NULL);
    if (status != PMIX_SUCCESS)
        return status;
    await(&answered);
    return answer;
}

static void control_others(void)
{
    signal(SIGUSR1, got_signal);
    fence(0, 0, false);
    if (me.rank == 0) {
        NEED(control(PMIX_JOB_CTRL_SIGNAL, PMIX_INT, SIGUSR1, size - 1) == PMIX_SUCCESS);
        NEED(control(PMIX_JOB_CTRL_SIGNAL, PMIX_INT, 1000, size - 1) == PMIX_ERR_BAD_PARAM);
        NEED(control(PMIX_JOB_CTRL_SIGNAL, PMIX_BOOL, 0, size - 1) == PMIX_ERR_BAD_PARAM);
        NEED(control(PMIX_JOB_CTRL_SIGNAL, PMIX_INT, SIGUSR1, size) == PMIX_ERR_NOT_FOUND);
        NEED(control(PMIX_JOB_CTRL_RESTART, PMIX_BOOL, 0, 0) == PMIX_ERR_NOT_SUPPORTED);
        NEED(control(PMIX_JOB_CTRL_PREEMPTIBLE, PMIX_BOOL, 0, 0) == PMIX_SUCCESS);
    }
    if (me.rank == size - 1)
        await(&signals);
    fence(0, 0, false);
    NEED(signals == (me.rank == size - 1));
}

/* Rank 0 wants it. */
static void without_aborted(void)
{
    pmix_proc_t other = {.rank = 1};
    listen_to(PMIX_ERR_PROC_ABORTED);
    fence(0, 0, false);
    strcpy(other.nspace, me.nspace);
    if (me.rank == 0)
        NEED(PMIx_Abort(5, "enough", &other, 1) == PMIX_SUCCESS);
    if (me.rank == 1)
        pause();
    await(&heard);
    NEED(affected == 1);
}

static void check_local_procs(uint32_t first, uint32_t count)
{
    const pmix_value_t *value = get(PMIX_RANK_WILDCARD, PMIX_LOCAL_PROCS);
    NEED(value->type == PMIX_DATA_ARRAY && value->data.darray->type == PMIX_PROC);
    NEED(value->data.darray->size == count);
    const pmix_proc_t *procs = value->data.darray->array;
    for (uint32_t i = 0; i < count; i++)
        NEED(!strcmp(procs[i].nspace, me.nspace) && procs[i].rank == first + i);
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
    check_local_procs(node * per, per);
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

static pmix_status_t spawned(const char *program, bool known, char *name)
{
    char *argv[] = {(char *)(uintptr_t)program, NULL};
    pmix_info_t info = {.flags = PMIX_INFO_REQD,
                        .value = {.type = PMIX_STRING, .data.string = argv[0]}};
    pmix_app_t app = {.cmd = argv[0], .argv = argv, .maxprocs = 1, .info = &info, .ninfo = 1};
    strcpy(info.key, known ? PMIX_PSET_NAME : "pmix.nobody");
    return PMIx_Spawn(NULL, 0, &app, 1, name);
}

static void spawn(void)
{
    pmix_nspace_t name;
    if (me.rank == 0) {
        NEED(spawned("good", true, name) == PMIX_SUCCESS);
        NEED(!strcmp(name, "tprun.job.2"));
        NEED(spawned("bad", true, name) == PMIX_ERR_JOB_EXE_NOT_FOUND);
        NEED(spawned("good", false, name) == PMIX_ERR_NOT_SUPPORTED);
    }
    fence(0, 0, false);
}

/* One key of one namespace; its value. */
static const pmix_value_t *query(const char *key, const char *qualifier, const char *value)
{
    char *keys[] = {(char *)(uintptr_t)key, NULL};
    pmix_info_t qualifiers = {
        .value = {.type = PMIX_STRING, .data.string = (char *)(uintptr_t)value}};
    pmix_query_t query = {.keys = keys, .qualifiers = &qualifiers, .nqual = 1};
    pmix_info_t *results = NULL;
    size_t count = 0;
    strcpy(qualifiers.key, qualifier);
    NEED(PMIx_Query_info(&query, 1, &results, &count) == PMIX_SUCCESS);
    NEED(count == 1 && !strcmp(results[0].key, key));
    return &results[0].value;
}

static void check_table(const pmix_data_array_t *table, uint32_t first, uint32_t count)
{
    const pmix_proc_info_t *infos = table->array;
    NEED(table->type == PMIX_PROC_INFO && table->size == count);
    for (uint32_t i = 0; i < count; i++) {
        NEED(infos[i].proc.rank == first + i && infos[i].pid > 0);
        NEED(infos[i].state == PMIX_PROC_STATE_CONNECTED);
        NEED((infos[i].proc.rank == me.rank) == (infos[i].pid == getpid()));
    }
}

/* Everybody at once. */
static void queries(void)
{
    uint32_t nnodes = get_number(PMIX_RANK_WILDCARD, PMIX_NUM_NODES), per = size / nnodes;
    char *none[] = {(char *)(uintptr_t) "pmix.nonsense", NULL};
    pmix_query_t nonsense = {.keys = none};
    pmix_info_t *results = NULL;
    size_t count = 0;
    fence(0, 0, false);
    NEED(!strcmp(query(PMIX_QUERY_NAMESPACES, PMIX_NSPACE, "")->data.string, me.nspace));
    check_table(query(PMIX_QUERY_PROC_TABLE, PMIX_NSPACE, me.nspace)->data.darray, 0, size);
    check_table(query(PMIX_QUERY_LOCAL_PROC_TABLE, PMIX_NSPACE, "")->data.darray,
                me.rank / per * per, per);
    NEED(query(PMIX_QUERY_PSET_MEMBERSHIP, PMIX_PSET_NAME, "rest")->data.darray->size == size - 1);
    NEED(PMIx_Query_info(&nonsense, 1, &results, &count) == PMIX_ERR_NOT_SUPPORTED);
    fence(0, 0, false);
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
    {"names", names},
    {"names-ranges", names_ranges},
    {"names-wait", names_wait},
    {"names-once", names_once},
    {"names-end", names_end},
    {"spawn", spawn},
    {"queries", queries},
    {"event", event},
    {"control", control_others},
    {"without-one", without_one},
    {"without-aborted", without_aborted},
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
