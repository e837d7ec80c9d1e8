/*
 * talk - what hosts and the hub say to each other.
 *
 * Up: kind (u8), token (u64; 0: no answer is wanted), the task that asks (its job's name as text, its
 * rank as u32), then what belongs to the kind. Down: kind (u8), token (u64), status (u8, enum
 * hub_status), then what belongs to it. The fields are packet.h's.
 */
#ifndef PMI_SERVER_PROTOCOL_MESSAGE_H
#define PMI_SERVER_PROTOCOL_MESSAGE_H

#include <stdint.h>

#include "affinity/sets/idset.h"
#include "base/pack.h"
#include "pmi-server/protocol/namespace.h"

enum hub_kind {             /* what a host asks */
                HUB_FORGET, /* the question of this token: nobody waits for its answer any more */
                /* range and until when (u8), count, each: key, whether it is a text (u8), value */
                HUB_PUBLISH,
                /* range (u8), how many are waited for (u32; 0: none), count, keys. Answer: count,
                 * each: key, who has published it, whether it is a text (u8), value */
                HUB_LOOKUP,
                /* range (u8; HUB_NRANGES: any), count (0: all), keys */
                HUB_UNPUBLISH,
                HUB_FINALIZED, /* the task has finalized */
                HUB_GATHER,    /* talk_gather; answered to all hosts of its members once all have
                               asked: a number (u64) that no other has, and all bytes */
                HUB_DESCRIBE,  /* jobs: how many (u32), a name each; answered with a description
                                 (describe.h) each. When one ends, ORDER_REMOVED */
                HUB_MODEX, /* a task; how long a key is waited for once it has put something (u32, ms),
                                 and the key, "": any. Answered with all that it has put (bytes) */
                HUB_FOUND, /* to ORDER_MODEX: its number, hub_status (u8), bytes */
                HUB_QUERY, /* jobs whose tasks are wanted: how many (u32), a name each; answered
                                 with slots (u32), seconds left (u64, UINT64_MAX: for ever), hosts
                                 (text); how many jobs (u32), a description each; how many tables
                                 (u32), a job's name and its tasks (tasks.h) each */
                HUB_TASKS, /* to ORDER_TASKS: its number, name of the job, tasks (tasks.h) */
                HUB_PULL, /* tools of this node want what tasks write: u8 channels (enum hub_channel), u32
                               number of processes, each a job and a rank or HUB_ALL */
                HUB_UNPULL, /* they want nothing any more */
                HUB_TAKEN,  /* u64: bytes of ORDER_OUTPUT that have left the host */
                HUB_PUSH, /* bytes for what tasks read: u32 number of processes, each a job and a rank or
                               HUB_ALL; u8 whether it is the end; bytes */
                HUB_PUSHED,  /* u64 number of an ORDER_PUSH, u8 status: they have it */
                HUB_NOTIFY,  /* an event of the asking task; answered when it is passed on */
                HUB_DIED,    /* the asking task has; no answer */
                HUB_CONTROL, /* something is to be done to tasks */
                HUB_NKINDS
};

enum hub_order {                /* what the hub says */
                 ORDER_ANSWER,  /* to the question of that token */
                 ORDER_MODEX,   /* number (u64), what HUB_MODEX has: HUB_FOUND is wanted */
                 ORDER_REMOVED, /* name of a job that this host was told of */
                 ORDER_TASKS,   /* number (u64), name of a job: HUB_TASKS is wanted of the node,
                                   whether it has a host or not */
                 ORDER_OUTPUT, /* u64: bytes that were lost before, for a host that did not keep up; who
                                  wrote, u8 channel, bytes */
                 ORDER_PUSH,    /* u64 number, then as HUB_PUSH; for tasks of this host */
                 ORDER_NOTIFY,  /* tell tasks here of another node's event */
                 ORDER_DIED,    /* tasks have */
                 ORDER_CONTROL, /* do something to tasks here */
                 ORDER_NKINDS
};

