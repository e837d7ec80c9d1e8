/*
 * internal - what the rooms of the service know of each other; owners see service.h.
 */
#ifndef PMI_SERVER_SERVICE_INTERNAL_H
#define PMI_SERVER_SERVICE_INTERNAL_H

#include "pmi-server/protocol/message.h"
#include "pmi-server/service/name_store.h"
#include "pmi-server/service/service.h"

struct job { /* a struct namespace_facts that is kept */
    struct job *next;
    char *name;
    struct taskmap *map;
    uint32_t *node;         /* [map->nnodes] */
    struct buf description; /* as hosts are told; empty: none */
    struct idset *told;     /* nodes of these hosts */
    struct idset *ended;    /* ranks */
};

struct names {
    struct published_name *first;
    size_t count, bytes;
    uint64_t ids; /* that were given */
    const struct pmi_service_names_ops *ops;
    void *arg;
    const struct published_name *others; /* as they were when they were asked for last */
    struct lookup *lookups;              /* that wait, the oldest first */
    bool watched;
};

struct pmi_service {
    const struct pmi_service_ops *ops;
    void *arg;
    struct job *jobs;
    struct job *late; /* that are over, and are to be known in a gathering */
    struct names names;
    struct gathering *gatherings; /* that wait for others, the oldest first */
    uint64_t gathered;            /* numbers that they were given */
    struct fetch *fetches;        /* that wait for the host of a task */
    uint64_t fetched;
    struct query *queries; /* that wait for what hosts know of their tasks */
    uint64_t queried;
    struct puller *pullers; /* hosts whose tools want what tasks write */
    struct push *pushes;    /* that are not done */
    uint64_t npushes;       /* that there ever were */
    struct bond *bonds;
};

/* A question that was asked; the room that cannot answer it at once keeps a copy. */
struct requester {
    uint32_t node;  /* whose host asked */
    uint64_t token; /* its number for it; 0: no answer is wanted */
};

struct job *pmi_service_job(const struct pmi_service *service,
                            const char *name); /* NULL: there is none */
/* The same of those that are late. What no gathering knows any more is forgotten. */
struct job *pmi_service_late_job(const struct pmi_service *service, const char *name);
void pmi_service_settle_late(struct pmi_service *service);
/* Where a rank is, as tell() calls it; UINT32_MAX: there is no such rank. */
uint32_t pmi_service_node(const struct job *job, uint32_t rank);

/* What is said may be answered before these return: what is told of is unlinked before. `rest` may
 * be NULL. */
void pmi_service_answer(struct pmi_service *service, const struct requester *asked,
                        enum reply_status status, const struct buf *rest);
void pmi_service_order(struct pmi_service *service, uint32_t node, enum order_kind kind,
                       const struct buf *rest);
/* Nodes of a job are added to a set. */
void pmi_service_add_nodes(struct idset *nodes, const struct job *job);

/* namespaces.c: who is connected, and hears of the other's deaths: a job and who spawned it, and those
 * that say so. As often untied as tied. */
void namespaces_tie(struct pmi_service *service, const struct job *one, const struct job *other);
void namespaces_untie(struct pmi_service *service, const struct job *one, const struct job *other);
bool namespaces_tied(const struct pmi_service *service, const struct job *one,
                     const struct job *other);
void namespaces_remove(struct pmi_service *service, const struct job *job); /* all of its */

/* What hosts ask, by kind: -1 where it is malformed. */
int events_take(struct pmi_service *service, const struct requester *asked,
                struct message_up *talk);
int deaths_take(struct pmi_service *service, const struct requester *asked,
                struct message_up *talk);
int control_take(struct pmi_service *service, const struct requester *asked,
                 struct message_up *talk);

/* name_store.c: the store. */
struct party { /* who publishes, or looks for something */
    const char *job;
    uint32_t rank, node;
};
/* In the range that is looked through; the closest. NULL: none. */
struct published_name *names_find(const struct pmi_service *service, const struct party *party,
                                  enum publish_range range, const char *key);
