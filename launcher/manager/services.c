/* The hub: what hosts of openpmix ask of the program as a whole. Its nodes are the tree's. */
#include <stdlib.h>

#include "launcher/manager/state.h"
#include "launcher/program/launch.h"

static void tell(void *arg, uint32_t node, const void *bytes, size_t len)
{
    struct manager *manager = arg;
    struct frame frame = {.type = FRAME_HUB, .node = node, .bytes = bytes, .len = len};
    tree_send_node(manager->tree, node, &frame);
}

static const struct hub_ops services_ops = {tell};

void services_open(struct manager *manager)
{
    manager->hub = hub_new(&services_ops, manager);
    names_open(manager);
}

void services_close(struct manager *manager)
{
    hub_free(manager->hub);
    manager->hub = NULL;
    names_close(manager);
}

void services_take(struct manager *manager, const struct frame *frame)
{
    struct error err = ERROR_INIT;
    if (hub_take(manager->hub, frame->node, frame->bytes, frame->len, &err) < 0 &&
        !manager->terminating) {
        verdict_other(manager->verdict, link_clock(), ERROR_REFUSED, error_text(&err));
        finish_terminate(manager, manager->spec->kill_grace);
    }
    error_clear(&err);
}

char *services_job(const struct manager *manager, uint32_t group)
{
    return launch_namespace(manager->family ?: instance_id(manager->instance),
                            program_id(manager->program), group);
}

void services_add(const struct group *group)
{
    char *name = services_job(group->manager, group->number);
    struct hub_job job = {name, group->map, group->tree_node};
    hub_add(group->manager->hub, &job);
    free(name);
}

void services_remove(const struct group *group)
{
    char *name = services_job(group->manager, group->number);
    if (group->manager->hub)
        hub_remove(group->manager->hub, name);
    free(name);
}