enum hub_status {
    HUB_OK,
    HUB_NOT_FOUND,
    HUB_TIMEOUT,
    HUB_EXISTS,
    HUB_BAD, /* malformed, or of nobody that there is */
    HUB_NOT_PERMITTED,
    HUB_UNSUPPORTED,
    HUB_PARTLY,
    HUB_FULL, /* too much, or too many */
    HUB_GONE, /* who should have taken part */
    HUB_NSTATUS
};

struct hub_proc {
    char *job; /* its name; the owner frees it */
    uint32_t rank;
};

void talk_put_proc(struct buf *out, const char *job, uint32_t rank);
struct hub_proc talk_proc(struct packet *in);
/* So many of them, after their number; freed by talk_free_procs(). Where it is malformed, none. */
struct hub_proc *talk_procs(struct packet *in, uint32_t *count);
void talk_free_procs(struct hub_proc *procs, uint32_t count);
/* As idset_encode() has them; malformed where there is none. Caller frees, never NULL. */
void talk_put_ranks(struct buf *out, const struct idset *ranks);
struct idset *talk_ranks(struct packet *in);

enum hub_reach { /* whose tasks an event concerns */
                 HUB_REACH_JOB,
                 HUB_REACH_PROGRAM,
                 HUB_REACH_SOME, /* those that are listed */
                 HUB_NREACHES
};

/*
 * HUB_NOTIFY: reach (u8), those that are listed (procs), the event (bytes, which hosts alone
 *   understand). ORDER_NOTIFY: whose event it is (proc), the event (bytes).
 * HUB_DIED: struct hub_death but its ranks. ORDER_DIED: the dead's job (text), struct hub_death, and
 *   the jobs that are to hear of it (their number, texts).
 * HUB_CONTROL: action (u8), number (u32), to whom (procs; none: all jobs). ORDER_CONTROL: who asks
 *   (proc), the job (text), its ranks of this node (ranks), action, number.
 */
struct hub_death {
    enum hub_end how;
    uint32_t code; /* the status that it exited with, or the number of the signal */
    bool goes_on;  /* the program does */
    struct idset *ranks;
};

void talk_put_death(struct buf *out, const struct hub_death *death);
struct hub_death talk_death(struct packet *in); /* ranks: none */

enum hub_gathering {
    GATHER_FENCE,
    GATHER_CONNECT,
    GATHER_DISCONNECT,
    GATHER_CONSTRUCT,
    GATHER_DESTRUCT,
    GATHER_GROUP, /* constructed by some that know others, who follow */
    GATHER_NKINDS
};

/* Operation (u8), broken (u8: a member that should have taken part is over), key, bytes; members:
 * how many jobs have some (u32); of each, by name, its name and the members' ranks as an idset, ""
 * for all. The signature is the operation, the key and the members.
 *
 * Of GATHER_GROUP the members that lead come first; there are none where one asks who follows. Then
 * how many lead (u32), each of whom asks on its own (0: those that are listed, asked for by each of their
 * hosts), and members that this one adds. The answer ends with all members. A host that asked more
 * than once is told bytes and members once, in the first answer that it gets. */

struct talk_up {
    enum hub_kind kind;
    uint64_t token;
    struct hub_proc from;
    struct packet rest;
};

struct talk_down {
    enum hub_order kind;
    uint64_t token;
    enum hub_status status;
    struct packet rest;
};

/* The head; the rest follows it. */
void talk_put_up(struct buf *out, enum hub_kind kind, uint64_t token, const char *job,
                 uint32_t rank);
void talk_put_down(struct buf *out, enum hub_order kind, uint64_t token, enum hub_status status);

/* 0, or -1: malformed, and nothing to be freed. from.job is the caller's. */
int talk_read_up(struct talk_up *talk, const void *bytes, size_t len);
int talk_read_down(struct talk_down *talk, const void *bytes, size_t len);

#endif
