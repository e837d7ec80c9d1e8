/* pmix-bad HOW [NUMBER [BYTES]] - rank 1 does to its PMIx server what no good program does; the others
 * exchange, and print "rank N: good" when all was as it should be for them. */
#include <pmix.h>
#include <arpa/inet.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "pmix-status.h"

static pmix_proc_t me;
static uint32_t size;
static long number, bytes;

static void need(int good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "rank %u: not so: %s\n", me.rank, what);
    exit(1);
}
#define NEED(condition) need(condition, #condition)

static double seconds(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return at.tv_sec + at.tv_nsec / 1e9;
}

/* ---- what good ones do ---- */

static pmix_status_t put_of(const char *key, const char *text, size_t len)
{
    pmix_value_t value = {.type = PMIX_BYTE_OBJECT};
    value.data.bo = (pmix_byte_object_t){(char *)text, len};
    return PMIx_Put(PMIX_GLOBAL, key, &value);
}

static pmix_status_t get_of(const char *job, uint32_t rank, const char *key, int timeout,
                            pmix_value_t **value)
{
    pmix_proc_t proc = {.rank = rank};
    pmix_info_t info = {.value = {.type = PMIX_INT, .data.integer = timeout}};
    strcpy(info.key, PMIX_TIMEOUT);
    strcpy(proc.nspace, job);
    return PMIx_Get(&proc, key, &info, timeout > 0, value);
}

static pmix_status_t fence_of(const char *job, uint32_t count, const uint32_t *ranks, bool collect)
{
    pmix_proc_t procs[64] = {0};
    pmix_info_t info = {.value = {.type = PMIX_BOOL, .data.flag = collect}};
    strcpy(info.key, PMIX_COLLECT_DATA);
    for (uint32_t i = 0; i < count; i++) {
        strcpy(procs[i].nspace, job);
        procs[i].rank = ranks[i];
    }
    return PMIx_Fence(count ? procs : NULL, count, &info, 1);
}

static pmix_status_t fence(bool collect)
{
    return fence_of("", 0, NULL, collect);
}

/* All but rank 1. */
static pmix_status_t fence_good(bool collect)
{
    uint32_t good[64], count = 0;
    for (uint32_t rank = 0; rank < size; rank++)
        if (rank != 1)
            good[count++] = rank;
    return fence_of(me.nspace, count, good, collect);
}

static void check_card(uint32_t rank)
{
    char text[32];
    pmix_value_t *value;
    int len = sprintf(text, "card of %u", rank);
    NEED(get_of(me.nspace, rank, "card", 0, &value) == PMIX_SUCCESS);
    NEED(value->type == PMIX_BYTE_OBJECT && value->data.bo.size == (size_t)len);
    NEED(!memcmp(value->data.bo.bytes, text, (size_t)len));
}

static void put_card(void)
{
    char text[32];
    int len = sprintf(text, "card of %u", me.rank);
    NEED(put_of("card", text, (size_t)len) == PMIX_SUCCESS);
    NEED(PMIx_Commit() == PMIX_SUCCESS);
}

/* Twenty rounds of it. */
static void be_good(void)
{
    put_card();
    for (int i = 0; i < 20; i++) {
        NEED(fence_good(true) == PMIX_SUCCESS);
        for (uint32_t rank = 0; rank < size; rank++)
            if (rank != 1)
                check_card(rank);
    }
}

static void meet(void)
{
    put_card();
    NEED(fence(true) == PMIX_SUCCESS);
}

/* Who is told that the fence succeeded (pmix-versions.h) asks for what rank 1 never put. For tasks of other nodes than
 * rank 1's: see wait_for_all(). */
static void meet_and_ask(void)
{
    meet();
    check_card(1);
}

/* The others of one that dies in a fence: who leaves while it waits there would be the one to blame. */
static void outlive(void)
{
    meet();
    be_good();
    usleep(300000);
}

/* While the bad one is at it, and never held up for long. */
static void stay_good(void)
{
    put_card();
    for (int i = 0; i < 200; i++) {
        double at = seconds();
        NEED(fence_good(false) == PMIX_SUCCESS);
        NEED(seconds() - at < 4);
        usleep(10000);
    }
}

