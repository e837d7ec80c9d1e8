/* What this run is a task of: it draws from what that program holds, and from nothing else. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "launcher/manager/state.h"
#include "launcher/program/store.h"

static bool is_here(const struct rset_node *node, void *arg)
{
    (void)arg;
    return nodes_is_here(node->host);
}

/* The program says what it holds in its tasks' environment; what is too long for that is read where
 * its instance can be. */
static struct rset *read_resources(struct instance *outer, const char *program, struct error *err)
{
    const char *text = getenv("TPRUN_ENCLOSING_R");
    if (text)
        return rset_decode(text, strlen(text), err);
    char *path = outer ? mem_format("%s/programs/%s/R.json", instance_path(outer), program) : NULL;
    struct rset *set = path ? nodes_read_set(path, path, 0, err) : NULL;
    if (!path)
        error_set(err, "it is not known on this host what it holds (TPRUN_ENCLOSING_R is not set)");
    free(path);
    return set;
}

/* Where the instance cannot be reached, on another host, runs share out among them what the program
 * has of that host, and no more: of others they could not tell who uses it. */
static int open_own(struct manager *manager, const char *path, const char *id, const char *program,
                    struct error *err)
{
    char *identity = mem_format("tasks of program %s of %s, %s", program, path, id);
    manager->instance = instance_open(identity, err);
    free(identity);
    if (!manager->instance)
        return -1;
    struct rset *part = rset_select(manager->enclosing_set, is_here, NULL);
    rset_free(manager->enclosing_set);
    manager->enclosing_set = part;
    if (part->nnodes)
        return 0;
    return error_set(err, "none of its hosts is this machine, and its instance %s is not here",
                     path);
}

static int open_enclosed(struct manager *manager, const char *path, const char *id,
                         const char *program, struct error *err)
{
    manager->instance = instance_open_outer(path, id);
    manager->enclosing_set = read_resources(manager->instance, program, err);
    if (!manager->enclosing_set)
        return -1;
    if (!manager->instance)
        return open_own(manager, path, id, program, err);
    instance_draw_from(manager->instance, manager->enclosing);
    return 0;
}

int enclosed_open(struct manager *manager, struct error *err)
{
    const char *path = getenv("TPRUN_INSTANCE"), *id = getenv("TPRUN_INSTANCE_ID");
    const char *program = getenv("TPRUN_PROGRAM");
    manager->enclosing = getenv("TPRUN_ENCLOSING");
    if (!path || !program || !manager->enclosing) {
        manager->enclosing = NULL;
        return 0;
    }
    manager->enclosing_name = mem_format("program %s, which this run is a task of,", program);
    if (open_enclosed(manager, path, id ? id : "", program, err) < 0)
        return error_prefix(err, "this run is a task of program %s", program);
    const char *colon = id ? strchr(id, ':') : NULL;
    const char *root = colon ? colon + 1 : id, *own = instance_id(manager->instance);
    if (root && strcmp(root, own) != 0)
        manager->family = mem_format("%s:%s", own, root);
    return 0;
}

void enclosed_close(struct manager *manager)
{
    rset_free(manager->enclosing_set);
    free(manager->enclosing_name);
    free(manager->family);
}
