/* The hosts of a run by number: state, topology, failure. */
#include "launcher/instance/host_table.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash_table.h"
#include "base/mem.h"
#include "launcher/instance/host_lines.h"

struct host_kinds { /* hosts that were up, by a text that several may have */
    struct hash_table table;
    struct {
        char *text;
        uint32_t host; /* the first that had it */
    } * kinds;         /* [table.count] */
};

struct host_table {
    struct node_list *nodes;
    struct host *list; /* [nodes->count] */
    const char **names;
    uint32_t starting, failures;
    struct idset *used;
    struct host_kinds machines, digests;
    bool *lent; /* [nodes->count]; NULL: nothing is */
};

/* ---- life ---- */

struct host_table *host_table_new(struct node_list *nodes)
{
    struct host_table *hosts = mem_alloc(sizeof(*hosts));
    hosts->nodes = nodes;
    hosts->used = idset_new();
    hosts->list = mem_array(nodes->count, sizeof(*hosts->list));
    hosts->names = mem_array(nodes->count, sizeof(*hosts->names));
    for (size_t i = 0; i < nodes->count; i++) {
        hosts->list[i].node = &nodes->list[i];
        hosts->list[i].number = (uint32_t)i;
        hosts->names[i] = nodes->list[i].host;
    }
    return hosts;
}

static void host_kinds_clear(struct host_kinds *kinds)
{
    for (uint32_t i = 0; i < kinds->table.count; i++)
        free(kinds->kinds[i].text);
    free(kinds->kinds);
    hash_table_free(&kinds->table);
}

void host_table_free(struct host_table *hosts)
{
    if (!hosts)
        return;
    for (size_t i = 0; i < hosts->nodes->count; i++) {
        topo_free(hosts->list[i].topo);
        free(hosts->list[i].digest);
        free(hosts->list[i].failure);
        free(hosts->list[i].gpus_refusal);
        idset_free(hosts->list[i].granted_gpus);
    }
    host_kinds_clear(&hosts->machines);
    host_kinds_clear(&hosts->digests);
    node_list_free(hosts->nodes);
    idset_free(hosts->used);
    free(hosts->list);
    free(hosts->names);
    free(hosts->lent);
    free(hosts);
}

/* ---- what is known ---- */

const struct node_list *host_nodes(const struct host_table *hosts)
{
    return hosts->nodes;
}

uint32_t host_count(const struct host_table *hosts)
{
    return (uint32_t)hosts->nodes->count;
}

const struct host *host_at(const struct host_table *hosts, uint32_t number)
{
    assert(number < hosts->nodes->count);
    return &hosts->list[number];
}

const char *const *host_names(const struct host_table *hosts)
{
    return hosts->names;
}

const struct idset *host_used(const struct host_table *hosts)
{
    return hosts->used;
}

bool host_any_failed(const struct host_table *hosts)
{
    return hosts->failures;
}

uint32_t host_awaited(const struct host_table *hosts)
{
    return hosts ? hosts->starting : 0;
}

char *host_failure(const struct host_table *hosts, uint32_t number)
{
    struct host_lines *lines = host_lines_new();
    const struct host *host = &hosts->list[number];
    host_lines_add(lines, host->node->host, host->failure, host->elapsed);
    char *line = host_lines_nth(lines, 0);
    host_lines_free(lines);
    return line;
}

/* ---- what becomes of one ---- */

static void host_turn(struct host_table *hosts, struct host *host, enum host_state state)
{
    hosts->starting -= host->state == HOST_STARTING;
    hosts->starting += state == HOST_STARTING;
    host->state = state;
    idset_add(hosts->used, host->number);
}

/* Takes the text. NULL: the host has not failed. */
static void host_set_failure(struct host_table *hosts, struct host *host, char *text)
{
    hosts->failures -= host->failure != NULL;
    hosts->failures += text != NULL;
    free(host->failure);
    host->failure = text;
}

void host_starting(struct host_table *hosts, uint32_t number)
{
    struct host *host = &hosts->list[number];
    host_set_failure(hosts, host, NULL);
    host->unreached = false;
    host_turn(hosts, host, HOST_STARTING);
}

void host_known(struct host_table *hosts, uint32_t number, struct topo *topo)
{
    struct host *host = &hosts->list[number];
    host->topo = topo_ref(topo);
    host_turn(hosts, host, HOST_UP);
}

