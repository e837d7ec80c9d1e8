/*
 * program_service - what PMIx servers of all nodes ask of the program as a whole, and the names
 * that its tasks publish.
 *
 * It carries the messages of a PMI service (pmi-server/service/service.h) over the tree of agents:
 * the nodes of the one are those of the other.
 */
#ifndef LAUNCHER_PROGRAM_PROGRAM_SERVICE_H
#define LAUNCHER_PROGRAM_PROGRAM_SERVICE_H

#include "launcher/program/names.h"
#include "launcher/program/task_group.h"

struct program_service;

struct program_service_ops {
    double (*time_left)(void *owner);           /* s; INFINITY: there is no limit */
    void (*say)(void *owner, const char *text); /* with -v */
};

/* All is borrowed. */
struct program_service *program_service_new(struct ev_loop *loop, struct tree *tree,
                                            struct task_groups *groups,
                                            const struct program_service_ops *ops, void *owner);
void program_service_free(struct program_service *service); /* NULL is fine */

/* Before the first group: the instance and the program's entry, for names; what tasks know the
 * instance by; names of hosts by number. Borrowed, the entry until program_service_end(). */
void program_service_start(struct program_service *service, struct instance *instance,
                           struct ledger_entry *entry, const char *instance_id,
                           const char *const *hosts);
void program_service_end(struct program_service *service);

/* A group is about to be launched; is over. */
void program_service_add(struct program_service *service, const struct task_group *group,
                         const struct task_group_source *from);
void program_service_remove(struct program_service *service, const struct task_group *group);
/* It is the end of these nodes, and so of the program. */
void program_service_lost(struct program_service *service, const struct idset *nodes);

/* FRAME_SERVICE. -1 with a sentence: the agent is broken. */
int program_service_message(struct program_service *service, const struct frame *frame,
                            struct error *err);
/* FRAME_OUTPUT: a task wrote something, for tools that want it. */
void program_service_output(struct program_service *service, const struct frame *frame);

/* What PMIx calls a group; caller frees. */
char *program_service_job(const struct program_service *service, uint32_t group);
struct names *program_service_names(const struct program_service *service); /* borrowed */

#endif
