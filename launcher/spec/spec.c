#include "launcher/spec/spec.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/mem.h"
#include "base/string_list.h"
#include "launcher/environment/environment.h"
#include "launcher/spec/spec_build.h"

/* No real limit looks like this: nothing was said about the resource. */
static const struct rlimit spec_limit_unset = {.rlim_cur = RLIM_INFINITY, .rlim_max = 0};

struct spec *spec_new(void)
{
    struct spec *spec = mem_alloc(sizeof(*spec));
    spec->input = SPEC_INPUT_RANKS;
    spec->input_arg = mem_copy_text("0");
    spec->wait = INFINITY;
    spec->time_limit = INFINITY;
    spec->kill_grace = 5;
    spec->stop_grace = 30;
    spec->start_timeout = 30;
    spec->node_timeout = 10;
    spec->on_failure = SPEC_FAILURE_KILL;
    spec->pmi = SPEC_PMI_AUTO;
    spec->bootstrap = mem_copy_text("auto");
    spec->ssh = mem_copy_text("ssh");
    spec->fanout = 32;
    spec->umask = -1;
    for (size_t i = 0; i < RLIM_NLIMITS; i++)
        spec->rlimits[i] = spec_limit_unset;
    return spec;
}

static void spec_free_part(struct spec_part *part)
{
    string_list_free(part->argv);
    free(part->map);
    free(part->bind);
    free(part->order);
    free(part->mppr);
    free(part->per);
    free(part->gpu_bind);
    free(part->taskmap);
    free(part->shape);
    free(part->rankfile);
    free(part->rankfile_name);
    free(part->pset);
    free(part->chdir);
    for (size_t i = 0; i < part->nenv; i++) {
        free(part->env[i].name);
        free(part->env[i].value);
    }
    free(part->env);
    free(part->rlimits);
}

void spec_clear(struct spec *spec)
{
    char *texts[] = {spec->resources,   spec->hosts,     spec->hostfile,       spec->exclude,
                     spec->output,      spec->error,     spec->input_arg,      spec->bootstrap,
                     spec->ssh,         spec->directory, spec->agent,          spec->draw,
                     spec->on,          spec->requires,  spec->screen_machine, spec->mpi,
                     spec->memory_kinds};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        free(texts[i]);
    for (size_t i = 0; i < spec->nparts; i++)
        spec_free_part(&spec->parts[i]);
    free(spec->parts);
    for (size_t i = 0; i < spec->ntopologies; i++)
        free(spec->topologies[i]);
    free(spec->topologies);
    string_list_free(spec->environment);
}

void spec_free(struct spec *spec)
{
    int saved = errno;
    if (spec)
        spec_clear(spec);
    free(spec);
    errno = saved;
}

struct spec_part *spec_add_part(struct spec *spec)
{
    spec->parts = array_grow(spec->parts, spec->nparts, sizeof(spec->parts[0]));
    struct spec_part *part = &spec->parts[spec->nparts++];
    *part = (struct spec_part){.umask = -1};
    return part;
}

void spec_add_env(struct spec_part *part, enum env_kind kind, const char *name, size_t len,
                  const char *value)
{
    part->env = array_grow(part->env, part->nenv, sizeof(part->env[0]));
    part->env[part->nenv++] = (struct env){
        .kind = kind, .name = mem_copy_text_n(name, len), .value = mem_copy_text(value)};
}

void spec_add_rlimit(struct spec_part *part, int resource, uint64_t soft)
{
    for (size_t i = 0; i < part->nrlimits; i++) {
        if (part->rlimits[i].resource == resource) {
            part->rlimits[i].soft = soft;
            return;
        }
    }
    part->rlimits = array_grow(part->rlimits, part->nrlimits, sizeof(part->rlimits[0]));
    part->rlimits[part->nrlimits++] = (struct spec_rlimit){.resource = resource, .soft = soft};
}

