/* tpres select, append, subtract, intersect, rerank. */
#include <stdlib.h>
#include <string.h>

#include "affinity/resource/constraint.h"
#include "affinity/resource/scheduling.h"
#include "affinity/resource/scheduling_ranks.h"
#include "affinity/sets/hostlist.h"
#include "base/mem.h"
#include "affinity/sets/host_index.h"
#include "launcher/spec/field_words.h"
#include "launcher/tpres/tpres.h"

/* R with no more under `scheduling` than its nodes need. */
static struct rset *trimmed(struct rset *R)
{
    if (!R || !R->scheduling)
        return R;
    json_t *less = scheduling_trim(R->scheduling, R);
    json_decref(R->scheduling);
    R->scheduling = less;
    return R;
}

/* ---- hosts that an option names ---- */

struct named {
    struct hostlist *list;
    struct host_index *index; /* places in the list */
    bool *found;
};

/* Without the option the list is empty. 0, or -1 with a sentence; named_clear() either way. */
static int named_read(const struct method_call *call, enum tpres_option option, struct named *named,
                      struct error *err)
{
    const char *text = method_value(call, option);
    *named = (struct named){0};
    if (!text)
        return 0;
    named->list = hostlist_decode(text, err);
    if (!named->list)
        return error_usage(err, "--%s: %s", tpres_options[option].name, error_text(err));
    size_t count = hostlist_count(named->list);
    named->index = host_index_new(count);
    named->found = mem_array(count, sizeof(bool));
    for (size_t i = 0; i < count; i++)
        host_index_add(named->index, hostlist_nth(named->list, i), i);
    return 0;
}

static void named_clear(struct named *named)
{
    if (named->index)
        host_index_free(named->index);
    hostlist_free(named->list);
    free(named->found);
}

static size_t named_find(struct named *named, const char *host)
{
    size_t at = named->index ? host_index_find(named->index, host) : HOST_INDEX_NONE;
    if (at != HOST_INDEX_NONE)
        named->found[at] = true;
    return at;
}

/* Each host of the list has to be in R. */
static int named_check(const struct named *named, const struct rset *R, enum tpres_option option,
                       struct error *err)
{
    for (size_t i = 0; i < R->nnodes && named->index; i++)
        named_find((struct named *)named, R->nodes[i].host);
    for (size_t i = 0; named->list && i < hostlist_count(named->list); i++) {
        const char *host = hostlist_nth(named->list, i);
        if (host_index_find(named->index, host) == i && !named->found[i])
            return error_set(err, "--%s: %s is not in the resource set", tpres_options[option].name,
                             host);
    }
    return 0;
}

/* ---- select ---- */

struct choice {
    struct named hosts, exclude;
    struct idset *ranks;    /* NULL: any */
    struct idset *matching; /* what --requires leaves; NULL: any */
    uint32_t count;
};

static bool keeps(const struct rset_node *node, void *arg)
{
    struct choice *choice = arg;
    if ((choice->ranks && !idset_has(choice->ranks, node->rank)) ||
        (choice->matching && !idset_has(choice->matching, node->rank)) ||
        (choice->hosts.list && named_find(&choice->hosts, node->host) == HOST_INDEX_NONE) ||
        named_find(&choice->exclude, node->host) != HOST_INDEX_NONE || choice->count == 0)
        return false;
    choice->count--;
    return true;
}

static int read_ranks(const struct method_call *call, const struct rset *R, struct idset **ranks,
                      struct error *err)
{
    const char *text = method_value(call, TPRES_RANKS);
    if (!text)
        return 0;
    *ranks = idset_decode(text, err);
    if (!*ranks)
        return error_usage(err, "--ranks: %s", error_text(err));
    struct idset *missing = idset_copy(*ranks);
    for (size_t i = 0; i < R->nnodes; i++)
        idset_remove(missing, R->nodes[i].rank);
    uint32_t first = idset_first(missing);
    idset_free(missing);
    return first == IDSET_NONE ? 0
                               : error_set(err, "--ranks: %u is not in the resource set", first);
}

static int read_choice(const struct method_call *call, const struct rset *R, struct choice *choice,
                       struct error *err)
{
    const char *count = method_value(call, TPRES_COUNT);
    const char *requires = method_value(call, TPRES_REQUIRES);
    *choice = (struct choice){.count = UINT32_MAX};
    if (named_read(call, TPRES_HOSTS, &choice->hosts, err) < 0 ||
        named_check(&choice->hosts, R, TPRES_HOSTS, err) < 0 ||
        named_read(call, TPRES_EXCLUDE, &choice->exclude, err) < 0 ||
        named_check(&choice->exclude, R, TPRES_EXCLUDE, err) < 0 ||
        read_ranks(call, R, &choice->ranks, err) < 0)
        return -1;
    if (requires) {
        struct constraint *constraint = constraint_decode(requires, err);
        if (!constraint)
            return error_usage(err, "--requires: %s", error_text(err));
        choice->matching = constraint_match(constraint, R);
        constraint_free(constraint);
    }
    if (count && spec_number_decode(count, SPEC_MAX_NUMBER, &choice->count, err) < 0)
        return error_usage(err, "--count: %s", error_text(err));
    return 0;
}

static int check_chosen(const struct method_call *call, const struct rset *some, uint32_t wanted,
                        struct error *err)
{
    if (!some->nnodes)
        return error_set(err, "no node of the resource set matches");
    if (!method_value(call, TPRES_COUNT) || some->nnodes == wanted)
        return 0;
    return error_set(err, "--count %u: only %zu node%s %s", wanted, some->nnodes,
                     some->nnodes == 1 ? "" : "s", some->nnodes == 1 ? "matches" : "match");
}

