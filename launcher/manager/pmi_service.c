/* The service: what hosts of openpmix ask of the program as a whole. Its nodes are the tree's. */
#include <stdlib.h>

#include "base/clock.h"
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
    struct rset *held = task_groups_held(manager->groups);
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
        outcome_other(manager->outcome, clock_monotonic_ns(), ERROR_REFUSED, error_text(&err));
        termination_terminate(manager, manager->spec->kill_grace);
    }
    error_clear(&err);
}

char *pmi_services_job(const struct manager *manager, uint32_t group)
{
    return launch_namespace(manager->family ?: instance_id(manager->instance),
                            entry_id(manager->entry), group);
}

void pmi_services_add(struct manager *manager, const struct task_group *group,
                      const struct task_group_plan *plan)
{
    const struct spec_part *part = &plan->spec->parts[0];
    const uint32_t *nodes = task_group_tree_nodes(group);
    uint32_t nnodes = task_group_nnodes(group);
    char *name = pmi_services_job(manager, task_group_number(group));
    char *spawner = plan->spawned ? pmi_services_job(manager, plan->spawner) : NULL;
    uint32_t *sizes = launch_part_sizes(plan->layout, plan->spec->nparts);
    struct namespace_app *apps = namespace_apps_of_spec(plan->spec, sizes);
    const char **hosts = mem_array(nnodes, sizeof(*hosts));
    for (uint32_t i = 0; i < nnodes; i++)
        hosts[i] = host_names(manager->hosts)[nodes[i]];
    struct namespace_facts job = {.name = name,
                                  .map = task_group_map(group),
                                  .node = nodes,
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

void pmi_services_remove(struct manager *manager, const struct task_group *group)
{
    char *name = pmi_services_job(manager, task_group_number(group));
    if (manager->service)
        pmi_service_remove(manager->service, name);
    free(name);
}

void pmi_services_output(struct manager *manager, const struct frame *frame)
{
    const struct task_group *group = manager->service && pmi_service_is_pulled(manager->service)
                                         ? task_groups_find(manager->groups, frame->group)
                                         : NULL;
    if (!group || frame->rank < task_group_first_rank(group))
        return;
    char *name = pmi_services_job(manager, frame->group);
    pmi_service_output(manager->service, name, frame->rank - task_group_first_rank(group),
                       frame->flags & FRAME_STDERR ? CHANNEL_STDERR : CHANNEL_STDOUT, frame->bytes,
                       frame->len);
    free(name);
}

void pmi_services_lost(struct manager *manager, const struct idset *nodes)
{
    if (manager->service)
        pmi_service_lost(manager->service, nodes);
}
