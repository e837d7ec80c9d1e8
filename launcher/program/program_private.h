/*
 * program_private - a program and its objects, for the files that make up a program, from the
 * top down (tests/calls finds circles):
 *
 *     program.c           the objects, and what they tell it
 *     program_frames.c, program_control.c, program_input.c, program_orders.c
 *                         what comes from agents, from commands and from the user
 *     program_groups.c    its task groups
 *     program_event.c     its states
 *     program_hosts.c, program_complete.c
 *                         queries, and what is left to do when it is over
 */
#ifndef LAUNCHER_PROGRAM_PROGRAM_PRIVATE_H
#define LAUNCHER_PROGRAM_PROGRAM_PRIVATE_H

#include "launcher/program/graceful_stop.h"
#include "launcher/program/inquiries.h"
#include "launcher/program/lost_hosts.h"
#include "launcher/program/no_pmi.h"
#include "launcher/program/outcome.h"
#include "launcher/program/program.h"
#include "launcher/program/program_log.h"
#include "launcher/program/program_service.h"
#include "launcher/program/program_start.h"
#include "launcher/program/program_termination.h"
#include "launcher/program/spawn.h"
#include "launcher/program/task_requests.h"
#include "launcher/program/time_limit.h"

struct program {
    struct ev_loop *loop;
    const struct spec *spec;
    struct tree *tree;
    const struct program_ops *ops;
    void *owner;
    double gone_patience;
    enum program_state state;
    bool terminated; /* it was told to end while it ran */
    bool left;       /* something of it may be left somewhere */
    struct program_start *start;
    struct task_groups *groups; /* that are not over */
    struct program_service *service;
    struct program_claim *claim; /* NULL, as the next two: there are no resources yet */
    struct spawns *spawns;
    struct lost_hosts *lost; /* NULL: this program is no instance */
    struct idset *returned;  /* hosts that answer again and are not prepared for programs yet */
    struct task_requests *requests;
    struct outcome *outcome;
    struct program_log *log;
    struct no_pmi *no_pmi;
    struct program_termination *termination;
    struct time_limit *limit; /* NULL, as the next three: it does not run yet */
    struct graceful_stop *stop;
    struct idset *starting;     /* nodes of its first tasks that have not started them */
    struct idset *input_nodes;  /* of the tree: where stdin is read */
    struct idset *input_target; /* of these, where it goes; NULL: to all */
    uint32_t input_number;      /* of the choice of that; 0: none yet */
    struct inquiries *inquiries;
    const char *ended_by; /* a command that orders the end at this moment; NULL: none does */
};

/* ---- program_event.c: its states ---- */

/* The only place where the state is changed. `grace` (s) is that of PROGRAM_TERMINATE. */
void program_event(struct program *program, enum program_event event, double grace);
/* It is to end, for this reason. */
void program_fail(struct program *program, int status, const char *line, double grace);
/* Its tasks were launched, and it is not over. */
bool program_is_live(const struct program *program);
/* Events are written from now on, if the ledger knows the program already. */
void program_open_log(struct program *program);
/* As `launch` of spawns_ops. */
struct task_group *program_launch_group(void *owner, const struct task_group_source *from);
/* As early_launch.h. */
void program_send_early(void *owner, const struct plan *plan);
void program_forget_early(void *owner);
/* A line for the user. As `note` of its objects. */
void program_on_note(void *owner, const char *text);
/* A line for the user, with -v only. */
__attribute__((format(printf, 2, 3))) void program_say(struct program *program, const char *fmt,
                                                       ...);

/* ---- program_groups.c: its task groups ---- */

/* The table of its groups, whose events it takes; the caller frees. */
struct task_groups *program_groups_new(struct program *program);
/* Groups that no node has anything left of are over; is it the end? */
void program_check_groups(struct program *program);
/* Tasks of a group (NULL: it is over) ended badly, by an agent's JSON. */
void program_task_ended(struct program *program, const struct task_group *group, uint64_t time,
                        uint32_t node, const json_t *value);

/* ---- program_hosts.c ---- */

/* Names of nodes of the tree as text (RFC 29); caller frees. */
char *program_hosts_text(const struct program *program, const struct idset *nodes);

#endif
