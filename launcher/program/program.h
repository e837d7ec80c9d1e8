/*
 * program - one run: its state, its task groups, and all that decides how it starts and ends.
 *
 * Its state is changed by program_event() alone, over the table of program_state.h. A program calls
 * its owner from the loop, or from inside a call that caused it; it knows neither who watches it
 * nor who hands it frames.
 */
#ifndef LAUNCHER_PROGRAM_PROGRAM_H
#define LAUNCHER_PROGRAM_PROGRAM_H

#include <ev.h>
#include <jansson.h>
#include <stdbool.h>

#include "base/buf.h"
#include "launcher/instance/host_bootstrap.h"
#include "launcher/instance/local_topology.h"
#include "launcher/ledger/completed.h"
#include "launcher/program/program_state.h"
#include "launcher/protocol/stage_source.h"
#include "launcher/spec/spec.h"
#include "launcher/tree/tree.h"

struct program_ops {
    void (*note)(void *owner, const char *text);             /* a line for the user */
    void (*say)(void *owner, const char *text);              /* with -v: what is being done */
    void (*show)(void *owner, const char *text, bool error); /* on stdout, or on stderr */
    /* The file of --draw or --report. 0, or -1 with a sentence. */
    int (*result)(void *owner, enum frame_result which, const char *text, struct error *err);
    /* Of a slow start: FRAME_PROGRESS. False: nobody wants to hear of it any more. */
    bool (*progress)(void *owner, const json_t *progress);
    /* Its first tasks, as launch.h says it. */
    void (*launched)(void *owner, const json_t *launch);
    void (*mapped)(void *owner, const json_t *table); /* which rank is where: FRAME_MAPPED */
    /* Nothing of it is left but its agents, and what it is an instance of: program_begin_end() when
     * that has ended. */
    void (*finishing)(void *owner);
    void (*runs)(void *owner); /* its first tasks are all started */
    /* How many s the epilogs of programs in this one, which is an instance, may take at most; 0:
     * there are none. */
    double (*inner_epilogs)(void *owner);
    /* These of the ranks that program_input_choose() named last read no more of what they are
     * sent. */
    void (*input_gone)(void *owner, const struct idset *ranks);
};

struct program;

/* All is borrowed. The tree is used for nothing else but this program; once that is complete,
 * agents' processes have `gone_patience` s to go, and longer where epilogs of programs in it
 * may. */
struct program *program_new(struct ev_loop *loop, const struct spec *spec, struct tree *tree,
                            struct host_bootstrap *bootstrap, struct local_topology *local,
                            double gone_patience, const struct program_ops *ops, void *owner);
void program_free(struct program *program); /* NULL is fine; after the tree is freed */

/* Before it begins: files to stage that came from another host (taken). */
void program_set_stage(struct program *program, struct stage_source *source);
/* Ask for its resources; all else follows. */
void program_begin(struct program *program);
enum program_state program_state(const struct program *program);
bool program_is_pending(const struct program *program); /* before its tasks are launched */

/* ---- what happens to it ---- */

/* A frame of an agent. program_check_frame() first: -1 where it is malformed, which is dealt with;
 * *value is its JSON, or NULL (new reference, in any case). Frames that do not concern a program
 * are passed over. */
int program_check_frame(struct program *program, const struct frame *frame, json_t **value);
void program_frame(struct program *program, uint32_t child, const struct frame *frame,
                   const json_t *value);
void program_room(struct program *program); /* bulk can be sent down again */
/* FRAME_UNREACHED of an agent: hosts below it; and the same of the tree. */
void program_host_unreached(struct program *program, const struct tree_unreached *what,
                            bool direct);
/* These nodes are gone, for `host` was lost; `first`: none was before. Other tasks have `grace`
 * s. */
void program_nodes_lost(struct program *program, const char *host, const struct idset *nodes,
                        const char *why, bool first, double grace);

/* The instance that it runs in has ended. Its tasks have `grace` s. */
void program_instance_over(struct program *program, double grace);

/* program_orders.c: user orders. A signal for its tasks, from `sender` ("": unknown) ... */
void program_signal(struct program *program, int number, const char *sender);
/* ... and the end, within so many seconds, and by signal `number` if it is not 0. */
void program_terminate(struct program *program, double grace, int number);

/* Once, after `finishing`: its epilog, and then the end of its agents. */
void program_begin_end(struct program *program);

/* Of one without tasks (spec->agents_only), which runs: nobody uses its agents, and they are kept
 * until then (seconds of the epoch); 0: somebody does. */
void program_agents_idle(struct program *program, double until);

/* ---- program_input.c: stdin ---- */

/* For the tasks that read it, or those that were chosen. */
void program_input(struct program *program, const struct frame *frame);
bool program_takes_input(const struct program *program); /* more of it can go down now */
/* What comes from now on is for these ranks, all of which read stdin. */
void program_input_choose(struct program *program, const struct idset *ranks);
/* Whoever sent it sends no more: what tasks have not read holds up nobody. */
void program_input_left(struct program *program);

/* ---- program_complete.c: what is left to do when it is over ---- */

/* What could not be ended, for the user to hear of at the end (outcome_always()). */
void program_report(struct program *program, const char *line);
/* All agents are gone: that is written, and then, so that others can go on, it gives up what it
 * holds and its directory. */
void program_complete(struct program *program);
void program_leave(struct program *program);
/* The exit status; lines are appended, each with a newline. */
int program_outcome(const struct program *program, struct buf *lines);

/* After program_leave(): path and id (borrowed) of its instance, where tpmove is to be run for it;
 * NULL: it is not. */
const char *program_completed_due(const struct program *program, enum completed_mover mover,
                                  const char **instance_id);

/* ---- where it is ---- */

/* Its directory in the instance, borrowed; -1: it has none yet, or has left. */
int program_directory(const struct program *program);
/* Of its directory in the instance, borrowed; NULL: it has none yet, or has left. */
const char *program_path_of(const struct program *program);

/* ---- program_hosts.c ---- */

/* Name of a node of the tree; NULL: there is no such node. */
const char *program_host_name(const struct program *program, uint32_t node);
/* One of these nodes is this machine. */
bool program_is_here(const struct program *program, const struct idset *nodes);
/* Number of the host of this name (as R has it) that has an agent; UINT32_MAX with a sentence:
 * none. */
uint32_t program_find_host(const struct program *program, const char *name, struct error *err);

#endif
