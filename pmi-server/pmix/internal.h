/*
 * internal - what the parts of a host know of each other; owners see server.h.
 */
#ifndef PMI_SERVER_PMIX_INTERNAL_H
#define PMI_SERVER_PMIX_INTERNAL_H

#include <stdatomic.h>

#include "pmi-server/pmix/info.h"
#include "pmi-server/pmix/library.h"
#include "pmi-server/pmix/server.h"
#include "pmi-server/pmix/upcall_queue.h"
#include "pmi-server/protocol/message.h"

struct pmix_host {
    const struct pmix_library *library;
    const struct pmix_server_ops *ops;
    void *arg;
    uint32_t node;
    char *hostname;
    char *tmpdir;
    pmix_topology_t topology; /* openpmix keeps a pointer to it */
    struct pmix_job *jobs;
    struct pmix_job *leaving; /* openpmix has yet to say that it let go of them */
    uint64_t tokens;          /* that requests of other nodes and of the service were given */
    struct question *questions;
    struct doubt *doubts;       /* about tasks that have ended */
    struct foreign *foreigners; /* namespaces that have no task here */
    struct collective *groups;  /* that are being constructed */
    char *program;
    struct tools *tools;   /* NULL: none may connect */
    struct pushed *pushed; /* for tasks that are behind */
    struct output {
        unsigned pulls;      /* that tools have asked for, and not ended */
        unsigned delivering; /* messages that openpmix has yet to look at */
        size_t owed;         /* bytes that the service may send again */
        bool held;           /* it may not: some tool lags */
    } output;
};

struct client {
    uint32_t rank;
    struct pmix_job *job;
    _Atomic int state; /* enum pmi_state; openpmix's thread sets it */
    bool watched;      /* openpmix will tell when it commits */
    bool watched_again;
    bool committed;
    bool gone; /* its process */
    char **environment;
};

struct pmix_job {
    struct pmix_job *next;
    struct pmix_host *host;
    void *data;
    pmix_nspace_t name;
    uint32_t session;
    struct taskmap *map;
    uint32_t node;
    char *tmpdir;
    atomic_bool connected;  /* some task is, or was; openpmix's thread sets it */
    struct client *clients; /* by local rank */
    uint32_t nclients;
    struct fence *fences; /* entered, not complete */
    uint64_t fenced;      /* fences of all that were entered */
    bool is_missing;      /* some rank enters no fence of all from number `from` on */
    uint32_t missing;
    uint64_t missing_from; /* 0: it never connected, and enters none whatever */
    bool told_stuck;
    bool goes_on;                  /* the program does when tasks fail */
    struct idset *dead;            /* ranks that are, where it does; NULL: none */
    struct modex_request *modexes; /* that other nodes were asked for */
    struct wanted *wanted;         /* by them, of tasks of this node */
    struct spawning *spawnings;    /* that the owner was asked for */
    uint32_t nspawnings;
    char **psets; /* that were defined, NULL-terminated */
};

struct pmix_job *server_job(const struct pmix_host *host, const char *name);
/* A job or a tool of this name is here: openpmix may be answered about it. */
bool server_knows(const struct pmix_host *host, const char *name);
double server_clock(void); /* seconds */

/* All in the owner's thread, but what is pmix_upcalls'. */
void fences_free(struct pmix_job *job);
/* A fence is open that the missing rank is a member of; `waiting` waits in it. */
bool fences_stuck(const struct pmix_job *job, uint32_t *waiting);
void missing_check(struct pmix_job *job); /* does somebody wait in vain? */
/* openpmix waits for none any more that has ended here, in what is to be of all. */
void missing_count_out(struct pmix_job *job);
/* Of those of the job, what waits for ranks that died. */
void fences_bereave(struct pmix_job *job);
/* One of these that is a task of this node and has not finalized. */
bool client_of(const struct pmix_job *job, const struct idset *ranks, uint32_t *rank);
void modexes_free(struct pmix_job *job);
void modexes_expire(struct pmix_host *host);
double modexes_end(const struct pmix_host *host); /* when the first expires; 0: there is none */
struct modex_message;
void direct_modex_post(struct pmix_job *job, uint32_t node, const struct modex_message *message);
/* What is wanted of tasks of this node; -1 with a sentence: of another one. */
int direct_modex_serve_ask(struct pmix_job *job, uint32_t from, const struct modex_message *message,
                           struct error *err);
int direct_modex_serve_ordered(struct pmix_host *host,
                               struct message_down *talk); /* by the service; -1: malformed */
void direct_modex_serve_look(struct pmix_host *host);      /* for what was not there before */
double
direct_modex_serve_end(const struct pmix_host *host); /* when to; 0: there is nothing to look for */
void direct_modex_serve_free(struct pmix_job *job);
void direct_modex_serve_ended(struct pmix_job *job, uint32_t rank); /* it commits no more */

