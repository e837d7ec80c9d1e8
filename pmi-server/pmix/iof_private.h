/*
 * iof_private - what tasks write, for tools, and what tools have tasks read: owners see iof.h.
 */
#ifndef PMI_SERVER_PMIX_IOF_PRIVATE_H
#define PMI_SERVER_PMIX_IOF_PRIVATE_H

#include "pmi-server/pmix/library.h"
#include "pmi-server/pmix/server.h"
#include "pmi-server/protocol/message.h"

struct iof *iof_new(void);
void iof_free(struct pmix_host *host);
/* struct pmix_feature; without any tool nothing is wanted any more. */
void iof_tools_changed(struct pmix_host *host, unsigned count);

/* What the service orders; -1: malformed. */
int iof_output_receive(struct pmix_host *host, struct message_down *talk);
int iof_input_receive(struct pmix_host *host, struct message_down *talk);

/* openpmix's thread. */
pmix_status_t iof_pull_upcall(const pmix_proc_t procs[], size_t nprocs,
                              const pmix_info_t directives[], size_t ndirs,
                              pmix_iof_channel_t channels, pmix_op_cbfunc_t done, void *cbdata);
pmix_status_t iof_push_upcall(const pmix_proc_t *source, const pmix_proc_t targets[],
                              size_t ntargets, const pmix_info_t directives[], size_t ndirs,
                              const pmix_byte_object_t *object, pmix_op_cbfunc_t done,
                              void *cbdata);

#endif
