/*
 * agent_keeper - agents that are kept for runs that are not there yet: who comes is lent agents,
 * and once nobody has any for the time that was asked for it is over.
 *
 * Runs connect to a socket that they find by its name. Each is told by a byte that it is heard; one
 * that is not looks for other agents. A run is lent agents for as long as its manager keeps the
 * connection.
 */
#ifndef LAUNCHER_MANAGER_AGENT_KEEPER_H
#define LAUNCHER_MANAGER_AGENT_KEEPER_H

#include <ev.h>
#include <stdbool.h>
#include <stddef.h>

#include "launcher/manager/instance_host.h"

struct agent_keeper;

struct agent_keeper_config { /* all is borrowed but for the socket */
    struct ev_loop *loop;
    struct instance_host *host;
    int listener;
    void (*withdraw)(void *arg); /* runs do not find it any more */
    void *withdraw_arg;
    double seconds; /* that they are kept, until somebody says otherwise */
    /* Nobody is lent any agent until then (seconds of the epoch); 0: somebody is. */
    void (*idle)(void *owner, double until);
    void (*over)(void *owner); /* nobody came in time, or may come any more */
    void *owner;
};

struct agent_keeper *agent_keeper_new(const struct agent_keeper_config *config);
void agent_keeper_free(struct agent_keeper *keeper);   /* NULL is fine, and so everywhere below */
void agent_keeper_disown(struct agent_keeper *keeper); /* in a forked process */

/* All agents are there: who waited is served. */
void agent_keeper_open(struct agent_keeper *keeper);
/* As instance_host tells. */
void agent_keeper_used(struct agent_keeper *keeper, size_t managers, double keep);
/* An agent is lost: nobody comes in any more, and it is over with the last one that is there. */
void agent_keeper_retire(struct agent_keeper *keeper);
/* It ends: nobody comes in any more, and those that waited are sent away. */
void agent_keeper_shut(struct agent_keeper *keeper);

#endif
