/*
 * Ids for the counts of a plan: whole domains first, then the shares of the finest domains, lowest
 * ids first, and so on outwards. In a domain that has smaller ones the GPUs come from where most
 * cores are left, and the cores from as near to them as there are.
 */
#include "affinity/treepool/slot_ids.h"

#include <stdlib.h>
#include <string.h>

#include "affinity/sets/idset.h"
#include "affinity/treepool/candidates.h"
#include "affinity/treepool/demand.h"
#include "affinity/treepool/domain_counts.h"
#include "affinity/treepool/packing.h"
#include "base/mem.h"

#define FILL_MAX_GPUS 65536u /* of more than these the lowest are taken */

struct filler {
    const struct treepool_class *class;
    struct treepool_fill *fill;
    struct idset *cores, *gpus; /* left */
};

/* Move the lowest ids of `domain` (NULL: any) from what is left to `to`; how many are missing. */
static uint32_t fill_lowest(struct idset *left, const struct idset *domain, uint32_t count,
                            struct idset *to)
{
    uint32_t first, last;
    struct idset *here = domain ? idset_intersect(left, domain) : idset_copy(left);
    struct idset *taken = idset_new();
    for (size_t at = 0; count && idset_range(here, &at, &first, &last);) {
        if (last - first >= count)
            last = first + count - 1;
        idset_add_range(taken, first, last);
        idset_add_range(to, first, last);
        count -= last - first + 1;
    }
    idset_remove_set(left, taken);
    idset_free(taken);
    idset_free(here);
    return count;
}

/* What a domain has, of what the node owns; the node has all of it. */
static const struct idset *fill_domain_cores(const struct filler *f, uint32_t domain)
{
    return domain ? f->class->tree->domains[domain].cores : NULL;
}

static const struct idset *fill_domain_gpus(const struct filler *f, uint32_t domain)
{
    return domain ? f->class->tree->domains[domain].gpus : NULL;
}

/* The finest domain at or below `domain` that has this GPU. */
static uint32_t fill_home_of_gpu(const struct filler *f, uint32_t domain, uint32_t gpu)
{
    const struct scheduling_domain *domains = f->class->tree->domains;
    uint32_t home = domain;
    for (uint32_t i = domain + 1; i < domains[domain].end;) {
        bool here = idset_has(domains[i].gpus, gpu);
        if (here)
            home = i;
        i = here ? i + 1 : domains[i].end;
    }
    return home;
}

struct fill_gpu {
    uint32_t id, home, ncores;
};

