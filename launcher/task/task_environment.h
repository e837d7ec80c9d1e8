/*
 * variables - the environment of one task: its part's, and what tells it who and where it is.
 * Private to the agent.
 */
#ifndef LAUNCHER_TASK_TASK_ENVIRONMENT_H
#define LAUNCHER_TASK_TASK_ENVIRONMENT_H

#include "base/buf.h"
#include "launcher/protocol/launch.h"
#include "launcher/task/part_setup.h"

struct variables { /* zeroed at first; may be filled again */
    char **list;   /* NULL-terminated: the part's, then the task's own; for execve */
    size_t at;
    size_t room;
    struct buf text; /* the task's own, NUL-separated; never moves: reserved first */
};

enum { VARIABLES_LONG = 2 };

struct variables_source { /* all borrowed; the part's environment and GPUs also by the list */
    const struct launch *launch;
    const struct part *part;
    char *const *texts;   /* [VARIABLES_LONG] that may be long, the same for all tasks; or NULL */
    bool pmi;             /* descriptor 3 is its PMI socket */
    char *const *pmix;    /* what openpmix wants it to have; NULL-terminated */
    char *const *threads; /* what it is told of its cores, or NULL; see threads.h */
    uint32_t older;       /* tasks of earlier groups of the program that this node was given */
};

/* Whether a NAME=VALUE gives way to one that each task is given: of two that have a name, some
 * programs see the first and some the last. */
bool variables_are_own(const struct launch *launch, const char *entry);

void variables_fill(struct variables *vars, const struct variables_source *source,
                    const struct launch_task *what);
void variables_free(struct variables *vars);

/* "TPRUN_TASKMAP=..." for this program (caller frees), NULL where it would be too long. */
char *variables_taskmap(const struct launch *launch);
/* "TPRUN_ENCLOSING_R=..." likewise: a run of its own draws from that, on whatever node it is. */
char *variables_resources(const struct launch *launch);

#endif