/* ---- dying ---- */

static void answer(pmix_status_t status, pmix_value_t *value, void *arg)
{
    (void)status, (void)value, (void)arg;
}

static void answer_fence(pmix_status_t status, void *arg)
{
    (void)status, (void)arg;
}

static void die_in_get(void)
{
    pmix_proc_t proc = {.rank = size - 1};
    strcpy(proc.nspace, me.nspace);
    for (int i = 0; i < 100; i++)
        PMIx_Get_nb(&proc, "never", NULL, 0, answer, NULL);
    usleep(10000 * (number % 3));
    raise(SIGKILL);
}

static void die_in_fence(void)
{
    meet();
    PMIx_Fence_nb(NULL, 0, NULL, 0, answer_fence, NULL);
    usleep(10000 * (number % 3));
    raise(SIGKILL);
}

/* The server stands still until 0.6 s from now. */
static void stop_server(void)
{
    pid_t server = getppid();
    kill(server, SIGSTOP);
    if (fork() == 0) {
        for (int fd = 3; fd < 256; fd++)
            close(fd);
        usleep(600000);
        kill(server, SIGCONT);
        _exit(0);
    }
}

/* With rank 1 as many others as there are to be die at once, who wait in a fence that rank 1 never enters: the
 * server stands still meanwhile, and finds all of their connections closed in one look. */
static void die_together(void)
{
    meet();
    usleep(300000);
    stop_server();
    usleep(100000);
    raise(SIGKILL);
}

static void heed(size_t handler, pmix_status_t status, const pmix_proc_t *source,
                 pmix_info_t *infos, size_t ninfos, pmix_info_t *results, size_t nresults,
                 pmix_event_notification_cbfunc_fn_t done, void *arg)
{
    (void)handler, (void)status, (void)source, (void)infos, (void)ninfos;
    (void)results, (void)nresults;
    done(PMIX_SUCCESS, NULL, 0, NULL, NULL, arg);
}

/* The end of its connection comes after much that the server has yet to read, one message in each turn of its loop,
 * and answers none of. */
static void die_unread(void)
{
    static size_t handlers[1000];
    for (long i = 0; i < number; i++) {
        pmix_status_t code = PMIX_EXTERNAL_ERR_BASE - (int)i;
        handlers[i] = (size_t)PMIx_Register_event_handler(&code, 1, NULL, 0, heed, NULL, NULL);
    }
    meet();
    usleep(300000);
    stop_server();
    for (long i = 0; i < number; i++)
        PMIx_Deregister_event_handler(handlers[i], answer_fence, NULL);
    usleep(200000);
    raise(SIGKILL);
}

static void wait_for_the_dead(void)
{
    meet();
    if (me.rank > 1 && me.rank <= 1 + number) {
        PMIx_Fence_nb(NULL, 0, NULL, 0, answer_fence, NULL);
        usleep(500000);
        raise(SIGKILL);
    }
    fence(false); /* openpmix does not tell all of them that it failed (pmix-versions.h) */
}

static void meet_again(void)
{
    meet();
    fence(false); /* it fails, or does not: see wait_for_the_dead() */
}

/* As soon as a fence has told them of a death, in one that lists the dead. */
static void list_the_dead(void)
{
    uint32_t all[64];
    for (uint32_t rank = 0; rank < size; rank++)
        all[rank] = rank;
    meet();
    fence(false);
    fence_of(me.nspace, size, all, false);
}

static void die_at_once(void)
{
    meet();
    raise(SIGKILL);
}

static void meet_soon(void)
{
    meet();
    usleep((useconds_t)number);
    NEED(fence(true) == PMIX_SUCCESS);
}

static void die_in_time(void)
{
    meet();
    usleep(100000);
    raise(SIGKILL);
}

static void die_in_put(void)
{
    static char text[1 << 20];
    char key[32];
    for (int i = 0; i < 100; i++) {
        sprintf(key, "key %d", i);
        put_of(key, text, sizeof(text));
        if (i == 20 && !fork()) { /* as it is being sent */
            usleep(1000 * number);
            kill(getppid(), SIGKILL);
            _exit(0);
        }
        PMIx_Commit();
    }
    pause();
}

