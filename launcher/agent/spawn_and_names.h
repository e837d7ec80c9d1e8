/*
 * spawn_and_names - what tasks of a group ask of their program, by PMI or PMIx: tasks to spawn,
 * names to publish and look up, who is dead. Requests go up to the manager, the answers come down.
 */
#ifndef LAUNCHER_AGENT_SPAWN_AND_NAMES_H
#define LAUNCHER_AGENT_SPAWN_AND_NAMES_H

#include "launcher/agent/pmix_job.h"
#include "launcher/agent/topology_file.h"
#include "launcher/agent/uplink.h"
#include "launcher/protocol/launch.h"
#include "pmi-server/pmi/server.h"

struct spawn_and_names;

/* All are borrowed. */
struct spawn_and_names *spawn_and_names_new(struct uplink *uplink, const struct launch *launch,
                                            struct group_pmix_job *pmix,
                                            struct topology_file *topology_file);
void spawn_and_names_free(
    struct spawn_and_names *requests); /* they are not answered; NULL is fine */

/* Requests of this task by PMI-1 or PMI-2, answered by pmi_request_named() and so on. */
void spawn_and_names_on_name(struct spawn_and_names *requests, const struct launch_task *task,
                             struct pmi_request *request, enum pmi_name name, const char *service,
                             const char *port);
void spawn_and_names_on_spawn(struct spawn_and_names *requests, const struct launch_task *task,
                              struct pmi_request *request, const struct spawn_request *spawn);
void spawn_and_names_on_value(struct spawn_and_names *requests, const struct launch_task *task,
                              struct pmi_request *request, const char *key);
/* By PMIx, of this rank of the group: pmix_job_spawned() with this token follows. */
void spawn_and_names_on_pmix_spawn(struct spawn_and_names *requests, uint32_t rank, uint64_t token,
                                   const struct spawn_request *spawn);
/* Some task has asked something. */
bool spawn_and_names_were_any(const struct spawn_and_names *requests);
/* FRAME_ANSWER to a request of this group. */
void spawn_and_names_on_answer(struct spawn_and_names *requests, const struct frame *frame);

#endif
