/*
 * kept_agents - agents that stay on their hosts between runs (--keep-agents), and how runs find
 * them.
 *
 * A program without tasks has them: its manager is agent_keeper.h's. A run is lent agents of its
 * own by these (agent_broker.h), and is a run like any other: its manager, its claims and its files
 * are its own, and what is kept holds no core.
 *
 * They are found by a socket in the directory "agents" beside the instances, which only its user
 * may enter. Its name is a hash of what has to be the same: the hosts as they are named, the batch
 * job, how hosts are reached, and the very file of this program. A run of another version, or after
 * an update, so finds none, and keeps its own.
 */
#ifndef LAUNCHER_CLI_KEPT_AGENTS_H
#define LAUNCHER_CLI_KEPT_AGENTS_H

#include <stdbool.h>
#include <sys/stat.h>

#include "base/error.h"
#include "launcher/spec/spec.h"

/* Whether this run asks for it and may reach a host over a connection. Runs of tasks do not: they
 * end with these. Nor does a run that may outlive the login: what is kept does not. */
bool kept_agents_are_wanted(const struct spec *spec);
/* Where a run with this spec is lent agents: a descriptor (agent_broker.h); 0: none are kept for
 * it; -1 with a sentence. */
int kept_agents_connect(const struct spec *spec, struct error *err);

/* ---- to keep some ---- */

/* The program that keeps agents for runs with this spec. Caller frees. */
struct spec *kept_agents_program(const struct spec *spec);

struct kept_agents_socket { /* the names are owned */
    char *directory, *name;
    struct stat file; /* the file of that name */
};

/* Listen for runs with this spec. The descriptor; 0: another process listens already; -1 with a
 * sentence. The socket is to be cleared in each case. Sockets of processes that are gone are
 * removed. */
int kept_agents_listen(const struct spec *spec, struct kept_agents_socket *kept, struct error *err);
/* It is not found any more; another of that name stays. `kept` is a struct kept_agents_socket. */
void kept_agents_withdraw(void *kept);
void kept_agents_socket_clear(struct kept_agents_socket *kept);

#endif
