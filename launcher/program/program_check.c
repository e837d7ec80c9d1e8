/* Whether every node of a group can start its tasks, before any task is started. */
#include "launcher/program/program_check.h"

#include <stdlib.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/mem.h"
#include "launcher/linkage/mpi_library.h"
#include "launcher/protocol/task_report.h"
#include "launcher/tree/link.h"

struct program_check {
    const struct program_check_ops *ops;
    void *owner;
    const struct spec *spec;
    uint32_t first_rank, ntasks;
    struct idset *nodes; /* of the tree, that have not answered */
    uint64_t time;       /* of the first refusal: they are reported as one */
    bool refused;
    int parts[MPI_FAMILIES];   /* that speak PMI with an MPI of this family; -1: none */
    char *hosts[MPI_FAMILIES]; /* where that is; NULL: it was not said */
};

struct program_check *program_check_new(const struct idset *nodes, const struct spec *spec,
                                        uint32_t first_rank, uint32_t ntasks,
                                        const struct program_check_ops *ops, void *owner)
{
    struct program_check *check = mem_alloc(sizeof(*check));
    *check = (struct program_check){.ops = ops,
                                    .owner = owner,
                                    .spec = spec,
                                    .first_rank = first_rank,
                                    .ntasks = ntasks,
                                    .nodes = idset_copy(nodes)};
    for (int i = 0; i < MPI_FAMILIES; i++)
        check->parts[i] = -1;
    return check;
}

void program_check_free(struct program_check *check)
{
    if (!check)
        return;
    for (int i = 0; i < MPI_FAMILIES; i++)
        free(check->hosts[i]);
    idset_free(check->nodes);
    free(check);
}

static void program_check_refuse(struct program_check *check, int status, const char *text,
                                 const struct idset *ranks)
{
    if (!check->refused)
        check->time = clock_monotonic_ns();
    check->refused = true;
    check->ops->refused(check->owner, check->time, status, text, ranks);
}

static const char *program_check_program_of(const struct program_check *check, int part)
{
    const struct spec *spec = check->spec;
    return part >= 0 && (size_t)part < spec->nparts ? spec->parts[part].argv[0] : NULL;
}

static void program_check_mpis(struct program_check *check)
{
    const int *parts = check->parts;
    const char *mpich = program_check_program_of(check, parts[MPI_FAMILY_MPICH]);
    const char *open_mpi = program_check_program_of(check, parts[MPI_FAMILY_OPEN_MPI]);
    if (!mpich || !open_mpi)
        return;
    char *text = parts[MPI_FAMILY_MPICH] != parts[MPI_FAMILY_OPEN_MPI]
                     ? mpi_library_mixed(mpich, open_mpi)
                     : mpi_library_differs(mpich, check->hosts[MPI_FAMILY_MPICH],
                                           check->hosts[MPI_FAMILY_OPEN_MPI]);
    struct idset *ranks = idset_new();
    idset_add_range(ranks, check->first_rank, check->first_rank + check->ntasks - 1);
    program_check_refuse(check, W_EXITCODE(1, 0), text, ranks);
    idset_free(ranks);
    free(text);
}

void program_check_answer(struct program_check *check, uint32_t node, const json_t *value)
{
    struct prepared_report report = {0};
    prepared_report_from_json(&report, value);
    for (size_t i = 0; i < report.failed.count; i++) {
        const struct start_failure *failure = &report.failed.list[i];
        if (failure->text)
            program_check_refuse(check, failure->status, failure->text, failure->ranks);
    }
    for (size_t i = 0; i < report.nmpis; i++) {
        json_int_t family = report.mpis[i].family;
        if (family <= MPI_FAMILY_UNKNOWN || family >= MPI_FAMILIES)
            continue;
        check->parts[family] = (int)report.mpis[i].part;
        free(check->hosts[family]);
        check->hosts[family] = mem_copy_text(report.host);
    }
    prepared_report_clear(&report);
    idset_remove(check->nodes, node);
    if (!idset_empty(check->nodes))
        return;
    if (!check->refused)
        program_check_mpis(check);
    check->ops->done(check->owner, check->refused);
}
