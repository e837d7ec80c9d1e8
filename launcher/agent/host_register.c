/* This host's register: an instance of its own, in which agents of all instances of a user write
 * down the processors that they bind tasks to. It refuses nobody; whoever binds to processors that
 * runs of another instance have is told so, and of runs that cannot read it (other_instances.h).
 *
 * A program's name in it is "FAMILY PROGRAM in INSTANCE": runs of a family, tasks of one another,
 * are no strangers. Ids in the place of cores are the processors' OS indexes. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "launcher/agent/internal.h"
#include "launcher/agent/other_instances.h"
#include "launcher/ledger/ledger.h"

#define REGISTER_PATIENCE 0.2 /* s for its lock: tasks' output does not wait for it */

/* Whether what its tasks are bound to is written down. */
static bool is_bound(const struct group *group)
{
    const struct launch *launch = group->launch;
    return launch && !launch->spec->overlap && launch->nlocal && launch->instance_id &&
           (!group->unbound || launch->claim);
}

/* Of all groups whose tasks run. */
static struct idset *bound_processors(const struct agent *agent)
{
    struct idset *all = idset_new();
    for (const struct group *group = agent->groups; group; group = group->next) {
        if (group->phase != GROUP_RUNNING || !is_bound(group))
            continue;
        for (uint32_t i = 0; i < group->launch->ncpus; i++) {
            struct idset *more = idset_union(all, group->launch->cpus[i]);
            idset_free(all);
            all = more;
        }
    }
    return all;
}

static void warn(struct agent *agent, const char *who, const char *why)
{
    char *text = mem_format("%s: %s%s", agent->host, who, why);
    struct frame frame = {
        .type = FRAME_NOTE, .node = uplink_node(agent->uplink), .bytes = text, .len = strlen(text)};
    uplink_send(agent->uplink, &frame);
    free(text);
}

static void tell_strangers(struct agent *agent, const struct rset *set, const char *family)
{
    char *who = instance_strangers(agent->register_instance, agent->register_entry, set, family);
    if (*who)
        warn(agent, who, ": runs of two instances share them");
    free(who);
}

/* Also where they cannot be written down. */
static void tell_neighbours(struct agent *agent, const struct idset *cpus)
{
    char *who =
        agent->neighbours ? other_instances_find(agent->neighbours, cpus) : mem_copy_text("");
    if (agent->neighbours)
        other_instances_tell(agent->neighbours, cpus);
    if (*who)
        warn(agent, who, "");
    free(who);
}

/* 0: what is bound is written down now. */
static int write_down(struct agent *agent, const struct idset *cpus, struct rset **set)
{
    *set = rset_new();
    if (!idset_empty(cpus))
        rset_append(*set, 0, "here", cpus, NULL);
    if (!agent->register_entry || entry_share(agent->register_entry, *set, NULL) < 0)
        return -1;
    idset_free(agent->registered);
    agent->registered = idset_copy(cpus);
    return 0;
}

static const char *family_of(const struct launch *launch)
{
    const char *colon = strchr(launch->instance_id, ':');
    return colon ? colon + 1 : launch->instance_id;
}

static struct instance *host_register_open_instance(void)
{
    struct instance *instance = instance_open("register of this host", NULL);
    if (instance)
        instance_set_patience(instance, REGISTER_PATIENCE);
    return instance;
}

void agent_sweep(void)
{
    struct instance *instance = host_register_open_instance();
    if (instance)
        rset_free(instance_held(instance, NULL));
    instance_close(instance);
}

static void open_entry(struct agent *agent, const struct launch *launch)
{
    agent->register_instance = host_register_open_instance();
    if (!agent->register_instance)
        return;
    char *name = mem_format("%s %s in %s", family_of(launch), launch->spec->parts[0].argv[0],
                            launch->instance);
    agent->register_entry = entry_new(agent->register_instance, name, NULL);
    free(name);
    if (!getenv("TPRUN_RUNTIME_DIR")) /* which makes a world of its own */
        agent->neighbours =
            other_instances_new(instance_path(agent->register_instance), family_of(launch));
}

/* What fails here is nobody's loss. */
void host_register_open(struct group *group)
{
    struct agent *agent = group->agent;
    struct rset *set = NULL;
    if (!is_bound(group))
        return;
    if (!agent->register_instance)
        open_entry(agent, group->launch);
    struct idset *cpus = bound_processors(agent);
    bool more = !(agent->registered && idset_within(cpus, agent->registered));
    if (agent->register_instance && more && write_down(agent, cpus, &set) == 0)
        tell_strangers(agent, set, family_of(group->launch));
    if (agent->register_instance && more)
        tell_neighbours(agent, cpus);
    rset_free(set);
    idset_free(cpus);
}

void host_register_close(struct group *group)
{
    struct agent *agent = group->agent;
    struct rset *set = NULL;
    if (!agent->registered || !is_bound(group))
        return;
    struct idset *cpus = bound_processors(agent);
    if (!idset_empty(cpus) &&
        !idset_equal(cpus, agent->registered)) { /* else it goes with this process */
        write_down(agent, cpus, &set);
        if (agent->neighbours)
            other_instances_tell(agent->neighbours, cpus);
    }
    rset_free(set);
    idset_free(cpus);
}

void host_register_remove(struct agent *agent)
{
    other_instances_free(agent->neighbours);
    entry_end(agent->register_entry);
    instance_close(agent->register_instance);
    idset_free(agent->registered);
}
