/*
 * message - what hosts and the service say to each other.
 *
 * Up: kind (u8), token (u64; 0: no answer is wanted), the task that asks (its job's name as text,
 * its rank as u32), then what belongs to the kind. Down: kind (u8), token (u64), status (u8, enum
 * pmi_service_status), then what belongs to it. The fields are pack.h's.
 */
#ifndef PMI_SERVER_PROTOCOL_MESSAGE_H
#define PMI_SERVER_PROTOCOL_MESSAGE_H

#include <stdint.h>

#include "affinity/sets/idset.h"
#include "base/pack.h"
#include "pmi-server/protocol/namespace.h"

enum service_request {                 /* what a host asks */
                       REQUEST_FORGET, /* the question of this token: nobody waits for its answer
                                          any more */
                       /* range and until when (u8), count, each: key, whether it is a text (u8),
                        * value */
                       REQUEST_PUBLISH,
                       /* range (u8), how many are waited for (u32; 0: none), count, keys. Answer:
                        * count, each: key, who has published it, whether it is a text (u8),
                        * value */
                       REQUEST_LOOKUP,
                       /* range (u8; RANGE_NRANGES: any), count (0: all), keys */
                       REQUEST_UNPUBLISH,
                       REQUEST_FINALIZED, /* the task has finalized */
                       REQUEST_GATHER, /* talk_gather; answered to all hosts of its members once all
                                          have asked: a number (u64) that no other has, and all
                                          bytes */
                       REQUEST_DESCRIBE, /* jobs: how many (u32), a name each; answered with a
                                            description (namespace_info.h) each. When one ends,
                                            ORDER_REMOVED */
                       REQUEST_MODEX,    /* a task; how long a key is waited for once it has put
                                         something (u32, ms), and the key, "": any. Answered with
                                         all that it has put (bytes) */
                       REQUEST_FOUND,    /* to ORDER_MODEX: its number, pmi_service_status (u8),
                                         bytes */
                       REQUEST_QUERY, /* jobs whose tasks are wanted: how many (u32), a name each;
                                         answered with slots (u32), seconds left (u64, UINT64_MAX:
                                         for ever), hosts (text); how many jobs (u32), a description
                                         each; how many tables (u32), a job's name and its tasks
                                         (task_states.h) each */
                       REQUEST_TASKS, /* to ORDER_TASKS: its number, name of the job, tasks
                                         (task_states.h) */
                       REQUEST_PULL,  /* tools of this node want what tasks write: u8 channels (enum
                                        output_channel), u32 number of processes, each a job and a
                                        rank or SERVICE_ALL */
                       REQUEST_UNPULL, /* they want nothing any more */
                       REQUEST_TAKEN,  /* u64: bytes of ORDER_OUTPUT that have left the host */
                       REQUEST_PUSH,   /* bytes for what tasks read: u32 number of processes, each a
                                        job and a rank or SERVICE_ALL; u8 whether it is the end;
                                        bytes */
                       REQUEST_PUSHED, /* u64 number of an ORDER_PUSH, u8 status: they have it */
                       REQUEST_NOTIFY, /* an event of the asking task; answered when it is passed
                                          on */
                       REQUEST_DIED,   /* the asking task has; no answer */
                       REQUEST_CONTROL, /* something is to be done to tasks */
                       REQUEST_NKINDS
};

enum order_kind {                /* what the service says */
                  ORDER_ANSWER,  /* to the question of that token */
                  ORDER_MODEX,   /* number (u64), what REQUEST_MODEX has: REQUEST_FOUND is wanted */
                  ORDER_REMOVED, /* name of a job that this host was told of */
                  ORDER_TASKS,  /* number (u64), name of a job: REQUEST_TASKS is wanted of the node,
                                   whether it has a host or not */
                  ORDER_OUTPUT, /* u64: bytes that were lost before, for a host that did not keep
                                   up; who wrote, u8 channel, bytes */
                  ORDER_PUSH,   /* u64 number, then as REQUEST_PUSH; for tasks of this host */
                  ORDER_NOTIFY, /* tell tasks here of another node's event */
                  ORDER_DIED,   /* tasks have */
                  ORDER_CONTROL, /* do something to tasks here */
                  ORDER_NKINDS
};

