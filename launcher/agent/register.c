/* This host's register: an instance of its own, in which agents of all instances of a user write
 * down the processors that they bind tasks to. It refuses nobody; whoever binds to processors that
 * runs of another instance have is told so.
 *
 * A program's name in it is "FAMILY PROGRAM in INSTANCE": runs of a family, tasks of one another,
 * are no strangers. Ids in the place of cores are the processors' OS indexes. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "launcher/agent/state.h"
#include "launcher/program/ledger.h"

static struct rset *bound_processors(const struct agent *agent)
{
    const struct launch *launch = agent->launch;
    struct rset *set = rset_new();
    struct idset *all = idset_new();
    for (uint32_t i = 0; i < launch->ncpus; i++) {
        struct idset *more = idset_union(all, launch->cpus[i]);
        idset_free(all);
        all = more;
    }
    if (!idset_empty(all))
        rset_append(set, 0, "here", all, NULL);
    idset_free(all);
    return set;
}

static void tell_strangers(struct agent *agent, const struct rset *set, const char *family)
{
    char *who = instance_strangers(agent->register_instance, agent->register_entry, set, family);
    char *text =
        *who ? mem_format("%s: %s: runs of two instances share them", agent->host, who) : NULL;
    struct frame frame = {.type = FRAME_NOTE, .node = agent->node, .bytes = text};
    if (text) {
        frame.len = strlen(text);
        report_send(agent, &frame);
    }
    free(text);
    free(who);
}

/* What fails here is nobody's loss. */
void register_open(struct agent *agent, bool unbound)
{
    const struct launch *launch = agent->launch;
    if (launch->spec->overlap || !launch->nlocal || !launch->instance_id ||
        (unbound && !launch->claim))
        return;
    const char *colon = strchr(launch->instance_id, ':');
    const char *family = colon ? colon + 1 : launch->instance_id;
    agent->register_instance = instance_open("register of this host", NULL);
    if (!agent->register_instance)
        return;
    char *name =
        mem_format("%s %s in %s", family, launch->spec->parts[0].argv[0], launch->instance);
    struct rset *set = bound_processors(agent);
    agent->register_entry = program_new(agent->register_instance, name, NULL);
    if (agent->register_entry && program_share(agent->register_entry, set, NULL) == 0)
        tell_strangers(agent, set, family);
    rset_free(set);
    free(name);
}

void register_close(struct agent *agent)
{
    program_end(agent->register_entry);
    instance_close(agent->register_instance);
}
