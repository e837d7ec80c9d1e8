/*
 * group_connect - what members of several namespaces, or of a group, do together: fences of some
 * namespaces, connects, disconnects, groups. The program's service gathers them.
 */
#ifndef PMI_SERVER_PMIX_GROUP_CONNECT_H
#define PMI_SERVER_PMIX_GROUP_CONNECT_H

#include "pmi-server/pmix/upcall_queue.h"
#include "pmi-server/protocol/message.h"

struct collective { /* more of an event */
    enum collective_kind operation;
    char *key;     /* a group's name; else NULL */
    bool numbered; /* who asked wants the number */
    bool broken;   /* a member of this node is over; collective_event() looks */
    /* Of COLLECTIVE_GROUP, as message.h has it. */
    uint32_t leaders;
    pmix_proc_t *added; /* malloc()ed; collective_event() takes it */
    size_t nadded;
    bool cancels;            /* the group will not be */
    bool told;               /* with another one of the same key */
    struct collective *next; /* host->groups */
    double end;              /* as pending_requests_clock() counts; 0: never */
    pmix_info_cbfunc_t done;
    /* event->status says how it went; event->procs are all members of a group that is
     * constructed. */
    void (*over)(struct pmix_host *host, struct upcall *event, uint64_t number, const void *bytes,
                 size_t len);
};

bool procs_of_one_namespace(const pmix_proc_t procs[], size_t nprocs); /* or none are given */
/* openpmix's thread: what it passes, and `gather`, copied. */
struct upcall *collective_event(const struct collective *gather, const pmix_proc_t procs[],
                                size_t nprocs, const pmix_info_t info[], size_t ninfo);
void collective_enter(struct pmix_host *host, struct upcall *event);

/* openpmix's thread. */
pmix_status_t connect_upcall(const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[],
                             size_t ninfo, pmix_op_cbfunc_t done, void *cbdata);
pmix_status_t disconnect_upcall(const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[],
                                size_t ninfo, pmix_op_cbfunc_t done, void *cbdata);
pmix_status_t group_upcall(pmix_group_operation_t operation, char *name, const pmix_proc_t procs[],
                           size_t nprocs, const pmix_info_t directives[], size_t ndirs,
                           pmix_info_cbfunc_t done, void *cbdata);

#endif
