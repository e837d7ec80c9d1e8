/*
 * agent_broker - how the manager of a program inside an instance, or of one that uses agents that
 * are kept, gets its own: it asks the manager that has an agent on each node already, and hands it
 * the far end of the new agent's link.
 *
 * The socket is of the kind SOCK_SEQPACKET, between two processes of one user on one machine.
 */
#ifndef LAUNCHER_TREE_AGENT_BROKER_H
#define LAUNCHER_TREE_AGENT_BROKER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

#define AGENT_BROKER_HOST_MAX 1024 /* bytes of a host's name */

/* Ask for an agent on this host, with this link. `pmix`: its program is likely to need a PMIx
 * server, and is no instance. Where no agent can be had a line is written to `words`, which says why.
 * The caller keeps `link` and `words`. */
int agent_broker_ask(int broker, const char *host, bool pmix, int link, int words,
                     struct error *err);

/* To who keeps agents: they are to be kept so many seconds after the last of those who asked so is
 * gone. */
int agent_broker_keep(int broker, double seconds, struct error *err);

struct agent_wish {
    char host[AGENT_BROKER_HOST_MAX + 1];
    bool pmix;
    int link, words; /* the taker's; -1: no agent is wished, but that they are kept */
    double keep;     /* for so long */
};

/* 1: a wish; 0: there is none now; -1: the other end is gone. */
int agent_broker_take(int broker, struct agent_wish *wish);

#endif
