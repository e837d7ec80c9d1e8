/*
 * What is left on a node, counted in every domain.
 *
 * A share may use anything in its domain that finer shares leave, so shares fit together when in
 * every domain those at and below it are at most what it has: Hall's condition, for sets that lie
 * within one another or apart. Hence counts decide; ids are found afterwards, finest domains first.
 */
#include "affinity/treepool/domain_counts.h"

#include <stdlib.h>
#include <string.h>

#include "affinity/sets/idset.h"
#include "affinity/treepool/candidates.h"
#include "affinity/treepool/demand.h"
#include "base/array.h"
#include "base/hash_table.h"
#include "base/mem.h"

#define MAX_TRIED (1u << 16) /* trials that are remembered at a time */

/* How often a need fits into a domain, and when that was found. */
struct known_room {
    uint64_t when; /* 0: never */
    uint32_t room;
};

/* A trial, and what there was to take from: all within `stop`, which has this mark. */
struct tried {
    uint32_t depth, stop;
    uint64_t mark;
    struct treepool_trial trial;
};

struct domain_counts {
    const struct treepool_ask *ask;
    const struct scheduling_tree *tree;
    uint32_t *cores, *gpus;         /* left, by domain */
    uint32_t *own_cores, *own_gpus; /* by domain; only where something is exclusive */
    bool *claimed;
    uint32_t room;             /* domains there is memory for */
    uint64_t now;              /* counts what changed */
    uint64_t *changed;         /* by domain: when what it has, or one below it has, last changed */
    struct known_room **known; /* by need, then domain; NULL where nothing is known */
    uint64_t *marks;           /* by domain: a sum of what was taken from it and all below it; only
                                  where `within` has several localities */
    struct tried *tried;       /* by number in the table */
    struct hash_table trials;
    struct treepool_share *shares;
    size_t nshares, shares_capacity;
};

/* What is known of each need has as many entries as there is room for. */
static void forget_rooms(struct domain_counts *counts)
{
    for (uint32_t i = 0; counts->known && i < counts->ask->nneeds; i++) {
        free(counts->known[i]);
        counts->known[i] = NULL;
    }
}

static void grow_counts(struct domain_counts *counts, uint32_t ndomains)
{
    if (ndomains <= counts->room)
        return;
    uint32_t **arrays[] = {&counts->cores, &counts->gpus, &counts->own_cores, &counts->own_gpus};
    for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++)
        *arrays[i] = mem_resize(*arrays[i], ndomains, sizeof(**arrays[i]));
    counts->claimed = mem_resize(counts->claimed, ndomains, sizeof(*counts->claimed));
    counts->changed = mem_resize(counts->changed, ndomains, sizeof(*counts->changed));
    counts->marks = mem_resize(counts->marks, ndomains, sizeof(*counts->marks));
    forget_rooms(counts);
    counts->room = ndomains;
}

static void count_domains(const struct scheduling_tree *tree, const struct idset *cores,
                          const struct idset *gpus, uint32_t *ncores, uint32_t *ngpus)
{
    ncores[0] = (uint32_t)idset_count(cores);
    ngpus[0] = (uint32_t)idset_count(gpus);
    for (uint32_t i = 1; i < tree->ndomains; i++) {
        ncores[i] = (uint32_t)idset_count_both(tree->domains[i].cores, cores);
        ngpus[i] = (uint32_t)idset_count_both(tree->domains[i].gpus, gpus);
    }
}

struct domain_counts *domain_counts_new(const struct treepool_ask *ask)
{
    struct domain_counts *counts = mem_alloc(sizeof(*counts));
    counts->ask = ask;
    return counts;
}

void domain_counts_load(struct domain_counts *counts, const struct treepool_class *class)
{
    counts->tree = class->tree;
    grow_counts(counts, class->tree->ndomains);
    count_domains(class->tree, class->cores, class->gpus, counts->cores, counts->gpus);
    if (counts->ask->has_exclusive)
        count_domains(class->tree, class->own->cores, class->own->gpus, counts->own_cores,
                      counts->own_gpus);
    memset(counts->claimed, 0, class->tree->ndomains * sizeof(*counts->claimed));
    if (!counts->known)
        counts->known = mem_array(counts->ask->nneeds, sizeof(struct known_room *));
    counts->now++;
    for (uint32_t i = 0; i < class->tree->ndomains; i++) {
        counts->changed[i] = counts->now;
        counts->marks[i] = hash_table_hash(0, counts->now); /* no two loads are alike */
    }
    counts->nshares = 0;
    hash_table_free(&counts->trials);
}

