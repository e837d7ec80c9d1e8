/*
 * state - what an agent knows, and its rooms. Private to the agent.
 *
 *   agent.c       life: frames from above and below
 *   ending.c      exits, TERM and KILL, the proof that nothing is left
 *   start.c       the launch: binding, exec
 *   confine.c     the cgroup that tasks are started in
 *   register.c    which processors of this host are bound to, for runs of other instances
 *   streams.c     what tasks write and read
 *   rendezvous.c  PMI and the exchange
 *   report.c      what is told upwards
 *
 * Each calls those below it and none above. Whatever happens in a turn of the loop, at its end
 * agent.c looks whether that was the end.
 */
#ifndef LAUNCHER_AGENT_STATE_H
#define LAUNCHER_AGENT_STATE_H

#include <ev.h>
#include <stdbool.h>
#include <sys/types.h>

#include "affinity/topology/topo.h"
#include "launcher/agent/agent.h"
#include "launcher/process/spawn.h"
#include "launcher/program/launch.h"
#include "launcher/stdio/lines.h"
#include "launcher/tree/link.h"
#include "launcher/tree/tree.h"
#include "pmi-server/kvs/exchange.h"
#include "pmi-server/kvs/kvs.h"
#include "pmi-server/server/server.h"

struct agent;
struct task;
struct start;

struct stream { /* a task's stdout or stderr */
    struct task *task;
    int fd;         /* -1: closed */
    uint16_t flag;  /* 0 or FRAME_STDERR */
    bool open_line; /* what was sent last ended inside a line */
    ev_io io;
    struct lines lines;
};

struct task {
    struct agent *agent;
    const struct launch_task *what;
    pid_t pid;  /* 0: not started, or reaped */
    int status; /* as of waitpid, once it has ended */
    bool started;
    bool ended;
    bool drained; /* all that it wrote has been read */
    bool victim;  /* ended after it was told to */
    struct stream streams[2];
    bool reads; /* stdin, and has not closed it */
    int input;  /* the pipe for it; -1: not started yet, or nothing more to come */
    bool input_ended;
    struct buf input_bytes;
    ev_io input_io;
    int pmi; /* our end of its PMI socket, -1: none */
    struct pmi_client *client;
    ev_io pmi_reader, pmi_writer;
};

struct end_set { /* ranks with one fate */
    int status;
    bool victim;
    struct idset *ranks;
};

struct agent {
    struct ev_loop *loop;
    const struct agent_config *config;
    struct link *parent; /* NULL once lost */
    ev_io guard_io;
    ev_child reaper;
    ev_prepare settle; /* the end of a turn */
    uint32_t node;     /* in the tree */
    char *host;
    struct topo *topo;
    struct bootstrap boot;
    struct tree *tree;   /* NULL: nobody below */
    bool tree_empty;     /* after tree_end(): all children are gone */
    struct idset *below; /* nodes below that have not reported their end */
    struct launch *launch;
    struct start *start;                /* under way */
    struct instance *register_instance; /* NULL: nothing is written down */
    struct program *register_entry;
    bool unbound;  /* as mapped; a cgroup may keep its tasks all the same */
    bool launched; /* that is over; launch is NULL if it was malformed */
    struct task *tasks;
    uint32_t ntasks;
    uint32_t live, undrained;
    bool stalled; /* output waits for credit */
    size_t input_owed;
    struct idset *input_nodes; /* of the tree: where stdin is read */

    struct kvs *kvs;
    struct pmi_server *pmi;
    struct exchange *exchange;
    bool missing_told; /* that some rank here will enter no barrier from number `missing` on */
    uint64_t missing;

    bool terminating;
    bool over;    /* own tasks and all they started are gone */
    bool told;    /* FRAME_DONE was sent */
    double heard; /* when a task last wrote or ended */
    ev_timer linger;
    ev_timer killer;
    double kill_at;
    struct end_set *ends;
    size_t nends;
};

/* report.c: nothing is sent once the parent is lost */
void report_send(struct agent *agent, const struct frame *frame);
/* What could be started was; with what the kernel says of it, or NULL (taken over). */
void report_started(struct agent *agent, json_t *bindings);
/* Ranks ended badly: why is "exit", "signal", "unfinalized", "start", "abort", "pmi". */
void report_ended(struct agent *agent, const struct idset *ranks, const char *why, int status,
                  const char *text);
/* How ranks ended, kept for the last word; and what those below say in theirs. */
void report_add(struct agent *agent, int status, bool victim, const struct idset *ranks);
void report_add_rank(struct agent *agent, int status, bool victim, uint32_t rank);
void report_merge(struct agent *agent, const struct frame *frame);
void report_done(struct agent *agent); /* the last word */

/* start.c: begins, and goes on from the loop until agent->launched. */
int start_begin(struct agent *agent, struct error *err);
/* This process has ended: if it was on its way, it counts as started now, or as failed. */
void start_settle(struct agent *agent, pid_t pid);
void start_free(struct agent *agent);

/* register.c */
void register_open(struct agent *agent, bool unbound); /* once tasks run */
void register_close(struct agent *agent);

/* confine.c */
void confine_open(struct agent *agent); /* where none can be made all goes on without */
/* spawn_begin(), in the cgroup if there is one. */
void confine_begin(struct task *task, struct spawning *child, struct spawn *spawn);

/* streams.c */
void streams_open(struct task *task, int output, int error, int input);
bool streams_drain(struct task *task); /* true when nothing is left to read for now */
void streams_resume(struct agent *agent);
void streams_close(struct task *task);
void streams_input(struct agent *agent, const struct frame *frame);
void streams_input_settle(struct agent *agent);

/* rendezvous.c */
void rendezvous_start(struct agent *agent);
void rendezvous_open(struct task *task, int fd);
void rendezvous_drain(struct task *task); /* read what the task said before it ended */
void rendezvous_gone(struct task *task);
void rendezvous_missing(struct agent *agent, const struct frame *frame);
void rendezvous_up(struct agent *agent, const struct frame *frame);
void rendezvous_down(struct agent *agent, const struct frame *frame);
void rendezvous_free(struct agent *agent);

/* ending.c */
void ending_open(struct agent *agent);
void ending_reaped(struct agent *agent, pid_t pid, int status);
void ending_terminate(struct agent *agent, double grace);
void ending_signal(struct agent *agent, int number);
void ending_check(struct agent *agent); /* is everything of this subtree over? */

#endif
