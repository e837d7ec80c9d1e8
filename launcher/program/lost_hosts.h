/*
 * lost_hosts - hosts whose agents are gone, and which no task of the program needs: each is asked
 * for another agent from time to time, until it has one.
 *
 * For the manager of an instance: programs in it are placed on other hosts meanwhile.
 */
#ifndef LAUNCHER_PROGRAM_LOST_HOSTS_H
#define LAUNCHER_PROGRAM_LOST_HOSTS_H

#include <ev.h>
#include <stdbool.h>

#include "affinity/sets/idset.h"
#include "launcher/instance/agents.h"

struct lost_hosts;

struct lost_hosts *lost_hosts_new(struct ev_loop *loop, struct agents *agents); /* borrowed */
void lost_hosts_free(struct lost_hosts *lost); /* NULL is fine, and so everywhere below */

void lost_hosts_add(struct lost_hosts *lost, const struct idset *hosts);
/* This one has an agent. Whether it was lost. */
bool lost_hosts_remove(struct lost_hosts *lost, uint32_t host);
void lost_hosts_stop(struct lost_hosts *lost); /* none is asked any more */

#endif
