/*
 * pmix_job - the PMIx job of a task group on this node: a namespace of openpmix's host, with its
 * tasks.
 *
 * It exists from when the group is known, and holds what comes for the job until it is open; where
 * no PMIx is offered to the group it is never opened, and every function does nothing then. It may
 * be kept after the group's tasks ended here: those of other nodes may still ask for what they put.
 *
 * Tasks are named by local rank; `rank` is of the group.
 */
#ifndef LAUNCHER_AGENT_PMIX_JOB_H
#define LAUNCHER_AGENT_PMIX_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "launcher/agent/group_fence.h"
#include "launcher/agent/pmix_host.h"
#include "launcher/protocol/launch.h"
#include "pmi-server/pmix/server.h"
#include "pmi-server/pmix/spawn.h"

struct group_pmix_job;

struct group_pmix_task_ops { /* `group` has the tasks */
    /* pmix_job_ended() was true for the task; its state is certain now. */
    void (*settled)(void *group, uint32_t local_rank);
    void (*log)(void *group, uint32_t rank, bool error,
                const char *text); /* whole lines, of a task */
    /* Bytes of a tool for a task's stdin; false: it does not read them. */
    bool (*input)(void *group, uint32_t rank, const void *bytes, size_t len, bool end);
    void (*control)(void *group, const struct pmix_control *control);
};

struct group_pmix_job_ops {
    /* A task asked for the end of the program. */
    void (*abort)(void *owner, uint32_t rank, int status, const char *message);
    /* `waiting` waits in a fence for `missing`, which has ended. */
    void (*stuck)(void *owner, uint32_t missing, uint32_t waiting);
    /* A task wants tasks started: pmix_job_spawned() follows. */
    void (*spawn)(void *owner, uint32_t rank, uint64_t token, const struct spawn_request *spawn);
    /* A message of another node's host, or of the service, is malformed. */
    void (*failed)(void *owner, const struct error *err);
};

struct group_pmix_job_config { /* all borrowed */
    struct agent_pmix_host *host;
    struct group_fence *fence;
    const struct launch *launch;
    const struct group_pmix_job_ops *ops;
    void *owner;
    const struct group_pmix_task_ops *task_ops;
    void *group;
    /* To the host of the node that the frame says. The sender outlives the group. */
    void (*post)(void *sender, const struct frame *frame);
    void *sender;
};

struct group_pmix_job *pmix_job_new(const struct group_pmix_job_config *config);
void pmix_job_free(struct group_pmix_job *job); /* NULL is fine */
/* Open it where PMIx is in `offered` (a set of enum spec_pmi), or tools are wanted. 0, or -1 with a
 * sentence. */
int pmix_job_open(struct group_pmix_job *job, unsigned offered, struct error *err);
/* The group has ended here, and will be freed. Takes the job: it is put in front of `retained` if
 * others may ask, while there are few, or freed. */
void pmix_job_retain(struct group_pmix_job **retained, struct group_pmix_job *job);
struct group_pmix_job *pmix_job_find_retained(struct group_pmix_job *retained, uint32_t group);
void pmix_job_free_retained(struct group_pmix_job **retained);

/* The name of a group's namespace; caller frees. */
char *pmix_job_name(const struct launch *launch, uint32_t group);
/* A directory for memory that its tasks share, or NULL. */
const char *pmix_job_memory(struct group_pmix_job *job);
/* NAME=VALUE of a task that is offered these PMIs, NULL-terminated; borrowed. */
char *const *pmix_job_variables(struct group_pmix_job *job, uint32_t local_rank, unsigned offered);
bool pmix_job_is_open(const struct group_pmix_job *job);

/* A message from the host of that node of the group; held until the job is open if `hold`. */
void pmix_job_on_post(struct group_pmix_job *job, bool hold, const struct frame *frame);
/* A round of the fence is complete. -1 with a sentence. */
int pmix_job_exchanged(struct group_pmix_job *job, uint64_t id, const void *bytes, size_t len,
                       struct error *err);
/* A rank of another node enters no fence from this number on. */
void pmix_job_missing(struct group_pmix_job *job, uint32_t rank, uint64_t from);
void pmix_job_spawned(struct group_pmix_job *job, uint64_t token, enum spawn_fate fate,
                      const char *name);

/* ---- the end of a task ---- */

enum pmi_state pmix_job_state(const struct group_pmix_job *job, uint32_t local_rank);
void pmix_job_drain(struct group_pmix_job *job); /* what its tasks said before they ended */
/* True: its state is not certain; ops->settled() comes. */
bool pmix_job_ended(struct group_pmix_job *job, uint32_t local_rank);
/* Not as it should, with this status; `goes_on`: the program does. */
void pmix_job_died(struct group_pmix_job *job, uint32_t local_rank, int status, bool goes_on);
/* It has ended well: other nodes are told what it enters no more. */
void pmix_job_gone(struct group_pmix_job *job, uint32_t local_rank, uint32_t rank);

/* What openpmix's host asks for jobs, for struct agent_pmix_host_config. */
extern const struct pmix_server_ops pmix_job_server_ops;

#endif
