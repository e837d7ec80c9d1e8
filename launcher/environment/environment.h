/*
 * environment - the environment that tasks inherit.
 */
#ifndef LAUNCHER_ENVIRONMENT_ENVIRONMENT_H
#define LAUNCHER_ENVIRONMENT_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>

/* A variable that holds, with blanks between, each NAME=VALUE that tprun set for a task since
 * nobody else had. A tprun inside of the task takes them away again, unless they were changed. */
#define ENV_DEFAULTS "TPRUN_DEFAULTS"

enum env_kind { ENV_SET, ENV_REMOVE }; /* in the order given */

struct env {
    enum env_kind kind;
    char *name;  /* for REMOVE a glob, fnmatch(3) */
    char *value; /* for SET */
};

/* True for a variable that belongs to the place of the process that has it (its rank, its ssh
 * connection, its launcher's sockets) and would mislead a task started elsewhere. */
bool env_is_local(const char *name, size_t len);

/* A copy of a NULL-terminated NAME=VALUE list less those variables (caller frees with
 * string_list_free()). Entries without a name are dropped. */
char **env_scrub(char *const *environment);

/* What spec->screen_machine is for an environment of this process: the name of this machine
 * (localhost.h) where it names an X server, which tasks of other machines do not reach; else NULL.
 * Caller frees. */
char *env_screen_machine(char *const *environment);

/* A copy for a command that starts agents. Each variable of an X server is noted there a second
 * time, so that an agent knows whether it has its own or was only passed this one. Caller frees
 * with string_list_free(). */
char **env_for_agents(char *const *environment);

/* A copy of a list with these rules applied in order. Where this is not the machine that the
 * variables of an X server are for (NULL: they are for all), those that this process was started
 * with take their place (Slurm's --x11 gives an agent such), or none. Caller frees with
 * string_list_free(). */
char **env_apply(char *const *environment, const char *screen_machine, const struct env *rules,
                 size_t nrules);

/* The value of a variable in such a list, borrowed; NULL where it is not set. */
const char *env_value(char *const *environment, const char *name);

#endif
