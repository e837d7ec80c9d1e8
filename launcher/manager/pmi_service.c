/* The service: what hosts of openpmix ask of the program as a whole. Its nodes are the tree's. */
#include <stdlib.h>

#include "base/mem.h"
#include "launcher/manager/internal.h"
#include "launcher/protocol/launch.h"
#include "launcher/protocol/namespace_apps.h"

static void pmi_service_tell(void *arg, uint32_t node, const void *bytes, size_t len)
{
    struct manager *manager = arg;
    struct frame frame = {.type = FRAME_SERVICE, .node = node, .bytes = bytes, .len = len};
    tree_send_node(manager->tree, node, &frame);
}

static void facts(void *arg, struct program_facts *facts)
{
    struct manager *manager = arg;
    struct rset *held = spawn_resources_held(manager);
    struct buf names = BUF_INIT;
    facts->left = time_limit_left(manager->limit);
    for (size_t i = 0; i < held->nnodes; i++) {
        buf_printf(&names, "%s%s", i ? "," : "", held->nodes[i].host);
        facts->slots += (uint32_t)idset_count(held->nodes[i].children->cores);
    }
    facts->hosts = buf_take_text(&names);
    rset_free(held);
}

static const struct pmi_service_ops services_ops = {.tell = pmi_service_tell, .facts = facts};

void pmi_services_open(struct manager *manager)
{
    manager->service = pmi_service_new(&services_ops, manager);
    names_open(manager);
}

void pmi_services_close(struct manager *manager)
{
    pmi_service_free(manager->service);
    manager->service = NULL;
    names_close(manager);
}

void pmi_services_take(struct manager *manager, const struct frame *frame)
{
    struct error err = ERROR_INIT;
    if (pmi_service_take(manager->service, frame->node, frame->bytes, frame->len, &err) < 0 &&
        !manager->terminating) {
        outcome_other(manager->outcome, link_clock(), ERROR_REFUSED, error_text(&err));
        termination_terminate(manager, manager->spec->kill_grace);
    }
    error_clear(&err);
}

char *pmi_services_job(const struct manager *manager, uint32_t group)
{
    return launch_namespace(manager->family ?: instance_id(manager->instance),
                            entry_id(manager->entry), group);
}

void pmi_services_add(const struct group *group, const struct group_plan *plan)
{
    const struct manager *manager = group->manager;
    const struct spec_part *part = &plan->spec->parts[0];
    char *name = pmi_services_job(manager, group->number);
    char *spawner = plan->spawned ? pmi_services_job(manager, plan->spawner) : NULL;
    uint32_t *sizes = launch_part_sizes(plan->layout, plan->spec->nparts);
    struct namespace_app *apps = namespace_apps_of_spec(plan->spec, sizes);
    const char **hosts = mem_array(group->nnodes, sizeof(*hosts));
    for (uint32_t i = 0; i < group->nnodes; i++)
        hosts[i] = host_names(manager->hosts)[group->tree_node[i]];
    struct namespace_facts job = {.name = name,
                                  .map = group->map,
                                  .node = group->tree_node,
                                  .hosts = hosts,
                                  .spawner = spawner,
                                  .spawner_rank = plan->spawner_rank,
                                  .universe_size = -1,
                                  .apps = apps,
                                  .napps = (uint32_t)plan->spec->nparts,
                                  .map_by = part->map,
                                  .rank_by = part->order,
                                  .bind_to = part->bind};
    pmi_service_add(manager->service, &job);
    free(hosts);
    free(apps);
    free(sizes);
    free(spawner);
    free(name);
}

void pmi_services_remove(const struct group *group)
{
    char *name = pmi_services_job(group->manager, group->number);
    if (group->manager->service)
        pmi_service_remove(group->manager->service, name);
    free(name);
}

void pmi_services_output(struct manager *manager, const struct frame *frame)
{
    const struct group *group = manager->service && pmi_service_is_pulled(manager->service)
                                    ? groups_find(manager, frame->group)
                                    : NULL;
    if (!group || frame->rank < group->first_rank)
        return;
    char *name = pmi_services_job(manager, frame->group);
    pmi_service_output(manager->service, name, frame->rank - group->first_rank,
                       frame->flags & FRAME_STDERR ? CHANNEL_STDERR : CHANNEL_STDOUT, frame->bytes,
                       frame->len);
    free(name);
}

void pmi_services_lost(struct manager *manager, const struct idset *nodes)
{
    if (manager->service)
        pmi_service_lost(manager->service, nodes);
}
