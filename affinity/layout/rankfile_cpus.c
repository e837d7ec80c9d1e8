/* Lists of a rank file, looked up in the numbers of a machine. */
#include "affinity/layout/rankfile_cpus.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/mem.h"
#include "base/text.h"

struct pick_cpu {
    uint32_t os, row;
};

/* ---- the machine by its numbers ---- */

static int by_os(const void *a, const void *b)
{
    const struct pick_cpu *x = a, *y = b;
    return (x->os > y->os) - (x->os < y->os);
}

void rankfile_cpus_make(struct rankfile_cpus *pick, const struct node_class *class)
{
    const struct topo *topo = class->topo;
    *pick = (struct rankfile_cpus){.class = class};
    pick->before = mem_array(topo->npus + 1ul, sizeof(*pick->before));
    pick->core = mem_array(topo->npus + 1ul, sizeof(*pick->core));
    pick->cpus = mem_array(topo->npus, sizeof(*pick->cpus));
    for (uint32_t row = 0, mine = 0; row < topo->npus; row++) {
        mine += mine < class->nrows && class->rows[mine] == row;
        pick->before[row + 1] = mine;
        pick->cpus[row] = (struct pick_cpu){topo->os[row], row};
        if (row == 0 || topo_core(topo, row) != topo_core(topo, row - 1))
            pick->core[pick->ncores++] = row;
    }
    pick->core[pick->ncores] = topo->npus;
    qsort(pick->cpus, topo->npus, sizeof(*pick->cpus), by_os);

    const uint32_t *socket = topo->object[TOPO_SOCKET];
    pick->nsockets = topo->count[TOPO_SOCKET] ? topo->count[TOPO_SOCKET] : 1;
    pick->socket = mem_array(pick->nsockets * 2ul, sizeof(*pick->socket));
    if (!topo->count[TOPO_SOCKET]) { /* a machine without sockets is one */
        pick->socket[1] = pick->ncores - 1;
        return;
    }
    for (uint32_t row = 0; row < topo->npus; row++) {
        if (socket[row] == TOPO_ABSENT)
            continue;
        if (row == 0 || socket[row - 1] != socket[row])
            pick->socket[2 * socket[row]] = topo_core(topo, row);
        pick->socket[2 * socket[row] + 1] = topo_core(topo, row);
    }
}

void rankfile_cpus_free(struct rankfile_cpus *pick)
{
    free(pick->before);
    free(pick->core);
    free(pick->socket);
    free(pick->cpus);
    free(pick->spans);
}

/* ---- sentences ---- */

static char *allocated_text(const struct rankfile_cpus *pick,
                            struct idset *(*what)(const struct node_class *, uint32_t, uint32_t))
{
    struct idset *set = what(pick->class, 0, pick->class->nrows);
    char *text = idset_encode(set);
    idset_free(set);
    return text;
}

/* `number` is as the list has it, counted in `socket` unless that is UINT32_MAX. */
static int refuse_core(const struct rankfile_cpus *pick, uint32_t socket, uint32_t number,
                       uint32_t core, const char *host, struct error *err)
{
    char *have = allocated_text(pick, node_class_cores);
    if (socket == UINT32_MAX)
        error_set(err,
                  "core %u of %s was not allocated to this program, of its cores %s were (logical "
                  "numbers)",
                  core, host, have);
    else
        error_set(err,
                  "core %u of socket %u of %s, its core %u, was not allocated to this program, of "
                  "its cores %s "
                  "were (logical numbers)",
                  number, socket, host, core, have);
    free(have);
    return -1;
}

static int refuse_cpu(const struct rankfile_cpus *pick, uint32_t os, const struct pick_cpu *cpu,
                      const char *host, struct error *err)
{
    const struct topo *topo = pick->class->topo;
    if (cpu) {
        char *have = allocated_text(pick, node_class_cpus);
        error_set(err,
                  "processor %u of %s, in core %u, was not allocated to this program, of its "
                  "processors %s were "
                  "(OS indexes)",
                  os, host, topo_core(topo, cpu->row), have);
        free(have);
        return -1;
    }
    struct idset *set = idset_new();
    for (uint32_t row = 0; row < topo->npus; row++)
        idset_add(set, topo->os[row]);
    char *have = idset_encode(set);
    error_set(err, "%s has no processor %u, it has %s (OS indexes)", host, os, have);
    free(have);
    idset_free(set);
    return -1;
}

/* ---- picking ---- */

static void add_span(struct rankfile_cpus *pick, uint32_t first, uint32_t end)
{
    pick->work++;
    if (first == end)
        return;
    if (pick->nspans && pick->spans[pick->nspans - 1].end == first) {
        pick->spans[pick->nspans - 1].end = end;
        return;
    }
    pick->spans = array_grow(pick->spans, pick->nspans, sizeof(*pick->spans));
    pick->spans[pick->nspans++] = (struct rows){first, end};
}

/* All allocated threads of the cores first..last. */
static void rankfile_cpus_add_cores(struct rankfile_cpus *pick, uint32_t first, uint32_t last)
{
    add_span(pick, pick->before[pick->core[first]], pick->before[pick->core[last + 1]]);
}

/* Of first..last, the first core without any thread that may be used; UINT32_MAX when none is. */
static uint32_t missing_core(struct rankfile_cpus *pick, uint32_t first, uint32_t last)
{
    uint32_t from = pick->core[first], to = pick->core[last + 1];
    if (pick->before[to] - pick->before[from] == to - from) /* all of them are there */
        return UINT32_MAX;
    for (; first <= last; first++, pick->work++)
        if (pick->before[pick->core[first + 1]] == pick->before[pick->core[first]])
            return first;
    return UINT32_MAX;
}

