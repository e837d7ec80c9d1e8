/*
 * task_death - the server is told of tasks that have ended badly: for its owner.
 */
#ifndef PMI_SERVER_PMIX_TASK_DEATH_H
#define PMI_SERVER_PMIX_TASK_DEATH_H

#include <stdbool.h>
#include <stdint.h>

struct pmix_job;

/* The task's process has ended, with this status of waitpid(), and not as it should: tasks that
 * want to know are told. Where the program goes on, fences that wait for it end. */
void pmix_namespace_died(struct pmix_job *job, uint32_t local_rank, int status, bool goes_on);

#endif
