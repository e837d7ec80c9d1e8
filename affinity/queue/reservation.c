/* The earliest start of a program that waits, and what it can spare until then. */
#include "affinity/queue/reservation.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/search.h"

#define RESERVATION_TRIALS 100 /* of fit() */

struct reservation_search {
    const struct reservation_question *question;
    const struct rset **taken; /* [nholds + 1] room for reservation_fit() */
    uint64_t *times;           /* now, and the ends after it; ascending */
    size_t ntimes;
    unsigned trials; /* that are left */
};

/* ---- trials ---- */

/* What it would take at that time, where of what may be free by then the holds are that `gone` says (NULL: all of them),
 * and `spare` (or NULL) was given away. Caller frees; NULL: it does not fit, or there were trials enough. */
static struct rset *reservation_fit(struct reservation_search *search, uint64_t time,
                                    const bool *gone, const struct rset *spare)
{
    const struct reservation_question *question = search->question;
    size_t count = 0;
    if (!search->trials)
        return NULL;
    search->trials--;
    for (size_t i = 0; i < question->nholds; i++) {
        const struct reservation_hold *hold = &question->holds[i];
        if (hold->end > time || (!hold->is_known && gone && !gone[i]))
            search->taken[count++] = hold->set;
    }
    if (spare)
        search->taken[count++] = spare;
    struct rset *taken = count ? rset_union_hosts(search->taken, count) : NULL;
    struct rset *fit = question->fit(question->owner, taken);
    rset_free(taken);
    return fit;
}

static bool reservation_fits(struct reservation_search *search, uint64_t time, const bool *gone,
                             const struct rset *spare)
{
    struct rset *fit = reservation_fit(search, time, gone, spare);
    bool fits = fit;
    rset_free(fit);
    return fits;
}

/* ---- the earliest start ---- */

static int reservation_compare_times(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void reservation_find_times(struct reservation_search *search)
{
    const struct reservation_question *question = search->question;
    search->times = mem_array(question->nholds + 1, sizeof(*search->times));
    search->times[search->ntimes++] = question->now;
    for (size_t i = 0; i < question->nholds; i++)
        if (question->holds[i].end > question->now)
            search->times[search->ntimes++] = question->holds[i].end;
    qsort(search->times, search->ntimes, sizeof(*search->times), reservation_compare_times);
    size_t kept = 1;
    for (size_t i = 1; i < search->ntimes; i++)
        if (search->times[i] != search->times[kept - 1])
            search->times[kept++] = search->times[i];
    search->ntimes = kept;
}

static bool reservation_is_early(const void *arg, size_t i)
{
    struct reservation_search *search = (struct reservation_search *)(uintptr_t)arg;
    return !reservation_fits(search, search->times[i], NULL, NULL);
}

/* ---- what can be spared ---- */

/* One without a known end, which may be gone by that time. */
static bool reservation_is_open(const struct reservation_hold *hold, uint64_t time)
{
    return !hold->is_known && hold->end <= time;
}

/* Whether it fits with those gone, too, that come from `next` on. */
static bool reservation_fits_without(struct reservation_search *search, uint64_t time,
                                     const bool *gone, size_t next)
{
    size_t count = search->question->nholds;
    bool *all = mem_array(count, sizeof(*all));
    for (size_t i = 0; i < count; i++)
        all[i] = gone[i] || i >= next;
    bool fits = reservation_fits(search, time, all, NULL);
    free(all);
    return fits;
}

/* Whether at that time it fits without the spare set wherever it fits with it, whichever of the holds without a known
 * end are gone: those of `gone`, and any that come from `next` on. */
static bool reservation_can_spare(struct reservation_search *search, uint64_t time,
                                  const struct rset *spare, bool *gone, size_t next)
{
    const struct reservation_question *question = search->question;
    if (reservation_fits(search, time, gone, NULL))
        return reservation_fits(search, time, gone, spare); /* and where more are gone */
    for (size_t i = next; i < question->nholds && search->trials; i++) {
        if (!reservation_is_open(&question->holds[i], time))
            continue;
        if (!reservation_fits_without(search, time, gone, i))
            break;
        gone[i] = true;
        bool can = reservation_can_spare(search, time, spare, gone, i + 1);
        gone[i] = false;
        if (!can)
            return false;
    }
    return search->trials;
}

/* The same at its earliest start, and at each later time up to the one at which it has started in any case. */
static bool reservation_is_spare(struct reservation_search *search, size_t start,
                                 const struct rset *spare)
{
    bool *gone = mem_array(search->question->nholds + 1, sizeof(*gone)), can = spare->nnodes;
    for (size_t i = start; can && i < search->ntimes; i++) {
        uint64_t time = search->times[i];
        can = reservation_can_spare(search, time, spare, gone, 0);
        if (can && reservation_fits(search, time, gone, NULL))
            break;
    }
    free(gone);
    return can && search->trials;
}

/* All that is free now, or what of it would be left were it to start on all that could be free at its earliest
 * start. Caller frees; NULL: nothing. */
static struct rset *reservation_find_spare(struct reservation_search *search, size_t start)
{
    const struct reservation_question *question = search->question;
    for (size_t i = 0; i < question->nholds; i++)
        search->taken[i] = question->holds[i].set;
    struct rset *held = rset_union_hosts(search->taken, question->nholds);
    struct rset *spare = rset_subtract_hosts(question->scope, held);
    if (!reservation_is_spare(search, start, spare)) {
        struct rset *fit = reservation_fit(search, search->times[start], NULL, NULL);
        struct rset *rest = fit ? rset_subtract_hosts(spare, fit) : rset_new();
        rset_free(spare);
        rset_free(fit);
        spare = rest;
        if (!reservation_is_spare(search, start, spare)) {
            rset_free(spare);
            spare = NULL;
        }
    }
    rset_free(held);
    return spare;
}

struct reservation reservation_make(const struct reservation_question *question)
{
    struct reservation_search search = {.question = question, .trials = RESERVATION_TRIALS};
    struct reservation made = {.start = RESERVATION_ANY_MOMENT};
    search.taken = mem_array(question->nholds + 1, sizeof(*search.taken));
    reservation_find_times(&search);
    size_t start = search_first(search.ntimes, reservation_is_early, &search);
    bool ever = start < search.ntimes;
    if (ever && start)
        made.start = search.times[start];
    struct rset *spare = ever && question->is_first ? reservation_find_spare(&search, start) : NULL;
    made.kept = spare ? rset_subtract_hosts(question->scope, spare) : rset_copy(question->scope);
    rset_free(spare);
    free(search.times);
    free(search.taken);
    return made;
}

bool reservation_lets_pass(uint64_t end, uint64_t start)
{
    return end && end <= start;
}
