/* The hardware threads of a node, with the ranks that are bound to each or placed on it. */
#include "affinity/picture/cells.h"

#include <stdlib.h>
#include <string.h>

#include "affinity/picture/node_groups.h"
#include "affinity/sets/short_text.h"
#include "affinity/topology/topo.h"
#include "base/mem.h"

#define MAX_RANKS 8 /* characters of the ranks in one cell */

struct os_row { /* which row an OS index is */
    uint32_t os, row;
};

static int compare_os(const void *a, const void *b)
{
    const struct os_row *x = a, *y = b;
    return (x->os > y->os) - (x->os < y->os);
}

/* Ranks of one binding. */
struct bound {
    uint32_t first, count;
};

bool drawing_is_unbound(const struct drawing *drawing, const struct layout_task *task)
{
    return !drawing->layout->bound || drawing->parts[task->app].policy.bind == POLICY_BIND_NONE;
}

/* By binding: how many of the node's ranks have it, and the first of them. */
static struct bound *count_bound(const struct drawing *drawing, uint32_t node)
{
    struct bound *bounds = mem_array(drawing->layout->nbindings, sizeof(*bounds));
    for (uint32_t i = 0; i < drawing->layout->nodes[node].ntasks; i++) {
        const struct layout_task *task = drawing_task(drawing, node, i);
        if (drawing_is_unbound(drawing, task))
            continue;
        struct bound *bound = &bounds[drawing_binding(drawing, task)];
        uint32_t rank = drawing_rank(drawing, node, i);
        if (!bound->count++ || rank < bound->first)
            bound->first = rank;
    }
    return bounds;
}

static void seat_bound(const struct drawing *drawing, uint32_t node, struct cell *seats)
{
    const struct topo *topo = drawing_node(drawing, node)->topo;
    struct bound *bounds = count_bound(drawing, node);
    struct os_row *rows = mem_array(topo->npus, sizeof(*rows));
    for (uint32_t row = 0; row < topo->npus; row++)
        rows[row] = (struct os_row){topo->os[row], row};
    qsort(rows, topo->npus, sizeof(*rows), compare_os);
    for (uint32_t i = 0; i < drawing->layout->nbindings; i++) {
        if (!bounds[i].count)
            continue;
        IDSET_FOREACH(os, drawing->layout->bindings[i].cpus)
        {
            const struct os_row *found =
                bsearch(&(struct os_row){.os = os}, rows, topo->npus, sizeof(*rows), compare_os);
            if (!found)
                continue;
            struct cell *seat = &seats[found->row];
            if (!seat->nbound || bounds[i].first < seat->rank)
                seat->rank = bounds[i].first;
            seat->nbound += bounds[i].count;
        }
    }
    free(rows);
    free(bounds);
}

struct cell *drawing_seats(const struct drawing *drawing, uint32_t node)
{
    const struct layout_node *source = drawing_node(drawing, node);
    const struct topo *topo = source->topo;
    struct cell *seats = mem_array(topo->npus, sizeof(*seats));
    for (uint32_t row = 0; row < topo->npus; row++)
        seats[row].allocated = idset_has(source->cores, topo_core(topo, row));
    seat_bound(drawing, node, seats);
    for (uint32_t i = 0; i < drawing->layout->nodes[node].ntasks; i++) {
        const struct layout_task *task = drawing_task(drawing, node, i);
        struct cell *seat = &seats[task->place];
        bool unbound = drawing_is_unbound(drawing, task);
        seat->unbound = unbound && (!seat->placed || seat->unbound);
        if (!seat->placed)
            seat->placed = idset_new();
        idset_add(seat->placed, drawing_rank(drawing, node, i));
    }
    /* The one rank that owns a thread on which others, not bound, have their place. */
    for (uint32_t row = 0; row < topo->npus; row++) {
        struct cell *seat = &seats[row];
        if (seat->nbound != 1 || !seat->placed || idset_has(seat->placed, seat->rank))
            continue;
        idset_add(seat->placed, seat->rank);
        seat->unbound = false;
    }
    return seats;
}

void seats_free(struct cell *seats, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        idset_free(seats[i].placed);
    free(seats);
}

bool cell_is_owned(const struct cell *seat)
{
    return seat->nbound == 1;
}

enum cell_kind cell_kind(const struct cell *seat)
{
    if (seat->placed || seat->nbound == 1)
        return CELL_RANKS;
    if (seat->nbound)
        return CELL_SHARED;
    return seat->allocated ? CELL_IDLE : CELL_ABSENT;
}

static bool same_seats(const struct cell *a, const struct cell *b)
{
    enum cell_kind kind = cell_kind(a);
    if (kind != cell_kind(b) || kind != CELL_RANKS)
        return kind == cell_kind(b);
    if (cell_is_owned(a) || cell_is_owned(b))
        return cell_is_owned(a) && cell_is_owned(b) && a->rank == b->rank;
    return idset_equal(a->placed, b->placed);
}

uint32_t seats_told(const struct cell *seats, uint32_t first, uint32_t end)
{
    bool ranks = false, owned = false;
    for (uint32_t i = first; i < end; i++) {
        ranks = ranks || cell_kind(&seats[i]) == CELL_RANKS;
        owned = owned || cell_is_owned(&seats[i]);
    }
    while (ranks && end > first + 1 &&
           (cell_kind(&seats[end - 1]) == CELL_SHARED ||
            (cell_kind(&seats[end - 1]) == CELL_IDLE && !owned)))
        end--;
    for (uint32_t i = first + 1; i < end; i++)
        if (!same_seats(&seats[first], &seats[i]))
            return end;
    return first + 1;
}

unsigned seats_signs(const struct cell *seats, uint32_t first, uint32_t end)
{
    static const unsigned kinds[] = {[CELL_RANKS] = LEGEND_RANK,
                                     [CELL_SHARED] = LEGEND_SHARED,
                                     [CELL_IDLE] = LEGEND_IDLE,
                                     [CELL_ABSENT] = LEGEND_ABSENT};
    unsigned signs = end - first > 1 ? LEGEND_THREADS : 0;
    for (uint32_t i = first; i < end; i++)
        signs |= seats[i].unbound ? LEGEND_UNBOUND : kinds[cell_kind(&seats[i])];
    return signs;
}

char *cell_ranks(const struct cell *seat)
{
    if (!seat->placed)
        return mem_format("%u", seat->rank);
    char *ranks = idset_encode_short(seat->placed, MAX_RANKS);
    if (!seat->unbound)
        return ranks;
    char *text = mem_format("(%s)", ranks);
    free(ranks);
    return text;
}
