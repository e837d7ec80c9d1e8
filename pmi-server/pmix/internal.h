/*
 * inside - what the parts of a host know of each other; owners see host.h.
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
    const struct pmix_host_ops *ops;
    void *arg;
    uint32_t node;
    char *hostname;
    char *tmpdir;
    pmix_topology_t topology; /* openpmix keeps a pointer to it */
    struct pmix_job *jobs;
    struct pmix_job *leaving; /* openpmix has yet to say that it let go of them */
    uint64_t tokens;          /* that requests of other nodes and of the hub were given */
    struct question *questions;
    struct doubt *doubts;       /* about tasks that have ended */
    struct foreign *foreigners; /* namespaces that have no task here */
    struct gather *groups;      /* that are being constructed */
    char *program;
    struct tools *tools;   /* NULL: none may connect */
    struct pushed *pushed; /* for tasks that are behind */
    struct output {
        unsigned pulls;      /* that tools have asked for, and not ended */
        unsigned delivering; /* messages that openpmix has yet to look at */
        size_t owed;         /* bytes that the hub may send again */
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

struct pmix_job *host_job(const struct pmix_host *host, const char *name);
/* A job or a tool of this name is here: openpmix may be answered about it. */
bool host_knows(const struct pmix_host *host, const char *name);
double host_clock(void); /* seconds */
/* then(whatever, arg) in openpmix's thread, where some of its callbacks have to be called. openpmix
 * 4.2 to 6.0: they are about a connection of that thread, but run in whatever thread calls them. */
void host_come_by(const struct pmix_host *host, pmix_op_cbfunc_t then, void *arg);

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
struct message;
void modex_post(struct pmix_job *job, uint32_t node, const struct message *message);
/* What is wanted of tasks of this node; -1 with a sentence: of another one. */
int committed_ask(struct pmix_job *job, uint32_t from, const struct message *message,
                  struct error *err);
int committed_ordered(struct pmix_host *host,
                      struct talk_down *talk);      /* by the hub; -1: malformed */
void committed_look(struct pmix_host *host);        /* for what was not there before */
double committed_end(const struct pmix_host *host); /* when to; 0: there is nothing to look for */
void committed_free(struct pmix_job *job);
void committed_ended(struct pmix_job *job, uint32_t rank); /* it commits no more */

/* ended.c: as of modexes and what is wanted */
void doubts_look(struct pmix_host *host);
double doubts_end(const struct pmix_host *host);
void doubts_free(const struct pmix_job *job);

/* waiting.c: what a direct modex asks for. openpmix's thread; 0 as number: it was asked for before.
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

/* gather.c: members of several jobs, or of a group, come together. */
struct gather { /* more of an event */
    enum hub_gathering operation;
    char *key;     /* a group's name; else NULL */
    bool numbered; /* who asked wants the number */
    bool broken;   /* a member of this node is over; gather_event() looks */
    /* Of GATHER_GROUP, as talk.h has it. */
    uint32_t leaders;
    pmix_proc_t *added; /* malloc()ed; gather_event() takes it */
    size_t nadded;
    bool cancels;        /* the group will not be */
    bool told;           /* with another one of the same key */
    struct gather *next; /* host->groups */
    double end;          /* as host_clock() counts; 0: never */
    pmix_info_cbfunc_t done;
    /* event->status says how it went; event->procs are all members of a group that is constructed. */
    void (*over)(struct pmix_host *host, struct event *event, uint64_t number, const void *bytes,
                 size_t len);
};
/* openpmix's thread: what it passes, and `gather`, copied. */
struct event *gather_event(const struct gather *gather, const pmix_proc_t procs[], size_t nprocs,
                           const pmix_info_t info[], size_t ninfo);
void gather_enter(struct pmix_host *host, struct event *event);

/* foreign.c: event->proc's and event->procs' namespaces are registered, if they are jobs of the
 * program, and then goes on, with event->status. */
void foreign_need(struct pmix_host *host, struct event *event,
                  void (*then)(struct pmix_host *host, struct event *event));
void foreign_deny(struct pmix_host *host, const char *name); /* after openpmix was told of none */
int foreign_removed(struct pmix_host *host, struct talk_down *talk);
bool foreign_forget(struct pmix_host *host, const char *name); /* openpmix keeps it; was it one? */
void foreigners_free(struct pmix_host *host);
/* psets.c */
void psets_define(struct pmix_job *job, const struct pmix_job_config *config);
void psets_delete(struct pmix_job *job);

/* spawn.c */
pmix_status_t spawn_asked(const pmix_proc_t *proc, const pmix_info_t job_info[], size_t ninfo,
                          const pmix_app_t apps[], size_t napps, pmix_spawn_cbfunc_t done,
                          void *cbdata); /* openpmix's thread */
void spawnings_free(struct pmix_job *job);

/* query.c */
pmix_status_t query_asked(pmix_proc_t *proc, pmix_query_t *queries, size_t nqueries,
                          pmix_info_cbfunc_t done, void *cbdata); /* openpmix's thread */

/* questions.c: what the program's hub is asked. `rest` is malformed if packet_ends() says so after it
 * was read; with another status than HUB_OK there may be nothing. */
typedef void question_answered(struct pmix_host *host, struct event *event, enum hub_status status,
                               struct packet *rest);
/* In the name of event->proc (of nobody, if it has no namespace), with event->timeout (0: for ever). What the event owns is answered()'s event's from
 * here on. NULL: no answer is wanted. `rest` may be NULL. */
void question_ask(struct pmix_host *host, struct event *event, enum hub_kind kind,
                  const struct buf *rest, question_answered *answered);
void question_answer(struct pmix_host *host, struct talk_down *talk);
void questions_expire(struct pmix_host *host);
double questions_end(const struct pmix_host *host); /* as modexes_end() */
void questions_free(struct pmix_host *host);
pmix_status_t question_status(enum hub_status status);
void questions_leave(struct pmix_host *host, const char *job); /* nobody of it is there any more */

/* names.c: what is published and looked up; openpmix's thread. */
pmix_status_t names_publish_upcall(const pmix_proc_t *proc, const pmix_info_t info[], size_t ninfo,
                                   pmix_op_cbfunc_t done, void *cbdata);
pmix_status_t names_lookup_upcall(const pmix_proc_t *proc, char **keys, const pmix_info_t info[],
                                  size_t ninfo, pmix_lookup_cbfunc_t done, void *cbdata);
pmix_status_t names_unpublish_upcall(const pmix_proc_t *proc, char **keys, const pmix_info_t info[],
                                     size_t ninfo, pmix_op_cbfunc_t done, void *cbdata);
void names_finalized_upcall(const pmix_proc_t *proc);

/* tools.c; the upcall is in openpmix's thread */
void host_tools_free(struct pmix_host *host);
bool tools_present(void);                        /* any thread */
void tools_learn_port(char *const *environment); /* of a task */
void tool_connected(pmix_info_t *info, size_t ninfo, pmix_tool_connection_cbfunc_t done,
                    void *cbdata);

/* output.c: what tasks write, for tools; the upcall is in openpmix's thread */
pmix_status_t output_pull(const pmix_proc_t procs[], size_t nprocs, const pmix_info_t directives[],
                          size_t ndirs, pmix_iof_channel_t channels, pmix_op_cbfunc_t done,
                          void *cbdata);
void output_stop(struct pmix_host *host); /* nobody wants anything any more */
int output_told(struct pmix_host *host, struct talk_down *talk); /* -1: malformed */

/* input.c: what tools have tasks read; the upcall is in openpmix's thread */
pmix_status_t input_push(const pmix_proc_t *source, const pmix_proc_t targets[], size_t ntargets,
                         const pmix_info_t directives[], size_t ndirs,
                         const pmix_byte_object_t *object, pmix_op_cbfunc_t done, void *cbdata);
int input_told(struct pmix_host *host, struct talk_down *talk); /* -1: malformed */
void pushed_free(struct pmix_host *host);
/* pack.c: infos as bytes that any host of this program can read; caller frees. Any thread. NULL:
 * openpmix cannot. */
char *pack_infos(const struct pmix_library *library, const pmix_info_t *infos, size_t count,
                 size_t *len);
/* -1: malformed. */
int pack_read_infos(const struct pmix_library *library, const void *bytes, size_t len,
                    struct infos *infos);

/* What hosts are ordered; -1: malformed. */
int events_told(struct pmix_host *host, struct talk_down *talk);
/* openpmix tells the tasks of this node, then `then` is queued (NULL: nothing). infos and `then`
 * are taken. */
void event_tell(struct pmix_host *host, pmix_status_t status, const pmix_proc_t *source,
                pmix_data_range_t range, struct infos *infos, struct event *then);
int deaths_told(struct pmix_host *host, struct talk_down *talk);
int control_told(struct pmix_host *host, struct talk_down *talk);

/* Upcalls: events.c, control.c. */
pmix_status_t events_notify(pmix_status_t code, const pmix_proc_t *source, pmix_data_range_t range,
                            pmix_info_t info[], size_t ninfo, pmix_op_cbfunc_t done, void *cbdata);
pmix_status_t events_register(pmix_status_t *codes, size_t ncodes, const pmix_info_t info[],
                              size_t ninfo, pmix_op_cbfunc_t done, void *cbdata);
pmix_status_t events_deregister(pmix_status_t *codes, size_t ncodes, pmix_op_cbfunc_t done,
                                void *cbdata);
pmix_status_t control_asked(const pmix_proc_t *client, const pmix_proc_t targets[], size_t ntargets,
                            const pmix_info_t directives[], size_t ndirs, pmix_info_cbfunc_t done,
                            void *cbdata);
pmix_status_t control_abort(const pmix_proc_t *proc, void *client, int status, const char message[],
                            pmix_proc_t procs[], size_t nprocs, pmix_op_cbfunc_t done,
                            void *cbdata);

/* What openpmix calls, in its own thread, up to client_connected2; by the room that each belongs
 * to. openpmix is given what module_make() makes of it. */
extern const pmix_server_module_t pmix_upcalls;

/* What only newer versions have. */
pmix_status_t upcall_tool_connected2(pmix_info_t *info, size_t ninfo,
                                     pmix_tool_connection_cbfunc_t done, void *cbdata);
pmix_status_t upcall_log2(const pmix_proc_t *client, const pmix_info_t data[], size_t ndata,
                          const pmix_info_t directives[], size_t ndirs, pmix_op_cbfunc_t done,
                          void *cbdata);
pmix_status_t control_session(const pmix_proc_t *client, uint32_t session,
                              const pmix_info_t directives[], size_t ndirs, pmix_info_cbfunc_t done,
                              void *cbdata);

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