void spec_add_topology(struct spec *spec, const char *text)
{
    spec->topologies = array_grow(spec->topologies, spec->ntopologies, sizeof(spec->topologies[0]));
    spec->topologies[spec->ntopologies++] = mem_copy_text(text);
}

struct layout_part spec_part_layout(const struct spec_part *part)
{
    return (struct layout_part){.ntasks = part->ntasks,
                                .fill = part->fill,
                                .cores_per_task = part->cores_per_task,
                                .gpus_per_task = part->gpus_per_task,
                                .map = part->map,
                                .bind = part->bind,
                                .order = part->order,
                                .mppr = part->mppr,
                                .per = part->per,
                                .gpu_bind = part->gpu_bind,
                                .taskmap = part->taskmap,
                                .shape = part->shape,
                                .oversubscribe = part->oversubscribe,
                                .program = part->argv ? part->argv[0] : NULL,
                                .local_memory = part->memory == SPEC_MEMORY_LOCAL};
}

int spec_part_rankfile(const struct spec_part *part, struct rankfile **file, struct error *err)
{
    const char *name = part->rankfile_name ? part->rankfile_name : "rank file";
    *file = NULL;
    if (!part->rankfile)
        return 0;
    *file = rankfile_parse(name, part->rankfile, strlen(part->rankfile), err);
    return *file ? 0 : -1;
}

bool spec_has_rlimit(const struct spec *spec, int resource)
{
    const struct rlimit *limit = &spec->rlimits[resource];
    return limit->rlim_cur != spec_limit_unset.rlim_cur ||
           limit->rlim_max != spec_limit_unset.rlim_max;
}

/* There is no call that only reads it. */
static int spec_own_umask(void)
{
    mode_t mask = umask(077);
    umask(mask);
    return (int)mask;
}

/* Whether a task starts in it, or in one below it. */
static bool spec_needs_directory(const struct spec *spec)
{
    for (size_t i = 0; i < spec->nparts; i++)
        if (!spec->parts[i].chdir || spec->parts[i].chdir[0] != '/')
            return true;
    return false;
}

int spec_inherit(struct spec *spec, struct error *err)
{
    /* Not getcwd(3): a directory below an automounter's link has the link's name on every node. */
    if (!spec->directory)
        spec->directory = get_current_dir_name();
    int why = errno;
    if (!spec->directory && !spec_needs_directory(spec))
        spec->directory = mem_copy_text("/");
    if (!spec->directory)
        return error_set(err,
                         "cannot tell the current directory: %s: enter another, or name the "
                         "tasks' with --chdir /DIR",
                         strerror(why));
    if (spec->umask < 0)
        spec->umask = spec_own_umask();
    for (int i = 0; i < RLIM_NLIMITS; i++) {
        if (!spec_has_rlimit(spec, i) && getrlimit(i, &spec->rlimits[i]) < 0)
            return error_set(err, "cannot read resource limit %d: %s", i, strerror(errno));
    }
    if (!spec->environment) {
        spec->environment = env_scrub(environ);
        free(spec->screen_machine);
        spec->screen_machine = env_screen_machine(spec->environment);
    }
    return 0;
}

void spec_replace(struct spec *spec, struct spec *with)
{
    struct spec old = *spec;
    *spec = *with;
    free(with);
    if (!spec->directory) {
        spec->directory = old.directory;
        old.directory = NULL;
    }
    if (!spec->environment) {
        spec->environment = old.environment;
        old.environment = NULL;
        free(spec->screen_machine);
        spec->screen_machine = old.screen_machine;
        old.screen_machine = NULL;
    }
    if (spec->umask < 0)
        spec->umask = old.umask;
    for (int i = 0; i < RLIM_NLIMITS; i++)
        if (!spec_has_rlimit(spec, i))
            spec->rlimits[i] = old.rlimits[i];
    spec_clear(&old);
}

char **spec_part_environment(const struct spec *spec, const struct spec_part *part)
{
    return env_apply(spec->environment, spec->screen_machine, part->env, part->nenv);
}