void domain_counts_free(struct domain_counts *counts)
{
    forget_rooms(counts);
    free(counts->cores);
    free(counts->gpus);
    free(counts->own_cores);
    free(counts->own_gpus);
    free(counts->claimed);
    free(counts->changed);
    free(counts->known);
    free(counts->marks);
    free(counts->tried);
    hash_table_free(&counts->trials);
    free(counts->shares);
    free(counts);
}

static bool can_claim(const struct domain_counts *counts, uint32_t domain)
{
    return !counts->claimed[domain] && counts->own_cores[domain] &&
           counts->cores[domain] == counts->own_cores[domain] &&
           counts->gpus[domain] == counts->own_gpus[domain];
}

/* The first domain whose count changes; a claimed domain keeps its own count for its slots. */
static uint32_t first_counted(const struct domain_counts *counts,
                              const struct treepool_share *share)
{
    return share->exclusive ? counts->tree->domains[share->domain].up : share->domain;
}

/* What a domain has is part of what all around it have. */
static void note_change(struct domain_counts *counts, uint32_t domain)
{
    if (!counts->ask->nitems) /* nothing is kept */
        return;
    counts->now++;
    for (uint32_t at = domain;; at = counts->tree->domains[at].up) {
        counts->changed[at] = counts->now;
        if (at == 0)
            return;
    }
}

static bool keeps_trials(const struct domain_counts *counts)
{
    return counts->ask->request->nwithin > 1;
}

/* A share that was taken (by = 1), or given back (by = -1): where the same shares were
 * taken in any order and way the marks are the same. */
static void mark_share(struct domain_counts *counts, const struct treepool_share *share,
                       uint64_t by)
{
    if (!keeps_trials(counts))
        return;
    uint64_t hash = hash_table_hash(share->domain, share->exclusive);
    hash = hash_table_hash(hash_table_hash(hash_table_hash(hash, share->stop), share->cores),
                           share->gpus);
    for (uint32_t at = first_counted(counts, share);; at = counts->tree->domains[at].up) {
        counts->marks[at] += by * hash;
        if (at == 0)
            return;
    }
}

static bool trial_is(const void *owner, uint32_t number, const void *thing)
{
    const struct tried *tried = (const struct tried *)owner + number;
    const struct tried *like = thing;
    return tried->mark == like->mark && tried->depth == like->depth && tried->stop == like->stop &&
           tried->trial.domain == like->trial.domain;
}

/* Where the trial is kept, as it was made or new and unknown; until the next one is looked for. */
static struct treepool_trial *find_trial(struct domain_counts *counts, uint32_t depth,
                                         uint32_t stop, uint32_t domain)
{
    if (counts->trials.count == MAX_TRIED)
        hash_table_free(&counts->trials);
    struct tried like = {
        depth, stop, counts->marks[stop], {.domain = domain, .nslots = TREEPOOL_NONE}};
    uint64_t hash =
        hash_table_hash(hash_table_hash(like.mark, stop), (uint64_t)depth << 32 | domain);
    uint32_t count = counts->trials.count;
    uint32_t number = hash_table_intern(&counts->trials, hash, trial_is, counts->tried, &like);
    if (number == count) {
        counts->tried = array_grow(counts->tried, number, sizeof(*counts->tried));
        counts->tried[number] = like;
    }
    return &counts->tried[number].trial;
}

bool domain_counts_recall(struct domain_counts *counts, uint32_t depth, uint32_t stop,
                          struct treepool_trial *trial)
{
    if (!keeps_trials(counts))
        return false;
    const struct treepool_trial *kept = find_trial(counts, depth, stop, trial->domain);
    if (kept->nslots == TREEPOOL_NONE)
        return false;
    *trial = *kept;
    return true;
}

void domain_counts_remember(struct domain_counts *counts, uint32_t depth, uint32_t stop,
                            const struct treepool_trial *trial)
{
    if (keeps_trials(counts))
        *find_trial(counts, depth, stop, trial->domain) = *trial;
}

