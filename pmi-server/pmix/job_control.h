/*
 * job_control - what a task wants done to tasks of its program, PMIx_Abort() included.
 */
#ifndef PMI_SERVER_PMIX_JOB_CONTROL_H
#define PMI_SERVER_PMIX_JOB_CONTROL_H

#include "pmi-server/pmix/library.h"
#include "pmi-server/pmix/server.h"
#include "pmi-server/protocol/message.h"

/* By order of the service; -1: malformed. */
int job_control_receive(struct pmix_host *host, struct message_down *talk);

/* openpmix's thread. */
pmix_status_t job_control_upcall(const pmix_proc_t *client, const pmix_proc_t targets[],
                                 size_t ntargets, const pmix_info_t directives[], size_t ndirs,
                                 pmix_info_cbfunc_t done, void *cbdata);
pmix_status_t job_control_abort_upcall(const pmix_proc_t *proc, void *client, int status,
                                       const char message[], pmix_proc_t procs[], size_t nprocs,
                                       pmix_op_cbfunc_t done, void *cbdata);
/* 5.0 and later. */
pmix_status_t job_control_session_upcall(const pmix_proc_t *client, uint32_t session,
                                         const pmix_info_t directives[], size_t ndirs,
                                         pmix_info_cbfunc_t done, void *cbdata);

#endif
