/* Why nothing is granted, in a sentence. */
#include "affinity/treepool/infeasible.h"

#include <stdlib.h>
#include <string.h>

#include "affinity/sets/idset.h"
#include "affinity/treepool/best_fit.h"
#include "affinity/treepool/candidates.h"
#include "affinity/treepool/demand.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"

#define WHY_MAX_NAMES 8

/* ---- what is asked for, in words ---- */

/* "4 cores and 1 GPU", "2 numa of 4 cores", "1 free socket". */
static void why_need(struct buf *out, const struct treepool_need *need)
{
    if (need->cores)
        buf_printf(out, "%u core%s", need->cores, text_plural(need->cores));
    if (need->gpus)
        buf_printf(out, "%s%u GPU%s", need->cores ? " and " : "", need->gpus,
                   text_plural(need->gpus));
    for (size_t i = 0; i < need->ninner; i++) {
        const struct treepool_need *inner = &need->inner[i];
        const char *name = inner->locality;
        buf_printf(out, "%s%u %s%s", i || need->cores || need->gpus ? " and " : "", inner->count,
                   inner->exclusive ? "entirely free " : "", excerpt(name, strlen(name)).text);
        if (inner->cores || inner->gpus || inner->ninner)
            buf_add_text(out, inner->count > 1 ? " of each " : " of ");
        why_need(out, inner);
    }
}

/* "4 slots of 8 cores and 1 GPU", "2 slots of 4 cores in each of 2 socket" */
static void why_slots(struct buf *out, const struct treepool_ask *ask)
{
    const struct request *request = ask->request;
    char *count = ask->slots->max ? count_encode(ask->slots) : mem_copy_text("1");
    if (ask->whole_slot) {
        buf_printf(out, "%s whole node%s", count, strcmp(count, "1") == 0 ? "" : "s");
    } else {
        buf_printf(out, "%s slot%s of ", count, strcmp(count, "1") == 0 ? "" : "s");
        why_need(out, &ask->slot);
    }
    free(count);
    for (size_t i = request->nwithin; i > 0; i--) { /* all that stands between node and slot */
        const struct request_within *within = &request->within[i - 1];
        count = count_encode(&within->count);
        buf_printf(out, " in each of %s %s%s", count, within->exclusive ? "entirely free " : "",
                   excerpt(within->locality, strlen(within->locality)).text);
        free(count);
    }
}

/* ---- the largest there is ---- */

static void why_largest(const struct treepool_nodes *nodes, const char *name, uint32_t *cores,
                        uint32_t *gpus)
{
    *cores = *gpus = 0;
    for (uint32_t i = 0; i < nodes->nclasses; i++) {
        const struct treepool_class *class = &nodes->classes[i];
        for (uint32_t j = 0; j < class->tree->ndomains; j++) {
            const struct scheduling_domain *domain = &class->tree->domains[j];
            if (name ? !domain->name || strcmp(domain->name, name) != 0 : j > 0)
                continue;
            size_t c = name ? idset_count_both(domain->cores, class->cores) : class->ncores;
            size_t g = name ? idset_count_both(domain->gpus, class->gpus) : class->ngpus;
            *cores = c > *cores ? (uint32_t)c : *cores;
            *gpus = g > *gpus ? (uint32_t)g : *gpus;
        }
    }
}

/* A number of a need that no node, or no locality of its name, has. */
static bool why_too_large(const struct treepool_nodes *nodes, const struct treepool_need *need,
                          struct error *err)
{
    uint32_t cores, gpus;
    why_largest(nodes, need->locality, &cores, &gpus);
    const char *where = need->locality ? need->locality : "node";
    if (need->all_cores > cores)
        error_set(err, "a slot needs %llu cores of a %s: the largest %s has %u",
                  (unsigned long long)need->all_cores, where, where, cores);
    else if (need->all_gpus > gpus)
        error_set(err, "a slot needs %llu GPU%s of a %s: the most that a %s has is %u",
                  (unsigned long long)need->all_gpus, text_plural(need->all_gpus), where, where,
                  gpus);
    else
        for (size_t i = 0; i < need->ninner; i++)
            if (why_too_large(nodes, &need->inner[i], err))
                return true;
    return need->all_cores > cores || need->all_gpus > gpus;
}

/* ---- names ---- */

static bool why_has_name(const struct treepool_nodes *nodes, const char *name)
{
    for (uint32_t i = 0; i < nodes->nclasses; i++)
        for (uint32_t j = 1; j < nodes->classes[i].tree->ndomains; j++)
            if (strcmp(nodes->classes[i].tree->domains[j].name, name) == 0)
                return true;
    return false;
}

static const char *why_missing_in(const struct treepool_nodes *nodes,
                                  const struct treepool_need *need)
{
    const char *missing =
        need->locality && !why_has_name(nodes, need->locality) ? need->locality : NULL;
    for (size_t i = 0; i < need->ninner && !missing; i++)
        missing = why_missing_in(nodes, &need->inner[i]);
    return missing;
}

static const char *why_missing_name(const struct treepool_nodes *nodes,
                                    const struct treepool_ask *ask)
{
    for (size_t i = 0; i < ask->request->nwithin; i++)
        if (!why_has_name(nodes, ask->request->within[i].locality))
            return ask->request->within[i].locality;
    return why_missing_in(nodes, &ask->slot);
}