/* task_exit.c: as of modexes and what is wanted */
void task_exits_look(struct pmix_host *host);
double task_exits_end(const struct pmix_host *host);
void task_exits_free(const struct pmix_job *job);

/* direct_modex_request.c: what a direct modex asks for. openpmix's thread; 0 as number: it was asked for before.
 * An error is openpmix's answer. */
pmix_status_t waiting_open(const pmix_proc_t *proc, pmix_modex_cbfunc_t done, void *cbdata,
                           uint64_t *number);
/* The owner's: told, if it waits for this still. */
void waiting_close(uint64_t number, pmix_status_t status, const void *bytes, size_t len);
/* It turned out to be a task of this node: openpmix answers for itself, once that commits. */
void waiting_forget(const char *name, uint32_t rank);
/* The only way to deregister a namespace; then(), which may be NULL, is called in openpmix's thread. */
void waiting_deregister(struct pmix_host *host, const char *name, pmix_op_cbfunc_t then,
                        void *cbdata);

/* group_connect.c: members of several jobs, or of a group, come together. */
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
    double end;              /* as server_clock() counts; 0: never */
    pmix_info_cbfunc_t done;
    /* event->status says how it went; event->procs are all members of a group that is constructed. */
    void (*over)(struct pmix_host *host, struct upcall *event, uint64_t number, const void *bytes,
                 size_t len);
};
/* openpmix's thread: what it passes, and `gather`, copied. */
struct upcall *collective_event(const struct collective *gather, const pmix_proc_t procs[],
                                size_t nprocs, const pmix_info_t info[], size_t ninfo);
void collective_enter(struct pmix_host *host, struct upcall *event);

/* remote_namespace.c: event->proc's and event->procs' namespaces are registered, if they are jobs of the
 * program, and then goes on, with event->status. */
void remote_namespace_need(struct pmix_host *host, struct upcall *event,
                           void (*then)(struct pmix_host *host, struct upcall *event));
void remote_namespace_deny(struct pmix_host *host,
                           const char *name); /* after openpmix was told of none */
int remote_namespace_removed(struct pmix_host *host, struct message_down *talk);
bool remote_namespace_forget(struct pmix_host *host,
                             const char *name); /* openpmix keeps it; was it one? */
void remote_namespaces_free(struct pmix_host *host);
/* job_info.c */
void process_sets_define(struct pmix_job *job, const struct pmix_namespace_config *config);
void process_sets_delete(struct pmix_job *job);

/* spawn.c */
pmix_status_t spawn_asked(const pmix_proc_t *proc, const pmix_info_t job_info[], size_t ninfo,
                          const pmix_app_t apps[], size_t napps, pmix_spawn_cbfunc_t done,
                          void *cbdata); /* openpmix's thread */
void spawnings_free(struct pmix_job *job);

/* query.c */
pmix_status_t query_asked(pmix_proc_t *proc, pmix_query_t *queries, size_t nqueries,
                          pmix_info_cbfunc_t done, void *cbdata); /* openpmix's thread */

/* requests.c: what the program's service is asked. `rest` is malformed if pack_ends() says so after it
 * was read; with another status than REPLY_OK there may be nothing. */
typedef void request_reply_arrived(struct pmix_host *host, struct upcall *event,
                                   enum reply_status status, struct pack *rest);
/* In the name of event->proc (of nobody, if it has no namespace), with event->timeout (0: for ever). What the event owns is answered()'s event's from
 * here on. NULL: no answer is wanted. `rest` may be NULL. */
void request_ask(struct pmix_host *host, struct upcall *event, enum service_request kind,
                 const struct buf *rest, request_reply_arrived *answered);
void request_answer(struct pmix_host *host, struct message_down *talk);
void requests_expire(struct pmix_host *host);
double requests_end(const struct pmix_host *host); /* as modexes_end() */
void pending_requests_free(struct pmix_host *host);
pmix_status_t request_status(enum reply_status status);
void requests_leave(struct pmix_host *host, const char *job); /* nobody of it is there any more */

/* publish_lookup.c: what is published and looked up; openpmix's thread. */
pmix_status_t names_publish_upcall(const pmix_proc_t *proc, const pmix_info_t info[], size_t ninfo,
                                   pmix_op_cbfunc_t done, void *cbdata);
pmix_status_t names_lookup_upcall(const pmix_proc_t *proc, char **keys, const pmix_info_t info[],
                                  size_t ninfo, pmix_lookup_cbfunc_t done, void *cbdata);
pmix_status_t names_unpublish_upcall(const pmix_proc_t *proc, char **keys, const pmix_info_t info[],
                                     size_t ninfo, pmix_op_cbfunc_t done, void *cbdata);
void names_finalized_upcall(const pmix_proc_t *proc);