/* ---- late, and never ---- */

/* Not with one that dies: openpmix 5.0 lets some out of the fence (pmix-versions.h), and then does not
 * always answer who asks for a key of the dead one on its node, whatever the timeout. */
static void wait_for_all(void)
{
    meet();
    for (uint32_t rank = 0; rank < size; rank++)
        check_card(rank);
}

/* ---- what is not there ---- */

static void ask_wrongly(void)
{
    static const uint32_t beyond[] = {1, 1000};
    const pmix_proc_t nobody = {"nobody", PMIX_RANK_WILDCARD};
    const pmix_info_t limit = {PMIX_TIMEOUT, .value = {.type = PMIX_INT, .data.integer = 1}};
    const struct {
        const char *job;
        uint32_t rank;
    } asked[] = {
        {me.nspace, size},
        {me.nspace, size + 1000},
        {me.nspace, PMIX_RANK_WILDCARD},
        {me.nspace, PMIX_RANK_UNDEF},
        {me.nspace, PMIX_RANK_LOCAL_NODE},
        {"nobody", 0},
        {"nobody", PMIX_RANK_WILDCARD},
    };
    for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
        pmix_value_t *value = NULL;
        double at = seconds();
        pmix_status_t status = get_of(asked[i].job, asked[i].rank, "no such key", 2, &value);
        printf("get %zu: %s after %.1f s\n", i, status_name(status), seconds() - at);
        NEED(status != PMIX_SUCCESS);
        NEED(seconds() - at < 4);
    }
    printf("fence beyond: %s\n", status_name(fence_of(me.nspace, 2, beyond, true)));
    printf("fence nobody: %s\n", status_name(PMIx_Fence(&nobody, 1, &limit, 1)));
}

/* ---- what libpmix would not send ---- */

static const char unsaid[] = "a namespace that is sent as an empty one";
static int emptied;

/* libpmix calls this one. */
ssize_t writev(int fd, const struct iovec *parts, int count)
{
    for (int i = 0; i < count; i++) {
        char *at = memmem(parts[i].iov_base, parts[i].iov_len, unsaid, strlen(unsaid));
        if (at) {
            *at = '\0';
            emptied++;
        }
    }
    return syscall(SYS_writev, fd, parts, count);
}

static void ask_nobody(void)
{
    pmix_value_t *value;
    for (int i = 0; i < 3; i++) {
        pmix_status_t status = get_of(unsaid, PMIX_RANK_WILDCARD, "card", 5, &value);
        NEED(status != PMIX_SUCCESS && status != PMIX_ERR_TIMEOUT);
    }
    NEED(emptied == 3);
    put_card();
}

/* Tells that the namespace is there still. */
static void wait_and_get(void)
{
    pmix_value_t *value;
    put_card();
    sleep(1);
    be_good();
    NEED(get_of(me.nspace, 1, "card", 5, &value) == PMIX_SUCCESS);
}

/* ---- some of them ---- */

static void fence_some(void)
{
    static const uint32_t two[] = {1, 2};
    if (me.rank == 1 || me.rank == 2)
        for (int i = 0; i < 20; i++)
            NEED(fence_of(me.nspace, 2, two, true) == PMIX_SUCCESS);
    wait_for_all();
}

/* ---- too much ---- */

/* openpmix 7 compresses what it can. */
static void flood(void)
{
    char key[64], *text = calloc(1, (size_t)bytes + 1);
    unsigned seed = 1;
    for (long i = 0; i < number; i++) {
        for (long at = 0; at < bytes; at++)
            text[at] = (char)(rand_r(&seed) >> 4);
        sprintf(key, "key %ld", i);
        NEED(put_of(key, text, (size_t)bytes) == PMIX_SUCCESS);
    }
    put_card();
    free(text);
}

/* ---- the server's socket ---- */