enum reply_status {
    REPLY_OK,
    REPLY_NOT_FOUND,
    REPLY_TIMEOUT,
    REPLY_EXISTS,
    REPLY_BAD, /* malformed, or of nobody that there is */
    REPLY_NOT_PERMITTED,
    REPLY_UNSUPPORTED,
    REPLY_PARTLY,
    REPLY_FULL, /* too much, or too many */
    REPLY_GONE, /* who should have taken part */
    REPLY_NSTATUS
};

struct process_name {
    char *job; /* its name; the owner frees it */
    uint32_t rank;
};

void message_put_proc(struct buf *out, const char *job, uint32_t rank);
struct process_name message_proc(struct pack *in);
/* So many of them, after their number; freed by message_free_procs(). Where it is malformed,
 * none. */
struct process_name *message_procs(struct pack *in, uint32_t *count);
void message_free_procs(struct process_name *procs, uint32_t count);
/* As idset_encode() has them; malformed where there is none. Caller frees, never NULL. */
void message_put_ranks(struct buf *out, const struct idset *ranks);
struct idset *message_ranks(struct pack *in);

enum event_reach { /* whose tasks an event concerns */
                   REACH_JOB,
                   REACH_PROGRAM,
                   REACH_SOME, /* those that are listed */
                   REACH_NREACHES
};

/*
 * REQUEST_NOTIFY: reach (u8), those that are listed (procs), the event (bytes, which hosts alone
 *   understand). ORDER_NOTIFY: whose event it is (proc), the event (bytes).
 * REQUEST_DIED: struct termination but its ranks. ORDER_DIED: the dead's job (text), struct
 *   termination, and the jobs that are to hear of it (their number, texts).
 * REQUEST_CONTROL: action (u8), number (u32), to whom (procs; none: all jobs). ORDER_CONTROL: who
 *   asks (proc), the job (text), its ranks of this node (ranks), action, number.
 */
struct termination {
    enum task_end how;
    uint32_t code; /* the status that it exited with, or the number of the signal */
    bool goes_on;  /* the program does */
    struct idset *ranks;
};

void message_put_death(struct buf *out, const struct termination *death);
struct termination message_death(struct pack *in); /* ranks: none */

enum collective_kind {
    COLLECTIVE_FENCE,
    COLLECTIVE_CONNECT,
    COLLECTIVE_DISCONNECT,
    COLLECTIVE_CONSTRUCT,
    COLLECTIVE_DESTRUCT,
    COLLECTIVE_GROUP, /* constructed by some that know others, who follow */
    COLLECTIVE_NKINDS
};

/* Operation (u8), broken (u8: a member that should have taken part is over), key, bytes; members:
 * how many jobs have some (u32); of each, by name, its name and the members' ranks as an idset, ""
 * for all. The signature is the operation, the key and the members.
 *
 * Of COLLECTIVE_GROUP the members that lead come first; there are none where one asks who follows.
 * Then how many lead (u32), each of whom asks on its own (0: those that are listed, asked for by
 * each of their hosts), and members that this one adds. The answer ends with all members. A host
 * that asked more than once is told bytes and members once, in the first answer that it gets. */

struct message_up {
    enum service_request kind;
    uint64_t token;
    struct process_name from;
    struct pack rest;
};

struct message_down {
    enum order_kind kind;
    uint64_t token;
    enum reply_status status;
    struct pack rest;
};

/* The head; the rest follows it. */
void message_put_up(struct buf *out, enum service_request kind, uint64_t token, const char *job,
                    uint32_t rank);
void message_put_down(struct buf *out, enum order_kind kind, uint64_t token,
                      enum reply_status status);

/* 0, or -1: malformed, and nothing to be freed. from.job is the caller's. */
int message_read_up(struct message_up *talk, const void *bytes, size_t len);
int message_read_down(struct message_down *talk, const void *bytes, size_t len);

#endif
