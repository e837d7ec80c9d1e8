/*
 * task_environment - the environment of one task: its part's, and what tells it who and where it
 * is. Private to the agent.
 */
#ifndef LAUNCHER_TASK_TASK_ENVIRONMENT_H
#define LAUNCHER_TASK_TASK_ENVIRONMENT_H

#include "base/buf.h"
#include "launcher/protocol/launch.h"
#include "launcher/protocol/stage_list.h"
#include "launcher/task/part_setup.h"

struct task_environment { /* zeroed at first; may be filled again */
    char **list;          /* NULL-terminated: the part's, then the task's own; for execve */
    size_t at;
    size_t room;
    struct buf text; /* the task's own, NUL-separated; never moves: reserved first */
};

enum { TASK_ENVIRONMENT_LONG = 3 };

struct
    task_environment_source { /* all borrowed; the part's environment and GPUs also by the list */
    const struct launch *launch;
    const struct part_setup *part;
    char *const
        *texts; /* [TASK_ENVIRONMENT_LONG] that may be long, the same for all tasks; or NULL */
    bool pmi;   /* descriptor 3 is its PMI socket */
    char *const *pmix;    /* what openpmix wants it to have; NULL-terminated */
    char *const *gpus;    /* which GPUs it sees, see part_setup_gpus() */
    char *const *threads; /* what it is told of its cores, or NULL; see part_setup_openmp() */
    uint32_t older;       /* tasks of earlier groups of the program that this node was given */
};

/* Whether a NAME=VALUE gives way to one that each task is given: of two that have a name, some
 * programs see the first and some the last. */
bool task_environment_are_own(const struct launch *launch, const char *entry);

void task_environment_fill(struct task_environment *vars,
                           const struct task_environment_source *source,
                           const struct launch_task *what);
void task_environment_free(struct task_environment *vars);

/* "TPRUN_TASKMAP=..." for this program (caller frees), NULL where it would be too long. */
char *task_environment_taskmap(const struct launch *launch);
/* "TPRUN_ENCLOSING_R=..." likewise: a run of its own draws from that, on whatever node it is. */
char *task_environment_resources(const struct launch *launch);
/* "TPRUN_STAGE_DIR=..." likewise, NULL where no file is staged. */
char *task_environment_stage(const struct stage_place *stage);

#endif
