/* What a program holds in the ledger: more with each group that is added, less with each that is over. */
#include "launcher/program/program_claim.h"

#include <stdlib.h>

#include "base/mem.h"
#include "launcher/ledger/claim.h"

#define RELEASE_AGAIN 0.5 /* s until cores are given back again, after that failed */

struct program_claim {
    struct ev_loop *loop;
    const struct spec *spec;
    struct resources *resources;
    struct lock_retry *lock;
    struct task_groups *groups;
    ev_timer again;
};

static bool is_within(const struct rset *inner, const struct rset *outer)
{
    struct rset *left = rset_subtract_hosts(inner, outer);
    bool within = !left->nnodes;
    rset_free(left);
    return within;
}

int program_claim_add(struct program_claim *claim, const struct rset *more, struct error *err)
{
    struct rset *held = task_groups_held(claim->groups);
    int lost = 0;
    if (!claim->spec->overlap && !is_within(more, held)) {
        struct rset *all = rset_union_hosts((const struct rset *const[]){held, more}, 2);
        lost = entry_claim(resources_entry(claim->resources), all, err);
        rset_free(all);
    }
    rset_free(held);
    return lost;
}

/* Where that fails what is over stays claimed, and others wait for it. */
static void program_claim_try(struct program_claim *claim, const struct rset *held)
{
    if (ev_is_active(&claim->again))
        return;
    lock_be_patient(claim->lock);
    if (entry_claim(resources_entry(claim->resources), held, NULL) == 0)
        return;
    ev_timer_set(&claim->again, RELEASE_AGAIN, 0);
    ev_timer_start(claim->loop, &claim->again);
}

static void program_claim_on_again(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct program_claim *claim = timer->data;
    (void)loop, (void)events;
    struct rset *held = task_groups_held(claim->groups);
    program_claim_try(claim, held);
    rset_free(held);
}

void program_claim_release(struct program_claim *claim, const struct rset *less)
{
    struct rset *held = task_groups_held(claim->groups);
    if (!claim->spec->overlap && !is_within(less, held))
        program_claim_try(claim, held);
    rset_free(held);
}

void program_claim_stop(struct program_claim *claim)
{
    if (claim)
        ev_timer_stop(claim->loop, &claim->again);
}

struct program_claim *program_claim_new(struct ev_loop *loop, const struct spec *spec,
                                        struct resources *resources, struct lock_retry *lock,
                                        struct task_groups *groups)
{
    struct program_claim *claim = mem_alloc(sizeof(*claim));
    *claim = (struct program_claim){
        .loop = loop, .spec = spec, .resources = resources, .lock = lock, .groups = groups};
    ev_timer_init(&claim->again, program_claim_on_again, 0, 0);
    claim->again.data = claim;
    return claim;
}

void program_claim_free(struct program_claim *claim)
{
    program_claim_stop(claim);
    free(claim);
}
