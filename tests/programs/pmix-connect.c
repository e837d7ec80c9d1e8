/* pmix-connect N [HOSTS] - tasks that have N more of themselves spawned (on these hosts), and all of both
 * jobs connect, read what the others have put, fence, are a group, and disconnect. Each job's rank 0
 * says what it knows of the other.
 * pmix-connect leave|die|late N [HOSTS]: those that are spawned do not come: they end, one is killed, or
 * they come when the others have given up. Rank 0 says what it was told. */
#include <pmix.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pmix-status.h"

static pmix_proc_t me, both[2]; /* both[1] is the other job */

#define MUST(call) must(call, #call)

static void must(pmix_status_t status, const char *what)
{
    if (status == PMIX_SUCCESS)
        return;
    fprintf(stderr, "pmix-connect: %s, rank %u: %s: %s\n", me.nspace, me.rank, what,
            status_name(status));
    exit(1);
}

static const pmix_value_t *get(const char *job, uint32_t rank, const char *key)
{
    pmix_proc_t proc = {.rank = rank};
    pmix_value_t *value = NULL;
    strcpy(proc.nspace, job);
    must(PMIx_Get(&proc, key, NULL, 0, &value), key);
    return value;
}

static void put(const char *key, const char *text)
{
    pmix_value_t value = {.type = PMIX_STRING, .data.string = (char *)text};
    MUST(PMIx_Put(PMIX_GLOBAL, key, &value));
    MUST(PMIx_Commit());
}

static pmix_info_t text_info(const char *key, const char *text)
{
    pmix_info_t info = {.value.type = PMIX_STRING, .value.data.string = (char *)text};
    strcpy(info.key, key);
    return info;
}

static void card_of(char *text, const char *job, uint32_t rank)
{
    sprintf(text, "%s:%u", job, rank);
}

/* ---- the other job ---- */

static void spawn(char *program, char *how, const char *count, const char *hosts)
{
    char *argv[] = {program, how, NULL};
    pmix_info_t info = text_info(PMIX_HOST, hosts);
    pmix_app_t app = {.cmd = program, .argv = argv, .maxprocs = atoi(count)};
    pmix_nspace_t name;
    app.info = hosts ? &info : NULL;
    app.ninfo = hosts ? 1 : 0;
    MUST(PMIx_Spawn(NULL, 0, &app, 1, name));
    put("spawned", name);
}

/* Who was not spawned has the others spawned. */
static int find_other(int argc, char **argv)
{
    static char meet[] = "meet";
    char *how = argc > 1 && (argv[1][0] < '0' || argv[1][0] > '9') ? argv[1] : meet;
    char **rest = how == meet ? argv + 1 : argv + 2;
    int spawned = get(me.nspace, PMIX_RANK_WILDCARD, PMIX_SPAWNED)->data.flag;
    if (!spawned && me.rank == 0)
        spawn(argv[0], how, rest[0], rest[1]);
    if (!spawned)
        MUST(PMIx_Fence(NULL, 0, NULL, 0));
    for (int i = 0; i < 2; i++)
        both[i].rank = PMIX_RANK_WILDCARD;
    strcpy(both[0].nspace, me.nspace);
    strcpy(both[1].nspace, spawned ? get(me.nspace, me.rank, PMIX_PARENT_ID)->data.proc->nspace
                                   : get(me.nspace, 0, "spawned")->data.string);
    return spawned;
}

/* ---- together ---- */

static uint32_t read_cards(void)
{
    uint32_t count = get(both[1].nspace, PMIX_RANK_WILDCARD, PMIX_JOB_SIZE)->data.uint32;
    for (uint32_t rank = 0; rank < count; rank++) {
        char card[PMIX_MAX_NSLEN + 16];
        card_of(card, both[1].nspace, rank);
        if (strcmp(get(both[1].nspace, rank, "card")->data.string, card) != 0)
            must(PMIX_ERR_DATA_VALUE_NOT_FOUND, card);
    }
    return count;
}

static void group(void)
{
    pmix_info_t info = {.value.type = PMIX_BOOL, .value.data.flag = true}, *results;
    size_t nresults;
    char number[32];
    strcpy(info.key, PMIX_GROUP_ASSIGN_CONTEXT_ID);
    MUST(PMIx_Group_construct("both", both, 2, &info, 1, &results, &nresults));
    sprintf(number, "0");
    for (size_t i = 0; i < nresults; i++)
        if (!strcmp(results[i].key, PMIX_GROUP_CONTEXT_ID))
            sprintf(number, "%zu", results[i].value.data.size);
    put("number", number);
    MUST(PMIx_Fence(both, 2, NULL, 0));
    if (number[0] == '0' || strcmp(get(both[1].nspace, 0, "number")->data.string, number) != 0)
        must(PMIX_ERR_NOT_FOUND, "the group's number");
    MUST(PMIx_Group_destruct("both", NULL, 0));
}

static void meet(void)
{
    char card[PMIX_MAX_NSLEN + 16], *nodes;
    card_of(card, me.nspace, me.rank);
    put("card", card);
    MUST(PMIx_Connect(both, 2, NULL, 0));
    uint32_t count = read_cards();
    MUST(PMIx_Resolve_nodes(both[1].nspace, &nodes));
    for (int i = 0; i < 20; i++)
        MUST(PMIx_Fence(both, 2, NULL, 0));
    group();
    MUST(PMIx_Disconnect(both, 2, NULL, 0));
    if (me.rank == 0)
        printf("the other job is %u on %s\n", count, nodes);
}

/* ---- not together ---- */

static void wait_for(int seconds)
{
    pmix_info_t info = {.value.type = PMIX_INT, .value.data.integer = seconds};
    strcpy(info.key, PMIX_TIMEOUT);
    pmix_status_t status = PMIx_Fence(both, 2, &info, seconds ? 1 : 0);
    if (me.rank == 0)
        printf("%s\n", status_name(status));
}

int main(int argc, char **argv)
{
    MUST(PMIx_Init(&me, NULL, 0));
    int spawned = find_other(argc, argv);
    int late = argc > 1 && !strcmp(argv[1], "late");
    if (spawned && !strcmp(argv[1], "die") && me.rank == 0) {
        usleep(300000);
        raise(SIGKILL);
    }
    if (argc < 2 || (argv[1][0] >= '0' && argv[1][0] <= '9') || !strcmp(argv[1], "meet"))
        meet();
    else if (!spawned || !strcmp(argv[1], "die"))
        wait_for(late);
    else if (late)
        sleep(2);
    MUST(PMIx_Finalize(NULL, 0));
    return 0;
}