/* tools.c; the upcall is in openpmix's thread */
void server_tools_free(struct pmix_host *host);
bool tools_present(void);                        /* any thread */
void tools_learn_port(char *const *environment); /* of a task */
void tool_connected(pmix_info_t *info, size_t ninfo, pmix_tool_connection_cbfunc_t done,
                    void *cbdata);

/* iof.c: what tasks write, for tools; the upcall is in openpmix's thread */
pmix_status_t output_pull(const pmix_proc_t procs[], size_t nprocs, const pmix_info_t directives[],
                          size_t ndirs, pmix_iof_channel_t channels, pmix_op_cbfunc_t done,
                          void *cbdata);
void output_stop(struct pmix_host *host); /* nobody wants anything any more */
int output_told(struct pmix_host *host, struct message_down *talk); /* -1: malformed */

/* iof.c: what tools have tasks read; the upcall is in openpmix's thread */
pmix_status_t input_push(const pmix_proc_t *source, const pmix_proc_t targets[], size_t ntargets,
                         const pmix_info_t directives[], size_t ndirs,
                         const pmix_byte_object_t *object, pmix_op_cbfunc_t done, void *cbdata);
int input_told(struct pmix_host *host, struct message_down *talk); /* -1: malformed */
void pushed_free(struct pmix_host *host);
/* info.c: infos as bytes that any host of this program can read; caller frees. Any thread. NULL:
 * openpmix cannot. */
char *pack_infos(const struct pmix_library *library, const pmix_info_t *infos, size_t count,
                 size_t *len);
/* -1: malformed. */
int pack_read_infos(const struct pmix_library *library, const void *bytes, size_t len,
                    struct info_list *infos);

/* What hosts are ordered; -1: malformed. */
int events_told(struct pmix_host *host, struct message_down *talk);
/* openpmix tells the tasks of this node, then `then` is queued (NULL: nothing). infos and `then`
 * are taken. */
void event_tell(struct pmix_host *host, pmix_status_t status, const pmix_proc_t *source,
                pmix_data_range_t range, struct info_list *infos, struct upcall *then);
int terminations_told(struct pmix_host *host, struct message_down *talk);
int job_control_told(struct pmix_host *host, struct message_down *talk);

/* Upcalls: events.c, job_control.c. */
pmix_status_t events_notify(pmix_status_t code, const pmix_proc_t *source, pmix_data_range_t range,
                            pmix_info_t info[], size_t ninfo, pmix_op_cbfunc_t done, void *cbdata);
pmix_status_t events_register(pmix_status_t *codes, size_t ncodes, const pmix_info_t info[],
                              size_t ninfo, pmix_op_cbfunc_t done, void *cbdata);
pmix_status_t events_deregister(pmix_status_t *codes, size_t ncodes, pmix_op_cbfunc_t done,
                                void *cbdata);
pmix_status_t job_control_asked(const pmix_proc_t *client, const pmix_proc_t targets[],
                                size_t ntargets, const pmix_info_t directives[], size_t ndirs,
                                pmix_info_cbfunc_t done, void *cbdata);
pmix_status_t job_control_abort(const pmix_proc_t *proc, void *client, int status,
                                const char message[], pmix_proc_t procs[], size_t nprocs,
                                pmix_op_cbfunc_t done, void *cbdata);

/* What openpmix calls, in its own thread, up to client_connected2; by the room that each belongs
 * to. openpmix is given what module_make() makes of it. */
extern const pmix_server_module_t pmix_upcalls;

/* What only newer versions have. */
pmix_status_t upcall_tool_connected2(pmix_info_t *info, size_t ninfo,
                                     pmix_tool_connection_cbfunc_t done, void *cbdata);
pmix_status_t upcall_log2(const pmix_proc_t *client, const pmix_info_t data[], size_t ndata,
                          const pmix_info_t directives[], size_t ndirs, pmix_op_cbfunc_t done,
                          void *cbdata);
pmix_status_t job_control_session(const pmix_proc_t *client, uint32_t session,
                                  const pmix_info_t directives[], size_t ndirs,
                                  pmix_info_cbfunc_t done, void *cbdata);

pmix_status_t upcall_fence(const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[],
                           size_t ninfo, char *data, size_t ndata, pmix_modex_cbfunc_t done,
                           void *cbdata);
pmix_status_t upcall_modex(const pmix_proc_t *proc, const pmix_info_t info[], size_t ninfo,
                           pmix_modex_cbfunc_t done, void *cbdata);
pmix_status_t upcall_connect(const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[],
                             size_t ninfo, pmix_op_cbfunc_t done, void *cbdata);
pmix_status_t upcall_disconnect(const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[],
                                size_t ninfo, pmix_op_cbfunc_t done, void *cbdata);
pmix_status_t upcall_group(pmix_group_operation_t operation, char *name, const pmix_proc_t procs[],
                           size_t nprocs, const pmix_info_t directives[], size_t ndirs,
                           pmix_info_cbfunc_t done, void *cbdata);

#endif
