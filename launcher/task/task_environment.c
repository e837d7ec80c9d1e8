/* The environment of one task: the part's, its rank and place, and what PMI, GPUs and OpenMP need. */
#include "launcher/task/task_environment.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "affinity/taskmap/taskmap.h"
#include "base/mem.h"
#include "launcher/environment/environment.h"
#include "launcher/environment/gpu_environment.h"
#include "launcher/environment/openmp_environment.h"
#include "launcher/environment/pmi_environment.h"

#define TASKMAP_MAX 32768 /* bytes of TPRUN_TASKMAP; a longer one is left out */

enum { TASK_VARIABLES = 28 + GPU_ENVIRONMENT_MAX + OPENMP_ENVIRONMENT_MAX + PMI_ENVIRONMENT_MAX };

static void variable(struct task_environment *vars, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
static void variable(struct task_environment *vars, const char *fmt, ...)
{
    va_list args;
    char text[512];
    va_start(args, fmt);
    int len = vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    if (len < 0 || (size_t)len >= sizeof(text))
        return;
    vars->list[vars->at++] = buf_reserve(&vars->text, (size_t)len + 1);
    buf_add(&vars->text, text, (size_t)len + 1);
    vars->list[vars->at] = NULL;
}

static bool gives_pmi_rank(const struct launch *launch)
{
    return launch->spec->pmi != SPEC_PMI_NONE;
}

bool task_environment_are_own(const struct launch *launch, const char *entry)
{
    static const char *const names[] = {
        "TPRUN_RANK",
        "TPRUN_SIZE",
        "TPRUN_LOCAL_RANK",
        "TPRUN_LOCAL_SIZE",
        "TPRUN_NODE_ID",
        "TPRUN_NNODES",
        "PMI_RANK",
        "PMI_SIZE",
        "MPI_LOCALRANKID",
        "MPI_LOCALNRANKS",
        "OMPI_COMM_WORLD_RANK",
        "OMPI_COMM_WORLD_SIZE",
        "OMPI_COMM_WORLD_LOCAL_RANK",
        "OMPI_COMM_WORLD_LOCAL_SIZE",
        "OMPI_COMM_WORLD_NODE_RANK",
    };
    size_t len = strcspn(entry, "=");
    if (strncmp(entry, "PMI_", 4) == 0 && !gives_pmi_rank(launch))
        return false;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strncmp(entry, names[i], len) == 0 && !names[i][len])
            return true;
    return false;
}

/* What was set because nobody else had: a launcher inside of the task knows by it that this was not
 * said by the user. */
static void variables_defaults(struct task_environment *vars, char *const *const lists[2])
{
    size_t start = vars->text.len;
    for (size_t i = 0; i < 2; i++)
        for (char *const *at = lists[i]; at && *at; at++) {
            buf_add_text(&vars->text, vars->text.len > start ? " " : ENV_DEFAULTS "=");
            buf_add_text(&vars->text, *at);
        }
    if (vars->text.len == start)
        return;
    buf_add_char(&vars->text, '\0');
    vars->list[vars->at++] = vars->text.data + vars->text.start + start;
}

static size_t variables_length(char *const *entries)
{
    size_t len = 0;
    for (; entries && *entries; entries++)
        len += strlen(*entries) + 1;
    return len;
}

/* Those that others made. */
static void variables_add(struct task_environment *vars, char *const *entries)
{
    for (; entries && *entries; entries++)
        vars->list[vars->at++] = *entries;
    vars->list[vars->at] = NULL;
}

static size_t task_environment_count_words(char *const *words)
{
    size_t count = 0;
    while (words[count])
        count++;
    return count;
}

static void pmi_variables(struct task_environment *vars,
                          const struct task_environment_source *source)
{
    const struct launch *launch = source->launch;
    if (!source->pmi)
        return;
    variable(vars, "PMI_FD=3");
    if (launch->spawned)
        variable(vars, "PMI_SPAWNED=1");
    /* MPICH's ch3 device takes it for the name that others reach it by. */
    if (launch->nnodes > 1 &&
        !env_value(source->part->environment, "MPIR_CVAR_CH3_INTERFACE_HOSTNAME"))
        variable(vars, "MPIR_CVAR_CH3_INTERFACE_HOSTNAME=%s", launch->hosts[launch->node]);
}