bool domain_counts_take(struct domain_counts *counts, struct treepool_share share)
{
    const struct scheduling_domain *domains = counts->tree->domains;
    if (share.exclusive) { /* a claim stands for all there is, whatever its slots use of it */
        if (share.domain == share.stop || !can_claim(counts, share.domain))
            return false;
        share.cores = counts->own_cores[share.domain];
        share.gpus = counts->own_gpus[share.domain];
    }
    uint32_t first = first_counted(counts, &share);
    for (uint32_t at = first;; at = domains[at].up) {
        if (counts->cores[at] < share.cores || counts->gpus[at] < share.gpus)
            return false;
        if (at == share.stop)
            break;
        if (counts->claimed[at])
            return false;
    }
    for (uint32_t at = first;; at = domains[at].up) {
        counts->cores[at] -= share.cores;
        counts->gpus[at] -= share.gpus;
        if (at == share.stop)
            break;
    }
    if (share.exclusive)
        counts->claimed[share.domain] = true;
    note_change(counts, share.domain);
    mark_share(counts, &share, 1);
    counts->shares = array_reserve(counts->shares, &counts->shares_capacity, counts->nshares + 1,
                                   sizeof(*counts->shares));
    counts->shares[counts->nshares++] = share;
    return true;
}

size_t domain_counts_ntaken(const struct domain_counts *counts)
{
    return counts->nshares;
}

const struct treepool_share *domain_counts_taken(const struct domain_counts *counts)
{
    return counts->shares;
}

void domain_counts_undo(struct domain_counts *counts, size_t ntaken)
{
    while (counts->nshares > ntaken) {
        const struct treepool_share *share = &counts->shares[--counts->nshares];
        if (share->exclusive)
            counts->claimed[share->domain] = false;
        note_change(counts, share->domain);
        mark_share(counts, share, (uint64_t)-1);
        for (uint32_t at = first_counted(counts, share);; at = counts->tree->domains[at].up) {
            counts->cores[at] += share->cores;
            counts->gpus[at] += share->gpus;
            if (at == share->stop)
                break;
        }
    }
}

/* How much a domain can hold at most, by what is left there. */

static uint32_t room_least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static uint32_t room_times(uint32_t left, uint64_t each)
{
    return each ? (uint32_t)(left / each) : UINT32_MAX;
}

/* How often `need->count` domains from `first` up to `end` are there; at most `most`. */
static uint32_t room_inner(struct domain_counts *counts, const struct treepool_need *need,
                           uint32_t first, uint32_t end, uint32_t most)
{
    const struct scheduling_domain *domains = counts->tree->domains;
    if (!treepool_ask_spend(counts->ask, end - first))
        return 0;
    uint32_t *rooms = mem_array(end - first, sizeof(*rooms));
    uint32_t low = 0, high = most;
    size_t n = 0;
    for (uint32_t i = first; i < end; i++)
        if (domains[i].name && strcmp(domains[i].name, need->locality) == 0)
            rooms[n++] = domain_counts_room(counts, need, i);
    while (low < high && treepool_ask_spend(counts->ask, n)) {
        uint32_t middle = high - (high - low) / 2;
        /* Whether that many fit, each in domains of its own. */
        uint64_t sum = 0, wanted = (uint64_t)need->count * middle;
        for (size_t i = 0; i < n && sum < wanted; i++)
            sum += room_least(rooms[i], middle);
        if (sum >= wanted)
            low = middle;
        else
            high = middle - 1;
    }
    free(rooms);
    return low;
}

uint32_t domain_counts_room(struct domain_counts *counts, const struct treepool_need *need,
                            uint32_t domain)
{
    if (need->exclusive && !can_claim(counts, domain))
        return 0;
    uint32_t most = room_least(room_times(counts->cores[domain], need->all_cores),
                               room_times(counts->gpus[domain], need->all_gpus));
    most = room_least(most, need->exclusive ? 1 : UINT32_MAX);
    if (!need->ninner || !most)
        return most;
    struct known_room **known = &counts->known[need->number];
    if (!*known)
        *known = mem_array(counts->room, sizeof(**known));
    struct known_room *here = &(*known)[domain];
    if (here->when >= counts->changed[domain])
        return here->room;
    /* As often as all that the need has inside fits. */
    uint32_t first = need->locality ? domain + 1 : domain; /* a slot may lie in what it needs */
    uint32_t end = counts->tree->domains[domain].end;
    for (size_t i = 0; i < need->ninner && most; i++)
        most = room_inner(counts, &need->inner[i], first, end, most);
    *here = (struct known_room){counts->now, most};
    return most;
}
