/*
 * task_exit - the server is told of tasks that have ended: for its owner.
 */
#ifndef PMI_SERVER_PMIX_TASK_EXIT_H
#define PMI_SERVER_PMIX_TASK_EXIT_H

#include <stdbool.h>
#include <stdint.h>

struct pmix_job;

/* The task's process has ended. True: it is PMI_RUNNING, which may be wrong still; ops->settled()
 * comes. */
bool pmix_namespace_ended(struct pmix_job *job, uint32_t local_rank);

#endif