/* By these names scripts ask for their rank, whichever launcher they were written for. Libraries of
 * MPI do not take them for an offer: without PMI_FD or PMIX_NAMESPACE they are alone. Slurm's libpmi
 * takes PMI_RANK for one, so whoever asks for no PMI has none. */
static void rank_variables(struct task_environment *vars,
                           const struct task_environment_source *source,
                           const struct launch_task *what)
{
    const struct launch *launch = source->launch;
    if (gives_pmi_rank(launch)) {
        variable(vars, "PMI_RANK=%u", what->rank);
        variable(vars, "PMI_SIZE=%u", launch->ntasks);
    }
    variable(vars, "MPI_LOCALNRANKS=%u", launch->nlocal);
    variable(vars, "MPI_LOCALRANKID=%u", what->local_rank);
    variable(vars, "OMPI_COMM_WORLD_RANK=%u", what->rank);
    variable(vars, "OMPI_COMM_WORLD_SIZE=%u", launch->ntasks);
    variable(vars, "OMPI_COMM_WORLD_LOCAL_RANK=%u", what->local_rank);
    variable(vars, "OMPI_COMM_WORLD_LOCAL_SIZE=%u", launch->nlocal);
    variable(vars, "OMPI_COMM_WORLD_NODE_RANK=%u", source->older + what->local_rank);
}

void task_environment_fill(struct task_environment *vars,
                           const struct task_environment_source *source,
                           const struct launch_task *what)
{
    const struct launch *launch = source->launch;
    const struct part_setup *part = source->part;
    buf_clear(&vars->text);
    buf_reserve(&vars->text,
                16384 + variables_length(part->pmi_env) + variables_length(source->threads));
    size_t room = part->count + TASK_VARIABLES + task_environment_count_words(source->pmix) + 1;
    if (vars->room < room) {
        vars->room = room;
        vars->list = mem_resize(vars->list, vars->room, sizeof(char *));
    }
    memcpy(vars->list, part->environment, part->count * sizeof(char *));
    vars->at = part->count;
    variable(vars, "TPRUN_RANK=%u", launch->first_rank + what->rank);
    variable(vars, "TPRUN_SIZE=%u", launch->ntasks);
    variable(vars, "TPRUN_LOCAL_RANK=%u", what->local_rank);
    variable(vars, "TPRUN_LOCAL_SIZE=%u", launch->nlocal);
    variable(vars, "TPRUN_NODE_ID=%u", launch->node);
    variable(vars, "TPRUN_NNODES=%u", launch->nnodes);
    if (launch->group)
        variable(vars, "TPRUN_GROUP=%u", launch->group);
    variable(vars, "TPRUN_PROGRAM=%s", launch->program);
    variable(vars, "TPRUN_INSTANCE=%s", launch->instance);
    variable(vars, "TPRUN_ENCLOSING=%s", launch->enclosing ? launch->enclosing : launch->program);
    if (launch->instance_id)
        variable(vars, "TPRUN_INSTANCE_ID=%s", launch->instance_id);
    rank_variables(vars, source, what);
    pmi_variables(vars, source);
    variables_add(vars, source->pmix);
    variables_add(vars, part->pmi_env);
    variables_add(vars, source->threads);
    variables_defaults(vars, (char *const *const[2]){part->pmi_env, source->threads});
    variables_add(vars, source->gpus);
    for (size_t i = 0; i < TASK_ENVIRONMENT_LONG; i++)
        if (source->texts[i])
            vars->list[vars->at++] = source->texts[i];
    vars->list[vars->at] = NULL;
}

void task_environment_free(struct task_environment *vars)
{
    free(vars->list);
    buf_free(&vars->text);
}

char *task_environment_taskmap(const struct launch *launch)
{
    json_t *wrapped = taskmap_to_json(launch->map);
    char *map = json_dumps(json_object_get(wrapped, "map"), JSON_COMPACT);
    char *text = map && strlen(map) < TASKMAP_MAX ? mem_format("TPRUN_TASKMAP=%s", map) : NULL;
    json_decref(wrapped);
    free(map);
    return text;
}

char *task_environment_resources(const struct launch *launch)
{
    return launch->resources ? mem_format("TPRUN_ENCLOSING_R=%s", launch->resources) : NULL;
}

char *task_environment_stage(const struct stage_place *stage)
{
    return stage->directory ? mem_format("TPRUN_STAGE_DIR=%s", stage->directory) : NULL;
}