static const char *host_kind_text(const void *owner, uint32_t number)
{
    return ((const struct host_kinds *)owner)->kinds[number].text;
}

/* The first host that had this text, which may be this one. */
static uint32_t host_first_of(struct host_kinds *kinds, const char *text, uint32_t number)
{
    uint32_t before = kinds->table.count;
    uint32_t at = hash_table_intern_text(&kinds->table, text, host_kind_text, kinds);
    if (at == before) {
        kinds->kinds = array_grow(kinds->kinds, before, sizeof(*kinds->kinds));
        kinds->kinds[at].text = mem_copy_text(text);
        kinds->kinds[at].host = number;
    }
    return kinds->kinds[at].host;
}

bool host_up(struct host_table *hosts, uint32_t number, struct topo *topo, const char *machine)
{
    struct host *host = &hosts->list[number];
    if (host->topo) { /* it was lost: plans may refer to the topology of before */
        topo_free(topo);
        host_turn(hosts, host, HOST_UP);
        return true;
    }
    free(host->digest);
    host->digest = topo_digest(topo);

    /* Another name of a host that is there already: it is one node, and used once. */
    uint32_t same = machine ? host_first_of(&hosts->machines, machine, number) : number;
    if (same != number && hosts->list[same].topo) {
        topo_free(topo);
        host->same = same;
        host_turn(hosts, host, HOST_DUPLICATE);
        return false;
    }

    /* Equal nodes share one topology: the layout engine knows them by the pointer. */
    const struct host *like = &hosts->list[host_first_of(&hosts->digests, host->digest, number)];
    if (like != host && like->topo) {
        topo_free(topo);
        topo = topo_ref(like->topo);
    }
    host->topo = topo;
    host_turn(hosts, host, HOST_UP);
    return true;
}

bool host_is_changed(const struct host_table *hosts, uint32_t number, const struct topo *topo)
{
    const struct host *host = &hosts->list[number];
    if (!host->topo || !host->digest)
        return false;
    char *digest = topo_digest(topo);
    bool changed = strcmp(digest, host->digest) != 0;
    free(digest);
    return changed;
}

void host_grant_gpus(struct host_table *hosts, uint32_t number, struct idset *gpus,
                     const char *refusal)
{
    struct host *host = &hosts->list[number];
    idset_free(host->granted_gpus);
    free(host->gpus_refusal);
    host->granted_gpus = gpus;
    host->gpus_refusal = mem_copy_text(refusal);
}

void host_failed(struct host_table *hosts, uint32_t number, char *text, double elapsed,
                 bool unreached)
{
    struct host *host = &hosts->list[number];
    size_t len = strlen(host->node->host);
    bool named = strncmp(text, host->node->host, len) == 0 && strncmp(text + len, ": ", 2) == 0;
    host_set_failure(hosts, host, mem_copy_text(named ? text + len + 2 : text));
    host->elapsed = elapsed;
    host->unreached |= unreached;
    free(text);
    if (!host->topo)
        host_turn(hosts, host, HOST_FAILED);
    else if (host->state == HOST_STARTING) /* again */
        host_turn(hosts, host, HOST_LOST);
}

void host_lost(struct host_table *hosts, uint32_t number, const char *why)
{
    struct host *host = &hosts->list[number];
    host_set_failure(hosts, host, mem_format("lost: %s", why));
    host->elapsed = -1;
    host_turn(hosts, host, HOST_LOST);
}

/* ---- a trial ---- */

void host_lend(struct host_table *hosts, uint32_t number, struct topo *topo)
{
    struct host *host = &hosts->list[number];
    assert(!host->topo);
    if (!hosts->lent)
        hosts->lent = mem_array(hosts->nodes->count, sizeof(*hosts->lent));
    hosts->lent[number] = true;
    idset_add(hosts->used, number);
    host->topo = topo_ref(topo);
}

void host_take_back(struct host_table *hosts)
{
    for (size_t i = 0; hosts->lent && i < hosts->nodes->count; i++) {
        if (!hosts->lent[i])
            continue;
        topo_free(hosts->list[i].topo);
        hosts->list[i].topo = NULL;
        if (hosts->list[i].state == HOST_UNUSED)
            idset_remove(hosts->used, (uint32_t)i);
    }
    free(hosts->lent);
    hosts->lent = NULL;
}