static bool why_is_listed(const char *const *names, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static void why_no_name(const struct treepool_nodes *nodes, const char *missing, struct error *err)
{
    const char *names[WHY_MAX_NAMES];
    struct excerpt quoted = excerpt(missing, strlen(missing));
    struct buf list = BUF_INIT;
    size_t n = 0;
    for (uint32_t i = 0; i < nodes->nclasses; i++)
        for (uint32_t j = 1; j < nodes->classes[i].tree->ndomains && n < WHY_MAX_NAMES; j++)
            if (!why_is_listed(names, n, nodes->classes[i].tree->domains[j].name))
                names[n++] = nodes->classes[i].tree->domains[j].name;
    for (size_t i = 0; i < n; i++)
        buf_printf(&list, "%s%s", i ? ", " : "", excerpt(names[i], strlen(names[i])).text);
    if (n)
        error_set(err, "no node has a locality %s: there %s %s", quoted.text, n == 1 ? "is" : "are",
                  buf_text(&list));
    else
        error_set(err,
                  "no node has a locality %s: the resource set says nothing of what is inside "
                  "its nodes (RFC 49)",
                  quoted.text);
    buf_free(&list);
}

/* ---- no node at all ---- */

static void why_no_match(const struct constraint *constraint, struct error *err)
{
    json_t *value = constraint_to_json(constraint);
    char *text = value ? json_dumps(value, JSON_COMPACT) : NULL;
    error_set(err, "no node matches the constraint %.200s", text ? text : "that was given");
    free(text);
    json_decref(value);
}

static void why_states_less(const struct treepool_nodes *nodes, const struct request *request,
                            struct error *err)
{
    const double GiB = 0x1p30;
    bool memory = request->memory > nodes->memory || request->storage <= nodes->storage;
    error_set(err, "no node states as much %s as %.10g GiB: the most is %.10g GiB",
              memory ? "memory" : "storage",
              (double)(memory ? request->memory : request->storage) / GiB,
              (double)(memory ? nodes->memory : nodes->storage) / GiB);
}

/* ---- sentences ---- */

/* More nodes are asked for than there are. */
static bool why_all_do(const struct treepool_nodes *nodes, const struct treepool_ask *ask,
                       const struct treepool_chosen *found)
{
    return ask->request->nodes.max && found->found == nodes->nnodes;
}

/* How far it goes: "4 nodes with ... each: 3 have room for that". */
static void why_short(const struct treepool_nodes *nodes, const struct treepool_ask *ask,
                      const struct treepool_chosen *found, struct buf *out)
{
    const struct request *request = ask->request;
    if (request->nodes.max) {
        char *count = count_encode(&request->nodes);
        bool one = strcmp(count, "1") == 0;
        buf_printf(out, "%s %snode%s", count, ask->whole_slot ? "whole " : "", one ? "" : "s");
        if (!ask->whole_slot) {
            buf_add_text(out, " with ");
            why_slots(out, ask);
            buf_add_text(out, one ? "" : " each");
        }
        if (why_all_do(nodes, ask, found))
            buf_printf(out, ": there %s only %zu", nodes->nnodes == 1 ? "is" : "are",
                       nodes->nnodes);
        else
            buf_printf(out, ": %llu of %zu %s room for that", (unsigned long long)found->found,
                       nodes->nnodes, found->found == 1 ? "has" : "have");
        free(count);
    } else {
        why_slots(out, ask);
        buf_printf(out, ": there is room for %llu", (unsigned long long)found->found);
        if (request->nwithin)
            buf_printf(out, " %s", request->within[0].locality);
    }
}

void treepool_why_never(const struct treepool_nodes *nodes, const struct treepool_ask *ask,
                        const struct treepool_chosen *found, const struct constraint *constraint,
                        struct error *err)
{
    struct buf text = BUF_INIT;
    const char *missing = why_missing_name(nodes, ask);
    if (!nodes->nmatched && constraint)
        why_no_match(constraint, err);
    else if (!nodes->nnodes && nodes->nstated)
        why_states_less(nodes, ask->request, err);
    else if (missing)
        why_no_name(nodes, missing, err);
    else if (!why_too_large(nodes, &ask->slot, err)) {
        why_short(nodes, ask, found, &text);
        if (ask->request->nodes.max && !found->found && found->best)
            buf_printf(&text, "; the most that a node holds is %u", found->best);
        error_set(err, "%s%s", buf_text(&text),
                  why_all_do(nodes, ask, found) ? "" : ", even with all of it free");
    }
    buf_free(&text);
}

void treepool_why_busy(const struct treepool_nodes *nodes, const struct treepool_ask *ask,
                       const struct treepool_chosen *found, struct error *err)
{
    struct buf text = BUF_INIT;
    uint64_t cores = nodes->own_cores - nodes->free_cores,
             gpus = nodes->own_gpus - nodes->free_gpus;
    why_short(nodes, ask, found, &text);
    buf_printf(&text, " now; %llu of %llu core%s", (unsigned long long)cores,
               (unsigned long long)nodes->own_cores, text_plural(nodes->own_cores));
    if (nodes->own_gpus)
        buf_printf(&text, " and %llu of %llu GPU%s", (unsigned long long)gpus,
                   (unsigned long long)nodes->own_gpus, text_plural(nodes->own_gpus));
    error_set(err, "%s are held by others", buf_text(&text));
    buf_free(&text);
}
