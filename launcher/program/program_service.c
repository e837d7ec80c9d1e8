/* The service: what hosts of openpmix ask of the program as a whole. Its nodes are the tree's. */
#include "launcher/program/program_service.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "launcher/ledger/ledger_entry.h"
#include "launcher/protocol/launch.h"
#include "pmi-server/service/iof.h"

struct program_service {
    struct tree *tree;
    struct task_groups *groups;
    const struct program_service_ops *ops;
    void *owner;
    struct pmi_service *pmi;
    struct names *names;
    const char *instance_id, *program; /* program: NULL where it does not run */
    const char *const *hosts;
};

static void program_service_tell(void *arg, uint32_t node, const void *bytes, size_t len)
{
    struct program_service *service = arg;
    struct frame frame = {.type = FRAME_SERVICE, .node = node, .bytes = bytes, .len = len};
    tree_send_node(service->tree, node, &frame);
}

static void program_service_facts(void *arg, struct program_facts *facts)
{
    struct program_service *service = arg;
    struct rset *held = task_groups_held(service->groups);
    struct buf names = BUF_INIT;
    facts->left = service->ops->time_left(service->owner);
    for (size_t i = 0; i < held->nnodes; i++) {
        buf_printf(&names, "%s%s", i ? "," : "", held->nodes[i].host);
        facts->slots += (uint32_t)idset_count(held->nodes[i].children->cores);
    }
    facts->hosts = buf_take_text(&names);
    rset_free(held);
}

static const struct pmi_service_ops pmi_ops = {.tell = program_service_tell,
                                               .facts = program_service_facts};

static void program_service_say(void *owner, const char *text)
{
    struct program_service *service = owner;
    service->ops->say(service->owner, text);
}

static const struct names_ops service_names_ops = {program_service_say};

struct program_service *program_service_new(struct ev_loop *loop, struct tree *tree,
                                            struct task_groups *groups,
                                            const struct program_service_ops *ops, void *owner)
{
    struct program_service *service = mem_alloc(sizeof(*service));
    *service = (struct program_service){.tree = tree, .groups = groups, .ops = ops, .owner = owner};
    service->pmi = pmi_service_new(&pmi_ops, service);
    service->names = names_new(loop, service->pmi, &service_names_ops, service);
    return service;
}

void program_service_free(struct program_service *service)
{
    if (!service)
        return;
    pmi_service_free(service->pmi);
    names_free(service->names);
    free(service);
}

void program_service_start(struct program_service *service, struct instance *instance,
                           struct ledger_entry *entry, const char *instance_id,
                           const char *const *hosts)
{
    service->instance_id = instance_id;
    service->program = entry_id(entry);
    service->hosts = hosts;
    names_set_entry(service->names, instance, entry);
}

void program_service_end(struct program_service *service)
{
    service->program = NULL;
    names_set_entry(service->names, NULL, NULL);
}

char *program_service_job(const struct program_service *service, uint32_t group)
{
    return launch_namespace(service->instance_id, service->program, group);
}

struct names *program_service_names(const struct program_service *service)
{
    return service->names;
}

void program_service_add(struct program_service *service, const struct task_group *group,
                         const struct task_group_source *from)
{
    const struct spec_part *part = &from->spec->parts[0];
    const uint32_t *nodes = task_group_tree_nodes(group);
    uint32_t nnodes = task_group_nnodes(group);
    char *name = program_service_job(service, task_group_number(group));
    char *spawner = from->spawned ? program_service_job(service, from->spawner) : NULL;
    uint32_t *sizes = launch_part_sizes(plan_layout(from->plan), from->spec->nparts);
    struct namespace_app *apps = launch_namespace_apps(from->spec, sizes);
    const char **hosts = mem_array(nnodes, sizeof(*hosts));
    for (uint32_t i = 0; i < nnodes; i++)
        hosts[i] = service->hosts[nodes[i]];
    struct namespace_facts job = {.name = name,
                                  .map = task_group_map(group),
                                  .node = nodes,
                                  .hosts = hosts,
                                  .spawner = spawner,
                                  .spawner_rank = from->spawner_rank,
                                  .universe_size = -1,
                                  .apps = apps,
                                  .napps = (uint32_t)from->spec->nparts,
                                  .map_by = part->map,
                                  .rank_by = part->order,
                                  .bind_to = part->bind};
    pmi_service_add(service->pmi, &job);
    free(hosts);
    free(apps);
    free(sizes);
    free(spawner);
    free(name);
}

void program_service_remove(struct program_service *service, const struct task_group *group)
{
    char *name = program_service_job(service, task_group_number(group));
    pmi_service_remove(service->pmi, name);
    free(name);
}

int program_service_message(struct program_service *service, const struct frame *frame,
                            struct error *err)
{
    return pmi_service_take(service->pmi, frame->node, frame->bytes, frame->len, err);
}

void program_service_output(struct program_service *service, const struct frame *frame)
{
    const struct task_group *group = pmi_service_is_pulled(service->pmi)
                                         ? task_groups_find(service->groups, frame->group)
                                         : NULL;
    if (!group || frame->rank < task_group_first_rank(group))
        return;
    char *name = program_service_job(service, frame->group);
    pmi_service_output(service->pmi, name, frame->rank - task_group_first_rank(group),
                       frame->flags & FRAME_STDERR ? CHANNEL_STDERR : CHANNEL_STDOUT, frame->bytes,
                       frame->len);
    free(name);
}

void program_service_lost(struct program_service *service, const struct idset *nodes)
{
    pmi_service_lost(service->pmi, nodes);
}