const struct published_name *names_find_other(const struct pmi_service *service, const char *key);
/* All of them or none; they are taken in any case. */
enum reply_status names_add(struct pmi_service *service, struct published_name *fresh);
/* Those that `goes` says go; how many. */
size_t names_drop(struct pmi_service *service,
                  bool (*goes)(const struct published_name *name, const void *what),
                  const void *what);
bool names_take(const struct pmi_service *service,
                const struct published_name *name); /* false: another was faster */

/* publish_lookup.c: what is looked up. -1: malformed. */
int lookups_take(struct pmi_service *service, const struct requester *asked,
                 struct message_up *talk);
/* Names with an id above `since` have come; NULL: other programs' have changed. */
void lookups_try(struct pmi_service *service, const uint64_t *since);
void lookups_forget(struct pmi_service *service, const struct requester *asked);
void lookups_drop(struct pmi_service *service,
                  const struct process_name *proc); /* or of SERVICE_ALL */
void lookups_free(struct pmi_service *service);

/* publish_lookup.c: what else is asked about names. */
bool naming_party(const struct pmi_service *service, const struct requester *asked,
                  const struct message_up *talk,
                  struct party *party); /* false: it is nobody, which is answered */
int naming_publish(struct pmi_service *service, const struct requester *asked,
                   struct message_up *talk);
int naming_unpublish(struct pmi_service *service, const struct requester *asked,
                     struct message_up *talk);
int naming_left(struct pmi_service *service, const struct requester *asked,
                struct message_up *talk);
void naming_ended(struct pmi_service *service, const char *job, uint32_t rank);
void naming_over(struct pmi_service *service, const char *job);
/* The rooms. -1: malformed. */
int pmi_service_gather(struct pmi_service *service, const struct requester *asked,
                       struct message_up *talk);
void pmi_service_gather_forget(struct pmi_service *service, const struct requester *asked);
void pmi_service_gather_ended(struct pmi_service *service, const struct job *job, uint32_t rank);
/* Which is not found any more. true: a gathering goes on that it has entered; pmi_service_settle_late()
 * follows. */
bool pmi_service_gather_removed(struct pmi_service *service, const struct job *job);
bool pmi_service_gather_knows(const struct pmi_service *service,
                              const struct job *job); /* it is a member of one */
void pmi_service_gather_free(struct pmi_service *service);

int pmi_service_fetch(struct pmi_service *service, const struct requester *asked,
                      struct message_up *talk);
int pmi_service_found(struct pmi_service *service, const struct requester *asked,
                      struct message_up *talk);
void pmi_service_fetch_forget(struct pmi_service *service, const struct requester *asked);
void pmi_service_fetch_removed(struct pmi_service *service, const struct job *job);
void pmi_service_fetch_free(struct pmi_service *service);

int pmi_service_describe(struct pmi_service *service, const struct requester *asked,
                         struct message_up *talk);
void pmi_service_describe_removed(struct pmi_service *service,
                                  const struct job *job); /* who was told is */

/* query.c: what is asked about the program. -1: malformed. */
int pmi_service_query(struct pmi_service *service, const struct requester *asked,
                      struct message_up *talk);
int pmi_service_tasks(struct pmi_service *service, const struct requester *asked,
                      struct message_up *talk);
void pmi_service_query_forget(struct pmi_service *service, const struct requester *asked);
void pmi_service_query_removed(struct pmi_service *service, const struct job *job);
void pmi_service_queries_free(struct pmi_service *service);
/* iof.c; -1: malformed */
int streams_pull(struct pmi_service *service, const struct requester *asked,
                 struct message_up *talk);
int streams_unpull(struct pmi_service *service, const struct requester *asked,
                   struct message_up *talk);
int streams_taken(struct pmi_service *service, const struct requester *asked,
                  struct message_up *talk);
void streams_free(struct pmi_service *service);

/* iof.c; -1: malformed */
int push_asked(struct pmi_service *service, const struct requester *asked, struct message_up *talk);
int push_done(struct pmi_service *service, const struct requester *asked, struct message_up *talk);
void pushes_free(struct pmi_service *service);

#endif
