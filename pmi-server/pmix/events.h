/*
 * events - PMIx events, of tasks and of the server: made here, and told here.
 */
#ifndef PMI_SERVER_PMIX_EVENTS_H
#define PMI_SERVER_PMIX_EVENTS_H

#include "pmi-server/pmix/info.h"
#include "pmi-server/pmix/upcall_queue.h"
#include "pmi-server/protocol/message.h"

/* openpmix tells the tasks of this node. infos is taken. */
void event_tell(struct pmix_host *host, pmix_status_t status, const pmix_proc_t *source,
                pmix_data_range_t range, struct info_list *infos);

/* One of another node, by order of the service; -1: malformed. */
int events_receive(struct pmix_host *host, struct message_down *talk);

/* openpmix's thread. */
pmix_status_t events_notify_upcall(pmix_status_t code, const pmix_proc_t *source,
                                   pmix_data_range_t range, pmix_info_t info[], size_t ninfo,
                                   pmix_op_cbfunc_t done, void *cbdata);
pmix_status_t events_register_upcall(pmix_status_t *codes, size_t ncodes, const pmix_info_t info[],
                                     size_t ninfo, pmix_op_cbfunc_t done, void *cbdata);
pmix_status_t events_deregister_upcall(pmix_status_t *codes, size_t ncodes, pmix_op_cbfunc_t done,
                                       void *cbdata);

#endif