static struct rset *tpres_sets_choose(const struct method_call *call, const struct rset *R,
                                      struct error *err)
{
    struct choice choice;
    struct rset *some = NULL;
    if (read_choice(call, R, &choice, err) == 0) {
        uint32_t wanted = choice.count;
        some = rset_select(R, keeps, &choice);
        if (check_chosen(call, some, wanted, err) < 0) {
            rset_free(some);
            some = NULL;
        }
    }
    named_clear(&choice.hosts);
    named_clear(&choice.exclude);
    idset_free(choice.ranks);
    idset_free(choice.matching);
    return some;
}

/* Of each node what --cores and --gpus leave. Takes R, which may be NULL. */
static struct rset *pare(const struct method_call *call, struct rset *R, struct error *err)
{
    struct tpres_amount cores = {0}, gpus = {0};
    struct rset *less = NULL;
    if (R && tpres_amount_decode(call, TPRES_CORES, false, &cores, err) == 0 &&
        tpres_amount_decode(call, TPRES_GPUS, true, &gpus, err) == 0) {
        struct rset *mask = rset_new();
        for (size_t i = 0; i < R->nnodes; i++) {
            const struct rset_children *all = R->nodes[i].children;
            struct idset *c = tpres_amount_of(&cores, all->cores);
            struct idset *g = tpres_amount_of(&gpus, all->gpus);
            rset_append(mask, R->nodes[i].rank, R->nodes[i].host, c, g);
            idset_free(c);
            idset_free(g);
        }
        less = rset_intersect_hosts(R, mask, err);
        rset_free(mask);
    }
    idset_free(cores.ids);
    idset_free(gpus.ids);
    rset_free(R);
    return less;
}

int tpres_select(struct method_call *call, struct error *err)
{
    struct rset *R = tpres_read_operand(call, err);
    struct rset *some = R ? tpres_sets_choose(call, R, err) : NULL;
    rset_free(R);
    if (method_value(call, TPRES_CORES) || method_value(call, TPRES_GPUS))
        some = pare(call, some, err);
    if (some && method_value(call, TPRES_NO_TOPOLOGY)) {
        json_decref(some->scheduling);
        some->scheduling = NULL;
    }
    return tpres_write(call, trimmed(some), err);
}

/* ---- of two and more ---- */

static struct rset *append_one(const struct rset *set, const struct rset *more, struct error *err)
{
    uint32_t *ranks;
    struct rset *sum = rset_append_set(set, more, &ranks, err);
    if (sum && scheduling_append(sum, set, more, ranks, err) < 0) {
        rset_free(sum);
        sum = NULL;
    }
    free(ranks);
    return sum;
}

static struct rset *subtract_one(const struct rset *set, const struct rset *held, struct error *err)
{
    (void)err;
    return rset_subtract_hosts(set, held);
}

/* One operand alone is the second: the first then comes from stdin. Messages name the operand that
 * does not go with those before. */
static int fold(struct method_call *call,
                struct rset *(*join)(const struct rset *set, const struct rset *more,
                                     struct error *err),
                struct error *err)
{
    size_t at = call->nwords > 1;
    struct rset *set = tpres_read(call, at ? call->words[0] : "-", err);
    for (; set && at < call->nwords; at++) {
        struct rset *more = tpres_read(call, call->words[at], err), *result = NULL;
        if (more && !(result = join(set, more, err)))
            error_prefix(err, "R file %s", call->words[at]);
        rset_free(more);
        rset_free(set);
        set = result;
    }
    return tpres_write(call, trimmed(set), err);
}

int tpres_append(struct method_call *call, struct error *err)
{
    return fold(call, append_one, err);
}

int tpres_subtract(struct method_call *call, struct error *err)
{
    return fold(call, subtract_one, err);
}

int tpres_intersect(struct method_call *call, struct error *err)
{
    return fold(call, rset_intersect_hosts, err);
}

/* ---- rerank ---- */

struct seat {
    size_t place; /* in --hosts; others behind */
    size_t node;
};

static int compare_seats(const void *a, const void *b)
{
    const struct seat *x = a, *y = b;
    if (x->place != y->place)
        return x->place < y->place ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

static struct rset *rerank(const struct rset *R, struct named *hosts, struct error *err)
{
    struct seat *seats = mem_array(R->nnodes, sizeof(*seats));
    uint32_t *ranks = mem_array(R->nnodes, sizeof(*ranks));
    for (size_t i = 0; i < R->nnodes; i++)
        seats[i] = (struct seat){named_find(hosts, R->nodes[i].host), i};
    qsort(seats, R->nnodes, sizeof(*seats), compare_seats);
    for (size_t i = 0; i < R->nnodes; i++)
        ranks[seats[i].node] = (uint32_t)i;
    struct rset *result = rset_renumber(R, ranks);
    if (scheduling_renumber(result, R, ranks, err) < 0) {
        rset_free(result);
        result = NULL;
    }
    free(seats);
    free(ranks);
    return result;
}

int tpres_rerank(struct method_call *call, struct error *err)
{
    struct named hosts;
    struct rset *R = NULL, *result = NULL;
    if (named_read(call, TPRES_HOSTS, &hosts, err) == 0 && (R = tpres_read_operand(call, err)) &&
        named_check(&hosts, R, TPRES_HOSTS, err) == 0)
        result = rerank(R, &hosts, err);
    named_clear(&hosts);
    rset_free(R);
    return tpres_write(call, result, err);
}