static int fill_compare_gpus(const void *a, const void *b)
{
    const struct fill_gpu *x = a, *y = b;
    if (x->ncores != y->ncores)
        return x->ncores > y->ncores ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

/* All free GPUs of a domain, those with most of the cores that are needed beside them first. */
static struct fill_gpu *fill_list_gpus(const struct filler *f, const struct treepool_share *share,
                                       size_t *n)
{
    const struct idset *gpus = fill_domain_gpus(f, share->domain);
    struct idset *here = gpus ? idset_intersect(f->gpus, gpus) : idset_copy(f->gpus);
    struct fill_gpu *list = mem_array(idset_count(here), sizeof(*list));
    *n = 0;
    IDSET_FOREACH(id, here)
    {
        uint32_t home = fill_home_of_gpu(f, share->domain, id);
        const struct idset *near = fill_domain_cores(f, home);
        size_t ncores = near ? idset_count_both(near, f->cores) : idset_count(f->cores);
        ncores = ncores < share->cores ? ncores : share->cores;
        list[(*n)++] = (struct fill_gpu){id, home, (uint32_t)ncores};
    }
    idset_free(here);
    qsort(list, *n, sizeof(*list), fill_compare_gpus);
    return list;
}

static void fill_with_gpus(struct filler *f, const struct treepool_share *share,
                           struct idset *cores, struct idset *gpus)
{
    size_t n;
    if (f->class->ngpus > FILL_MAX_GPUS) {
        fill_lowest(f->gpus, fill_domain_gpus(f, share->domain), share->gpus, gpus);
        fill_lowest(f->cores, fill_domain_cores(f, share->domain), share->cores, cores);
        return;
    }
    struct fill_gpu *list = fill_list_gpus(f, share, &n);
    for (uint32_t i = 0; i < share->gpus && i < n; i++) {
        idset_add(gpus, list[i].id);
        idset_remove(f->gpus, list[i].id);
    }
    /* Cores from the domains of the GPUs in turn, then from those around them, until there are enough. */
    const struct scheduling_domain *domains = f->class->tree->domains;
    uint32_t missing = share->cores;
    for (bool outermost = false; missing && !outermost;) {
        outermost = true;
        for (uint32_t i = 0; i < share->gpus && missing; i++) {
            uint32_t *home = &list[i].home;
            missing = fill_lowest(f->cores, fill_domain_cores(f, *home), missing, cores);
            outermost &= *home == share->domain;
            *home = *home == share->domain ? share->domain : domains[*home].up;
        }
    }
    free(list);
}

static void fill_share(struct filler *f, const struct treepool_share *share)
{
    if (share->slot == TREEPOOL_NONE || share->inside)
        return;
    struct idset *cores = f->fill->cores[share->slot], *gpus = f->fill->gpus[share->slot];
    if (share->exclusive) { /* all that the node owns of the domain */
        const struct scheduling_domain *domain = &f->class->tree->domains[share->domain];
        size_t ncores = idset_count_both(f->class->cores, domain->cores);
        size_t ngpus = idset_count_both(f->class->gpus, domain->gpus);
        fill_lowest(f->cores, domain->cores, (uint32_t)ncores, cores);
        fill_lowest(f->gpus, domain->gpus, (uint32_t)ngpus, gpus);
    } else if (share->gpus) {
        fill_with_gpus(f, share, cores, gpus);
    } else {
        fill_lowest(f->cores, fill_domain_cores(f, share->domain), share->cores, cores);
    }
}

/* Whole domains, then those furthest in: what lies within a domain has a higher index. */
static int fill_compare(const void *a, const void *b)
{
    const struct treepool_share *x = *(const struct treepool_share *const *)a;
    const struct treepool_share *y = *(const struct treepool_share *const *)b;
    if (x->exclusive != y->exclusive)
        return x->exclusive ? -1 : 1;
    if (x->domain != y->domain)
        return x->domain > y->domain ? -1 : 1;
    return (x > y) - (x < y);
}

static void fill_sum(struct filler *f, const struct treepool_ask *ask, uint32_t nshares)
{
    struct treepool_fill *fill = f->fill;
    const struct treepool_class *class = f->class;
    if (ask->exclusive) {
        idset_add_set(fill->all_cores, class->cores);
        idset_add_set(fill->all_gpus, class->gpus);
        return;
    }
    struct idset *cores = idset_subtract(class->cores, f->cores);
    struct idset *gpus = idset_subtract(class->gpus, f->gpus);
    idset_add_set(fill->all_cores, cores);
    idset_add_set(fill->all_gpus, gpus);
    idset_free(cores);
    idset_free(gpus);
    for (uint32_t i = 0; i < nshares; i++) {
        const struct treepool_share *share = &class->plan->shares[i];
        if (share->slot != TREEPOOL_NONE)
            continue;
        /* A claim for no slot by itself: the node's R has all of it. */
        const struct scheduling_domain *domain = &class->tree->domains[share->domain];
        cores = idset_intersect(class->cores, domain->cores);
        gpus = idset_intersect(class->gpus, domain->gpus);
        idset_add_set(fill->all_cores, cores);
        idset_add_set(fill->all_gpus, gpus);
        idset_free(cores);
        idset_free(gpus);
    }
}

static struct treepool_fill *fill_new(const struct treepool_plan *plan, uint32_t npieces)
{
    struct treepool_fill *fill = mem_alloc(sizeof(*fill));
    fill->npieces = npieces;
    fill->nslots = plan->pieces[npieces - 1].seats_end;
    fill->cores = mem_array(fill->nslots, sizeof(struct idset *));
    fill->gpus = mem_array(fill->nslots, sizeof(struct idset *));
    for (uint32_t i = 0; i < fill->nslots; i++) {
        fill->cores[i] = idset_new();
        fill->gpus[i] = idset_new();
    }
    fill->all_cores = idset_new();
    fill->all_gpus = idset_new();
    return fill;
}

const struct treepool_fill *treepool_fill(struct treepool_class *class,
                                          const struct treepool_ask *ask, uint32_t npieces)
{
    const struct treepool_plan *plan = class->plan;
    for (const struct treepool_fill *old = class->fills; old; old = old->next)
        if (old->npieces == npieces)
            return old;
    struct filler f = {class, fill_new(plan, npieces), idset_copy(class->cores),
                       idset_copy(class->gpus)};
    uint32_t nshares = plan->pieces[npieces - 1].shares_end;
    const struct treepool_share **order = mem_array(nshares, sizeof(*order));
    for (uint32_t i = 0; i < nshares; i++)
        order[i] = &plan->shares[i];
    qsort(order, nshares, sizeof(*order), fill_compare);
    for (uint32_t i = 0; i < nshares; i++)
        fill_share(&f, order[i]);
    free(order);
    fill_sum(&f, ask, nshares);
    if (ask->whole_slot) {
        idset_add_set(f.fill->cores[0], class->cores);
        idset_add_set(f.fill->gpus[0], class->gpus);
    }
    idset_free(f.cores);
    idset_free(f.gpus);
    f.fill->next = class->fills;
    class->fills = f.fill;
    return f.fill;
}

void treepool_fill_free(struct treepool_fill *fill)
{
    while (fill) {
        struct treepool_fill *next = fill->next;
        for (uint32_t i = 0; i < fill->nslots; i++) {
            idset_free(fill->cores[i]);
            idset_free(fill->gpus[i]);
        }
        free(fill->cores);
        free(fill->gpus);
        idset_free(fill->all_cores);
        idset_free(fill->all_gpus);
        free(fill);
        fill = next;
    }
}
