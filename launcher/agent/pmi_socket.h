/*
 * pmi_socket - PMI-1 and PMI-2 for the tasks of a group on this node: one server, and a socket for
 * each task.
 *
 * Ranks are ranks of the group.
 */
#ifndef LAUNCHER_AGENT_PMI_SOCKET_H
#define LAUNCHER_AGENT_PMI_SOCKET_H

#include <ev.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "launcher/agent/group_fence.h"
#include "launcher/agent/spawn_and_names.h"
#include "launcher/protocol/launch.h"
#include "pmi-server/pmi/server.h"

/* ---- the server of a group ---- */

struct pmi_sockets;

struct pmi_sockets_ops {
    void (*abort)(void *owner, uint32_t rank, int exitcode, const char *message);
    /* It broke the protocol. */
    void (*broken)(void *owner, uint32_t rank, const struct error *err);
    void (*limited)(void *owner, uint32_t rank, const char *what); /* for people */
    /* `waiting` waits in a barrier that `missing` will never enter. */
    void (*stuck)(void *owner, uint32_t missing, uint32_t waiting);
};

struct pmi_sockets_config { /* all borrowed */
    struct ev_loop *loop;
    const struct launch *launch;
    struct group_fence *fence;        /* rounds go there; pmi_sockets_exchanged() follows */
    struct spawn_and_names *requests; /* what tasks ask of their program goes there */
    const struct pmi_sockets_ops *ops;
    void *owner;
};

/* NULL where neither PMI is in `offered` (a set of enum spec_pmi), or no task is here. */
struct pmi_sockets *pmi_sockets_new(const struct pmi_sockets_config *config, unsigned offered);
void pmi_sockets_free(struct pmi_sockets *sockets); /* after its sockets; NULL is fine */
/* 0, or -1 with a sentence. */
int pmi_sockets_exchanged(struct pmi_sockets *sockets, uint64_t id, const void *bytes, size_t len,
                          struct error *err);
/* A rank of another node enters no barrier from this number on. */
void pmi_sockets_missing(struct pmi_sockets *sockets, uint32_t rank, uint64_t from);

/* ---- the socket of a task; NULL is fine everywhere, and a task that was offered none ---- */

struct pmi_socket;

struct pmi_socket *pmi_socket_open(struct pmi_sockets *sockets, const struct launch_task *what,
                                   int fd); /* takes the descriptor */
void pmi_socket_free(struct pmi_socket *socket);
/* Read what the task said before it ended. */
void pmi_socket_drain(struct pmi_socket *socket);
void pmi_socket_close(struct pmi_socket *socket);
/* The task has ended and its socket is closed: who waits for it in vain hears of it. */
void pmi_socket_gone(struct pmi_socket *socket);
enum pmi_state pmi_socket_state(const struct pmi_socket *socket);

#endif
