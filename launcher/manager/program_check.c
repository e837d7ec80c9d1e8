/* All or none: tasks of a group of several nodes are started once each of these nodes has said that
 * it can start its own. */
#include <stdlib.h>
#include <sys/wait.h>

#include "base/mem.h"
#include "launcher/linkage/mpi_library.h"
#include "launcher/manager/internal.h"

struct preparing {
    struct idset *nodes; /* of the tree, that have not said so */
    uint64_t time;       /* of the first refusal: they are told as one */
    bool refused;
    int parts[MPI_FAMILIES]; /* that speak PMI with an MPI of this family; -1: none */
};

void program_check_open(struct group *group)
{
    if (group->nnodes < 2)
        return;
    group->preparing = mem_alloc(sizeof(*group->preparing));
    group->preparing->nodes = idset_new();
    for (uint32_t i = 0; i < group->nnodes; i++)
        idset_add(group->preparing->nodes, group->tree_node[i]);
    for (int i = 0; i < MPI_FAMILIES; i++)
        group->preparing->parts[i] = -1;
}

void program_check_close(struct group *group)
{
    if (group->preparing)
        idset_free(group->preparing->nodes);
    free(group->preparing);
    group->preparing = NULL;
}

static void program_check_refuse(struct group *group, int status, const char *text,
                                 const struct idset *ranks)
{
    struct preparing *preparing = group->preparing;
    struct idset *nodes = groups_nodes_of(group, ranks);
    if (!preparing->refused)
        preparing->time = link_clock();
    preparing->refused = true;
    if (group->adding)
        spawn_refuse(group, status, text, ranks);
    else
        outcome_task_ended(group->manager->outcome, preparing->time, "start", status, text, ranks,
                           nodes);
    idset_free(nodes);
}

/* An agent's [status, text, ranks of the program]. */
static void program_check_take_failure(struct group *group, const json_t *failure)
{
    const char *text = json_string_value(json_array_get(failure, 1));
    const char *set = json_string_value(json_array_get(failure, 2));
    struct idset *ranks = set ? idset_decode(set, NULL) : NULL;
    if (text && ranks)
        program_check_refuse(group, (int)json_integer_value(json_array_get(failure, 0)), text,
                             ranks);
    idset_free(ranks);
}

/* An agent's [family, part]. */
static void take_mpi(struct group *group, const json_t *mpi)
{
    json_int_t family = json_integer_value(json_array_get(mpi, 0));
    if (family > MPI_FAMILY_UNKNOWN && family < MPI_FAMILIES)
        group->preparing->parts[family] = (int)json_integer_value(json_array_get(mpi, 1));
}

static const char *program_check_program_of(const struct group *group, int part)
{
    const struct spec *spec = group->spec ? group->spec : group->manager->spec;
    return part >= 0 && (size_t)part < spec->nparts ? spec->parts[part].argv[0] : NULL;
}

static void program_check_mpis(struct group *group)
{
    const char *mpich = program_check_program_of(group, group->preparing->parts[MPI_FAMILY_MPICH]);
    const char *open_mpi =
        program_check_program_of(group, group->preparing->parts[MPI_FAMILY_OPEN_MPI]);
    if (!mpich || !open_mpi)
        return;
    char *text = mpi_library_mixed(mpich, open_mpi);
    struct idset *ranks = idset_new();
    idset_add_range(ranks, group->first_rank, group->first_rank + group->ntasks - 1);
    program_check_refuse(group, W_EXITCODE(1, 0), text, ranks);
    idset_free(ranks);
    free(text);
}

/* Each of its nodes has said whether it can. */
static void program_check_finish(struct group *group)
{
    struct manager *manager = group->manager;
    struct frame go = {.type = FRAME_GO};
    if (!group->preparing->refused)
        program_check_mpis(group);
    bool refused = group->preparing->refused;
    program_check_close(group);
    if (!refused)
        groups_send(group, &go);
    else if (group->adding)
        spawn_give_up(group);
    else
        termination_terminate(manager, 0);
}

void program_check_take(struct manager *manager, const struct frame *frame, const json_t *value)
{
    struct group *group = groups_find(manager, frame->group);
    size_t i;
    json_t *item;
    if (!group || !group->preparing || manager->terminating)
        return;
    json_array_foreach(json_object_get(value, "failed"), i, item)
        program_check_take_failure(group, item);
    json_array_foreach(json_object_get(value, "mpis"), i, item) take_mpi(group, item);
    idset_remove(group->preparing->nodes, frame->node);
    if (idset_empty(group->preparing->nodes))
        program_check_finish(group);
}
