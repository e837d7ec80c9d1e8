/* What this run is a task of: it draws from what that program holds, and from nothing else. */
#include "launcher/instance/enclosing_resources.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "launcher/ledger/instance_directory.h"

/* Where the instance cannot be reached, on another host, runs share out among them what the program
 * has of that host, and no more: of others they could not tell who uses it. */
static struct instance *open_own(const struct enclosing_program *program, struct error *err)
{
    if (!program->R->nnodes) {
        error_set(err,
                  "this run is a task of program %s: none of its hosts is this machine, and "
                  "its instance %s is not here",
                  program->id, program->path);
        return NULL;
    }
    char *identity = mem_format(INSTANCE_OF_TASKS "%s of %s, %s", program->id, program->path,
                                program->instance_id);
    struct instance *instance = instance_open(identity, err);
    free(identity);
    return instance;
}

int enclosing_resources_open(struct enclosing_resources *outer, struct instance **instance,
                             struct error *err)
{
    struct error why = ERROR_INIT;
    struct enclosing_program *program = enclosing_program_open(&why);
    if (!program) {
        int none = why.text ? error_set(err, "%s", error_text(&why)) : 0;
        error_clear(&why);
        return none;
    }
    outer->name = mem_format("program %s, which this run is a task of,", program->id);
    outer->program = program;
    if (program->instance) {
        *instance = program->instance;
        program->instance = NULL;
        outer->programs = program->programs;
        instance_draw_from(*instance, outer->programs);
    } else {
        *instance = open_own(program, err);
    }
    if (*instance) {
        const char *colon = strchr(program->instance_id, ':');
        const char *root = colon ? colon + 1 : program->instance_id;
        const char *own = instance_id(*instance);
        if (*root && strcmp(root, own) != 0)
            outer->family = mem_format("%s:%s", own, root);
    }
    return *instance ? 0 : -1;
}

void enclosing_resources_clear(struct enclosing_resources *outer)
{
    enclosing_program_free(outer->program);
    free(outer->name);
    free(outer->family);
    *outer = (struct enclosing_resources){0};
}
