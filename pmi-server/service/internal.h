/*
 * inside - what the rooms of the hub know of each other; owners see hub.h.
 */
#ifndef PMI_SERVER_SERVICE_INTERNAL_H
#define PMI_SERVER_SERVICE_INTERNAL_H

#include "pmi-server/protocol/message.h"
#include "pmi-server/service/name_store.h"
#include "pmi-server/service/service.h"

struct job { /* a struct hub_job that is kept */
    struct job *next;
    char *name;
    struct taskmap *map;
    uint32_t *node;         /* [map->nnodes] */
    struct buf description; /* as hosts are told; empty: none */
    struct idset *told;     /* nodes of these hosts */
    struct idset *ended;    /* ranks */
};

struct names {
    struct hub_name *first;
    size_t count, bytes;
    uint64_t ids; /* that were given */
    const struct hub_names_ops *ops;
    void *arg;
    const struct hub_name *others; /* as they were when they were asked for last */
    struct lookup *lookups;        /* that wait, the oldest first */
    bool watched;
};

struct hub {
    const struct hub_ops *ops;
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
struct asked {
    uint32_t node;  /* whose host asked */
    uint64_t token; /* its number for it; 0: no answer is wanted */
};

struct job *hub_job(const struct hub *hub, const char *name); /* NULL: there is none */
/* The same of those that are late. What no gathering knows any more is forgotten. */
struct job *hub_late_job(const struct hub *hub, const char *name);
void hub_settle_late(struct hub *hub);
/* Where a rank is, as tell() calls it; UINT32_MAX: there is no such rank. */
uint32_t hub_node(const struct job *job, uint32_t rank);

/* What is said may be answered before these return: what is told of is unlinked before. `rest` may
 * be NULL. */
void hub_answer(struct hub *hub, const struct asked *asked, enum hub_status status,
                const struct buf *rest);
void hub_order(struct hub *hub, uint32_t node, enum hub_order kind, const struct buf *rest);
/* Nodes of a job are added to a set. */
void hub_add_nodes(struct idset *nodes, const struct job *job);

/* bonds.c: who is connected, and hears of the other's deaths: a job and who spawned it, and those
 * that say so. As often untied as tied. */
void bonds_tie(struct hub *hub, const struct job *one, const struct job *other);
void bonds_untie(struct hub *hub, const struct job *one, const struct job *other);
bool bonds_tied(const struct hub *hub, const struct job *one, const struct job *other);
void bonds_remove(struct hub *hub, const struct job *job); /* all of its */

/* What hosts ask, by kind: -1 where it is malformed. */
int events_take(struct hub *hub, const struct asked *asked, struct talk_up *talk);
int deaths_take(struct hub *hub, const struct asked *asked, struct talk_up *talk);
int control_take(struct hub *hub, const struct asked *asked, struct talk_up *talk);

/* names.c: the store. */
struct party { /* who publishes, or looks for something */
    const char *job;
    uint32_t rank, node;
};
/* In the range that is looked through; the closest. NULL: none. */
struct hub_name *names_find(const struct hub *hub, const struct party *party, enum hub_range range,
                            const char *key);
const struct hub_name *names_find_other(const struct hub *hub, const char *key);
/* All of them or none; they are taken in any case. */
enum hub_status names_add(struct hub *hub, struct hub_name *fresh);
/* Those that `goes` says go; how many. */
size_t names_drop(struct hub *hub, bool (*goes)(const struct hub_name *name, const void *what),
                  const void *what);
bool names_take(const struct hub *hub, const struct hub_name *name); /* false: another was faster */

/* lookup.c: what is looked up. -1: malformed. */
int lookups_take(struct hub *hub, const struct asked *asked, struct talk_up *talk);
/* Names with an id above `since` have come; NULL: other programs' have changed. */
void lookups_try(struct hub *hub, const uint64_t *since);
void lookups_forget(struct hub *hub, const struct asked *asked);
void lookups_drop(struct hub *hub, const struct hub_proc *proc); /* or of HUB_ALL */
void lookups_free(struct hub *hub);

/* naming.c: what else is asked about names. */
bool naming_party(const struct hub *hub, const struct asked *asked, const struct talk_up *talk,
                  struct party *party); /* false: it is nobody, which is answered */
int naming_publish(struct hub *hub, const struct asked *asked, struct talk_up *talk);
int naming_unpublish(struct hub *hub, const struct asked *asked, struct talk_up *talk);
int naming_left(struct hub *hub, const struct asked *asked, struct talk_up *talk);
void naming_ended(struct hub *hub, const char *job, uint32_t rank);
void naming_over(struct hub *hub, const char *job);
/* The rooms. -1: malformed. */
int hub_gather(struct hub *hub, const struct asked *asked, struct talk_up *talk);
void hub_gather_forget(struct hub *hub, const struct asked *asked);
void hub_gather_ended(struct hub *hub, const struct job *job, uint32_t rank);
/* Which is not found any more. true: a gathering goes on that it has entered; hub_settle_late()
 * follows. */
bool hub_gather_removed(struct hub *hub, const struct job *job);
bool hub_gather_knows(const struct hub *hub, const struct job *job); /* it is a member of one */
void hub_gather_free(struct hub *hub);

int hub_fetch(struct hub *hub, const struct asked *asked, struct talk_up *talk);
int hub_found(struct hub *hub, const struct asked *asked, struct talk_up *talk);
void hub_fetch_forget(struct hub *hub, const struct asked *asked);
void hub_fetch_removed(struct hub *hub, const struct job *job);
void hub_fetch_free(struct hub *hub);

int hub_describe(struct hub *hub, const struct asked *asked, struct talk_up *talk);
void hub_describe_removed(struct hub *hub, const struct job *job); /* who was told is */

/* query.c: what is asked about the program. -1: malformed. */
int hub_query(struct hub *hub, const struct asked *asked, struct talk_up *talk);
int hub_tasks(struct hub *hub, const struct asked *asked, struct talk_up *talk);
void hub_query_forget(struct hub *hub, const struct asked *asked);
void hub_query_removed(struct hub *hub, const struct job *job);
void hub_queries_free(struct hub *hub);
/* streams.c; -1: malformed */
int streams_pull(struct hub *hub, const struct asked *asked, struct talk_up *talk);
int streams_unpull(struct hub *hub, const struct asked *asked, struct talk_up *talk);
int streams_taken(struct hub *hub, const struct asked *asked, struct talk_up *talk);
void streams_free(struct hub *hub);

/* push.c; -1: malformed */
int push_asked(struct hub *hub, const struct asked *asked, struct talk_up *talk);
int push_done(struct hub *hub, const struct asked *asked, struct talk_up *talk);
void pushes_free(struct hub *hub);

#endif
