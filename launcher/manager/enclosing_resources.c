/* What this run is a task of: it draws from what that program holds, and from nothing else. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "launcher/manager/internal.h"
#include "launcher/source/enclosing_program.h"

/* Where the instance cannot be reached, on another host, runs share out among them what the program
 * has of that host, and no more: of others they could not tell who uses it. */
static int open_own(struct manager *manager, const struct enclosing_program *outer,
                    struct error *err)
{
    if (!outer->R->nnodes)
        return error_set(err,
                         "this run is a task of program %s: none of its hosts is this machine, and "
                         "its instance %s is not here",
                         outer->id, outer->path);
    char *identity =
        mem_format("tasks of program %s of %s, %s", outer->id, outer->path, outer->instance_id);
    manager->instance = instance_open(identity, err);
    free(identity);
    return manager->instance ? 0 : -1;
}

static int open_enclosed(struct manager *manager, struct enclosing_program *outer,
                         struct error *err)
{
    manager->enclosing = outer->programs;
    manager->enclosing_name = mem_format("program %s, which this run is a task of,", outer->id);
    manager->enclosing_set = rset_copy(outer->R);
    if (!outer->instance)
        return open_own(manager, outer, err);
    manager->instance = outer->instance;
    outer->instance = NULL;
    instance_draw_from(manager->instance, manager->enclosing);
    return 0;
}

int enclosing_open(struct manager *manager, struct error *err)
{
    struct error why = ERROR_INIT;
    struct enclosing_program *outer = enclosing_program_open(&why);
    if (!outer) {
        int none = why.text ? error_set(err, "%s", error_text(&why)) : 0;
        error_clear(&why);
        return none;
    }
    int rc = open_enclosed(manager, outer, err);
    if (rc == 0) {
        const char *colon = strchr(outer->instance_id, ':');
        const char *root = colon ? colon + 1 : outer->instance_id;
        const char *own = instance_id(manager->instance);
        if (*root && strcmp(root, own) != 0)
            manager->family = mem_format("%s:%s", own, root);
    }
    enclosing_program_free(outer);
    return rc;
}

void enclosing_close(struct manager *manager)
{
    rset_free(manager->enclosing_set);
    free(manager->enclosing_name);
    free(manager->family);
}