static int pick_cores(struct rankfile_cpus *pick, const struct slot_item *item, const char *host,
                      struct error *err)
{
    bool all = item->last == SLOT_LAST;
    uint32_t last = all ? pick->ncores - 1 : item->last;
    if (last >= pick->ncores)
        return error_set(err, "%s has no core %u, it has 0-%u (logical numbers)", host,
                         item->first < pick->ncores ? pick->ncores : item->first, pick->ncores - 1);
    uint32_t missing = all ? UINT32_MAX : missing_core(pick, item->first, last);
    if (missing != UINT32_MAX)
        return refuse_core(pick, UINT32_MAX, missing, missing, host, err);
    rankfile_cpus_add_cores(pick, item->first, last);
    return 0;
}

static int pick_sockets(struct rankfile_cpus *pick, const struct slot_item *item, const char *host,
                        struct error *err)
{
    uint32_t last = item->socket_last == SLOT_LAST ? pick->nsockets - 1 : item->socket_last;
    if (last >= pick->nsockets)
        return error_set(err, "%s has no socket %u, it has 0-%u (logical numbers)", host,
                         item->socket_first < pick->nsockets ? pick->nsockets : item->socket_first,
                         pick->nsockets - 1);
    for (uint32_t socket = item->socket_first; socket <= last; socket++) {
        uint32_t base = pick->socket[2 * socket], count = pick->socket[2 * socket + 1] - base + 1;
        bool all = item->last == SLOT_LAST;
        uint32_t last_core = all ? count - 1 : item->last;
        if (last_core >= count)
            return error_set(err,
                             "socket %u of %s has no core %u, it has 0-%u (counted in the socket)",
                             socket, host, item->first < count ? count : item->first, count - 1);
        uint32_t missing =
            all ? UINT32_MAX : missing_core(pick, base + item->first, base + last_core);
        if (missing != UINT32_MAX)
            return refuse_core(pick, socket, missing - base, missing, host, err);
        rankfile_cpus_add_cores(pick, base + item->first, base + last_core);
    }
    return 0;
}

/* The allocated row of a processor; with `whole` those of its core. */
static int pick_cpu(struct rankfile_cpus *pick, uint32_t os, bool whole, const char *host,
                    struct error *err)
{
    struct pick_cpu key = {os, 0};
    const uint32_t npus = pick->class->topo->npus;
    const struct pick_cpu *cpu = bsearch(&key, pick->cpus, npus, sizeof(key), by_os);
    if (!cpu || pick->before[cpu->row] == pick->before[cpu->row + 1])
        return refuse_cpu(pick, os, cpu, host, err);
    if (whole)
        rankfile_cpus_add_cores(pick, topo_core(pick->class->topo, cpu->row),
                                topo_core(pick->class->topo, cpu->row));
    else
        add_span(pick, pick->before[cpu->row], pick->before[cpu->row] + 1);
    return 0;
}

static int pick_slots(struct rankfile_cpus *pick, const struct rankfile_rank *rank,
                      const char *host, struct error *err)
{
    struct slot_reader reader = {.list = rank->list, .len = rank->len};
    struct slot_item item;
    const char *why = NULL;
    const uint64_t most = 8ull * pick->class->topo->npus;
    int rc;
    while ((rc = slot_next(&reader, &item, &why)) > 0) {
        if (!reader.physical)
            rc = item.in_socket ? pick_sockets(pick, &item, host, err)
                                : pick_cores(pick, &item, host, err);
        else
            for (uint64_t os = item.first; os <= item.last && rc >= 0; os++)
                rc = pick_cpu(pick, (uint32_t)os, true, host, err);
        if (rc < 0)
            return -1;
        if (pick->work > most)
            return error_set(err, "it names the same processors again and again");
    }
    return rc < 0 ? error_set(err, "%s", why) : 0;
}

static int pick_cpus(struct rankfile_cpus *pick, const struct rankfile_rank *rank, const char *host,
                     struct error *err)
{
    char *text = mem_copy_text_n(rank->list, rank->len);
    struct idset *cpus = idset_decode(text, err);
    int rc = cpus ? 0 : -1;
    uint32_t first, last;
    for (size_t at = 0; rc == 0 && idset_range(cpus, &at, &first, &last);)
        for (uint64_t os = first; os <= last && rc == 0; os++)
            rc = pick_cpu(pick, (uint32_t)os, false, host, err);
    idset_free(cpus);
    free(text);
    return rc;
}

/* ---- in order, and apart ---- */

static int by_first(const void *a, const void *b)
{
    const struct rows *x = a, *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

int rankfile_cpus_rank(struct rankfile_cpus *pick, const struct rankfile_rank *rank,
                       const char *host, struct error *err)
{
    bool slots = rank->form == RANKFILE_SLOTS;
    pick->nspans = 0;
    pick->work = 0;
    int rc = slots ? pick_slots(pick, rank, host, err) : pick_cpus(pick, rank, host, err);
    if (rc == 0 && !pick->nspans)
        rc = error_set(err, "nothing of this was allocated on %s", host);
    if (rc < 0)
        return error_prefix(err, "%s %s", slots ? "slot" : "cpus",
                            excerpt(rank->list, rank->len).text);
    uint32_t n = 0;
    qsort(pick->spans, pick->nspans, sizeof(*pick->spans), by_first);
    for (uint32_t i = 0; i < pick->nspans; i++) {
        const struct rows span = pick->spans[i];
        if (n && span.first <= pick->spans[n - 1].end) {
            if (span.end > pick->spans[n - 1].end)
                pick->spans[n - 1].end = span.end;
        } else {
            pick->spans[n++] = span;
        }
    }
    pick->nspans = n;
    return 0;
}
