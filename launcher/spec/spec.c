/* A spec: its defaults, its end, and what it takes from the process that makes it. */
#include "launcher/spec/spec.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/string_list.h"
#include "launcher/environment/environment.h"

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
    spec->hook_timeout = SPEC_HOOK_TIMEOUT;
    spec->node_timeout = 10;
    spec->on_failure = SPEC_FAILURE_KILL;
    spec->save_limit = SPEC_SAVE_LIMIT;
    spec->pmi = SPEC_PMI_AUTO;
    spec->bootstrap = mem_copy_text("auto");
    spec->ssh = mem_copy_text("ssh");
    spec->fanout = 32;
    spec->umask = -1;
    for (size_t i = 0; i < RLIM_NLIMITS; i++)
        spec->rlimits[i] = spec_limit_unset;
    return spec;
}

void spec_add_origin(struct spec *spec, json_t *origin)
{
    if (!spec->origins)
        spec->origins = json_array();
    json_array_append_new(spec->origins, origin);
}

bool spec_has_rlimit(const struct spec *spec, int resource)
{
    const struct rlimit *limit = &spec->rlimits[resource];
    return limit->rlim_cur != spec_limit_unset.rlim_cur ||
           limit->rlim_max != spec_limit_unset.rlim_max;
}

int spec_inherit(struct spec *spec, struct error *err)
{
    bool needed = false; /* some task starts in the current directory, or in one below it */
    for (size_t i = 0; i < spec->nparts; i++)
        needed = needed || !spec->parts[i].chdir || spec->parts[i].chdir[0] != '/';
    /* Not getcwd(3): a directory below an automounter's link has the link's name on every node. */
    if (!spec->directory)
        spec->directory = get_current_dir_name();
    int why = errno;
    if (!spec->directory && !needed)
        spec->directory = mem_copy_text("/");
    if (!spec->directory)
        return error_set(err,
                         "cannot tell the current directory: %s: enter another, or name the "
                         "tasks' with --chdir /DIR",
                         strerror(why));
    if (spec->umask < 0) { /* no call only reads it */
        spec->umask = (int)umask(077);
        umask((mode_t)spec->umask);
    }
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

void spec_set_variable(struct spec *spec, const char *name, const char *value)
{
    size_t count = 0, len = strlen(name);
    while (
        spec->environment && spec->environment[count] &&
        (strncmp(spec->environment[count], name, len) != 0 || spec->environment[count][len] != '='))
        count++;
    bool there = spec->environment && spec->environment[count];
    if (there) {
        free(spec->environment[count]);
    } else {
        spec->environment = mem_resize(spec->environment, count + 2, sizeof(char *));
        spec->environment[count + 1] = NULL;
    }
    spec->environment[count] = mem_format("%s=%s", name, value);
}

struct spec spec_bare(const struct spec *spec)
{
    struct spec bare = *spec;
    bare.environment = NULL;
    return bare;
}

void spec_take_environment(struct spec *spec, char **environment)
{
    string_list_free(spec->environment);
    spec->environment = environment;
}

char **spec_part_environment(const struct spec *spec, const struct spec_part *part)
{
    return env_apply(spec->environment, spec->screen_machine, part->env, part->nenv);
}
