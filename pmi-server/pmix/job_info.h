/*
 * job_info - what tasks are told of their job (PMIx Standard 4, "Job-level data": what a host has
 * to give).
 *
 * Where everybody is two maps say, of which openpmix makes node, local and node rank of every task,
 * and the peers of every node. What only a task's own node knows (the cpus it is bound to, its
 * working directory ...) is told of this node's tasks.
 */
#ifndef PMI_SERVER_PMIX_JOB_INFO_H
#define PMI_SERVER_PMIX_JOB_INFO_H

#include "pmi-server/pmix/info.h"
#include "pmi-server/pmix/library.h"
#include "pmi-server/pmix/namespace.h"
#include "pmi-server/pmix/server.h"

struct job_data { /* zeroed: nothing */
    struct info_list job, tasks;
};

/* Register the namespace with all of it, which stays there until the calls have ended. */
void job_info_register(struct pmix_host *host, const struct pmix_namespace_config *config,
                       struct job_data *data, struct library_calls *calls);
void job_info_free(struct job_data *data, const struct pmix_library *library);

/* Process sets of a namespace: parts of it that have a name. Their names, NULL-terminated;
 * process_sets_delete() takes them (NULL: nothing), and waits for openpmix's thread. */
char **process_sets_define(const struct pmix_library *library,
                           const struct pmix_namespace_config *config);
void process_sets_delete(const struct pmix_library *library, char **sets);

#endif
