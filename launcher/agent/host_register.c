/* This host's register: an instance of its own, in which agents of all instances of a user write
 * down the processors that they bind tasks to. It refuses nobody; whoever binds to processors that
 * runs of another instance have is told so, and of runs that cannot read it (other_instances.h).
 *
 * A program's name in it is "FAMILY PROGRAM in INSTANCE": runs of a family, tasks of one another,
 * are no strangers. Ids in the place of cores are the processors' OS indexes. */
#include "launcher/agent/host_register.h"

#include <stdlib.h>
#include <string.h>

#include "affinity/resource/rset.h"
#include "base/mem.h"
#include "launcher/agent/other_instances.h"
#include "launcher/ledger/claim.h"
#include "launcher/ledger/claim_queue.h"
#include "launcher/ledger/instance_directory.h"
#include "launcher/ledger/instance_lock.h"
#include "launcher/ledger/ledger_entry.h"

#define REGISTER_PATIENCE 0.2 /* s for its lock: tasks' output does not wait for it */

struct host_register {
    struct uplink *uplink;
    const char *host;
    struct instance *instance; /* NULL: nothing is written down */
    struct ledger_entry *entry;
    struct idset *written;         /* what is written down */
    struct neighbours *neighbours; /* who cannot read the register; NULL: they are not told */
};

struct host_register *host_register_new(struct uplink *uplink, const char *host)
{
    struct host_register *here = mem_alloc(sizeof(*here));
    here->uplink = uplink;
    here->host = host;
    return here;
}

void host_register_free(struct host_register *here)
{
    if (!here)
        return;
    other_instances_free(here->neighbours);
    entry_end(here->entry);
    instance_close(here->instance);
    idset_free(here->written);
    free(here);
}

bool host_register_is_for(const struct launch *launch, bool unbound)
{
    return launch && !launch->spec->overlap && launch->nlocal && launch->instance_id &&
           (!unbound || launch->claim);
}

/* 0: what is bound is written down now. */
static int write_down(struct host_register *here, const struct idset *cpus, struct rset **set)
{
    *set = rset_new();
    if (!idset_empty(cpus))
        rset_append(*set, 0, "here", cpus, NULL);
    if (!here->entry || entry_share(here->entry, *set, NULL) < 0)
        return -1;
    idset_free(here->written);
    here->written = idset_copy(cpus);
    return 0;
}

static const char *family_of(const struct launch *launch)
{
    const char *colon = strchr(launch->instance_id, ':');
    return colon ? colon + 1 : launch->instance_id;
}

static struct instance *host_register_open_instance(void)
{
    struct instance *instance = instance_open(INSTANCE_REGISTER, NULL);
    if (instance)
        instance_set_patience(instance, REGISTER_PATIENCE);
    return instance;
}

static void open_entry(struct host_register *here, const struct launch *launch)
{
    here->instance = host_register_open_instance();
    if (!here->instance)
        return;
    char *name = mem_format("%s %s in %s", family_of(launch), launch->spec->parts[0].argv[0],
                            launch->instance);
    here->entry = entry_new(here->instance, name, NULL);
    free(name);
    if (!getenv("TPRUN_RUNTIME_DIR")) /* which makes a world of its own */
        here->neighbours = other_instances_new(instance_path(here->instance), family_of(launch));
}

/* What fails here is nobody's loss. */
void host_register_add(struct host_register *here, const struct launch *launch,
                       const struct idset *cpus)
{
    struct rset *set = NULL;
    if (!here->instance)
        open_entry(here, launch);
    if (!here->instance || (here->written && idset_within(cpus, here->written)))
        return;
    if (write_down(here, cpus, &set) == 0) {
        char *who = instance_strangers(here->instance, here->entry, set, family_of(launch));
        if (*who)
            uplink_note(here->uplink, "%s: %s: runs of two instances share them", here->host, who);
        free(who);
    }
    /* Also where they cannot be written down. */
    if (here->neighbours) {
        char *who = other_instances_find(here->neighbours, cpus);
        other_instances_tell(here->neighbours, cpus);
        if (*who)
            uplink_note(here->uplink, "%s: %s", here->host, who);
        free(who);
    }
    rset_free(set);
}

bool host_register_has(const struct host_register *here)
{
    return here->written;
}

void host_register_narrow(struct host_register *here, const struct idset *cpus)
{
    struct rset *set = NULL;
    if (idset_empty(cpus) || idset_equal(cpus, here->written))
        return; /* it goes with this process */
    write_down(here, cpus, &set);
    if (here->neighbours)
        other_instances_tell(here->neighbours, cpus);
    rset_free(set);
}

void host_register_remove_dead(void)
{
    struct instance *instance = host_register_open_instance();
    if (instance)
        rset_free(instance_held(instance, NULL));
    instance_close(instance);
}