/* "NAMESPACE.RANK;tcp4://ADDRESS:PORT" */
static int dial(void)
{
    const char *uri = getenv("PMIX_SERVER_URI4") ?: getenv("PMIX_SERVER_URI41");
    struct sockaddr_in to = {.sin_family = AF_INET};
    char address[64];
    unsigned port;
    const char *at = uri ? strstr(uri, "tcp4://") : NULL;
    if (!at || sscanf(at, "tcp4://%63[^:]:%u", address, &port) != 2)
        return -1;
    to.sin_port = htons((uint16_t)port);
    inet_pton(AF_INET, address, &to.sin_addr);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0)
        return fd;
    close(fd);
    return -1;
}

static void send_garbage(void)
{
    char text[4096];
    unsigned seed = 1;
    for (long i = 0; i < number; i++) {
        int fd = dial();
        if (fd < 0)
            continue;
        for (size_t at = 0; at < sizeof(text); at++)
            text[at] = (char)rand_r(&seed);
        if (i % 4 == 1)
            memset(text, 0xff, 16); /* a length without measure */
        if (i % 4 == 2)
            memset(text, 0, 16);
        send(fd, text, i % 4 == 3 ? 1 : sizeof(text), MSG_NOSIGNAL);
        close(fd);
    }
}

/* Nothing, and then something that comes too slowly: a greeting is never whole. */
static void greet_halfway(void)
{
    static const char head[16] = {[8] = '\xa0', '\x86', '\1'}; /* of 100000 bytes */
    int fds[64];
    for (long i = 0; i < number; i++)
        fds[i] = dial();
    for (size_t at = 0; at < 100; at++) {
        for (long i = 0; i < number; i++)
            send(fds[i], at < sizeof(head) ? &head[at] : "", at ? 1 : 4, MSG_NOSIGNAL);
        at += at ? 0 : 3;
        if (!bytes)
            break;
        usleep(60000);
    }
    sleep(2);
}

/* They stay open and say nothing. */
static void connect_often(void)
{
    long good = 0;
    for (long i = 0; i < number; i++)
        good += dial() >= 0;
    printf("connected %ld times\n", good);
    sleep(1);
}

static const struct {
    const char *name;
    void (*bad)(void), (*good)(void);
} ways[] = {
    {"die-in-get", die_in_get, be_good}, /* what rank 1 does, and what the others do */
    {"die-in-fence", die_in_fence, outlive},
    {"die-in-put", die_in_put, be_good},
    {"die-before-all", die_in_get, meet},
    {"die-unasked", die_in_get, meet_and_ask},
    {"die-together", die_together, wait_for_the_dead},
    {"die-listed", die_in_time, list_the_dead},
    {"die-at-once", die_at_once, meet_soon},
    {"die-unread", die_unread, meet_again},
    {"late", wait_for_all, wait_for_all},
    {"ask-wrongly", ask_wrongly, be_good},
    {"ask-nobody", ask_nobody, wait_and_get},
    {"some", fence_some, fence_some},
    {"flood", flood, be_good},
    {"garbage", send_garbage, stay_good},
    {"halfway", greet_halfway, stay_good},
    {"connect", connect_often, stay_good},
};

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    const char *how = argc > 1 ? argv[1] : "", *rank = getenv("PMIX_RANK") ?: "0";
    number = argc > 2 ? atol(argv[2]) : 0;
    bytes = argc > 3 ? atol(argv[3]) : 0;
    if (!strcmp(how, "late") && !strcmp(rank, "1"))
        sleep(2);
    if (!strcmp(how, "absent") && !strcmp(rank, "1"))
        return 0;
    NEED(PMIx_Init(&me, NULL, 0) == PMIX_SUCCESS);
    pmix_value_t *value;
    NEED(get_of(me.nspace, PMIX_RANK_WILDCARD, PMIX_JOB_SIZE, 0, &value) == PMIX_SUCCESS);
    size = value->data.uint32;
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
        if (!strcmp(how, ways[i].name))
            (me.rank == 1 ? ways[i].bad : ways[i].good)();
    if (!strcmp(how, "absent"))
        wait_for_all();
    if (!strcmp(how, "flood")) { /* and now with what it put */
        NEED(fence(true) == PMIX_SUCCESS);
        check_card(1);
    }
    NEED(PMIx_Finalize(NULL, 0) == PMIX_SUCCESS);
    printf("rank %u: good\n", me.rank);
    return 0;
}
