/*
 * pmi_socket - PMI-1 and PMI-2 for the tasks of a group on this node: one server, and a socket for each task.
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
#include "launcher/protocol/launch.h"
#include "pmi-server/pmi/server.h"

/* ---- the server of a group ---- */

struct pmi_sockets;

struct pmi_sockets_ops {
    /* This node enters a round of `nnodes` nodes, 0: of all; pmi_sockets_exchanged() follows. */
    void (*exchange)(void *owner, uint64_t id, uint32_t nnodes, const void *bytes, size_t len);
    void (*abort)(void *owner, uint32_t rank, int exitcode, const char *message);
    /* It broke the protocol. */
    void (*broken)(void *owner, uint32_t rank, const struct error *err);
    void (*limited)(void *owner, uint32_t rank, const char *what); /* for people */
    /* `waiting` waits in a barrier that `missing` will never enter. */
    void (*stuck)(void *owner, uint32_t missing, uint32_t waiting);
    /* Other nodes have to know that this rank enters no barrier from this number on; flags of FRAME_MISSING. */
    void (*missing)(void *owner, uint32_t rank, uint64_t from, uint16_t flags);
    /* Requests, answered by pmi_request_named() and so on. */
    void (*name)(void *owner, struct pmi_request *request, enum pmi_name name, const char *service,
                 const char *port);
    void (*spawn)(void *owner, struct pmi_request *request, const struct spawn_request *spawn);
    void (*value)(void *owner, struct pmi_request *request, const char *key);
};

/* NULL where neither PMI is in `offered` (a set of enum spec_pmi), or no task is here. All are borrowed. */
struct pmi_sockets *pmi_sockets_new(struct ev_loop *loop, const struct launch *launch,
                                    unsigned offered, const struct pmi_sockets_ops *ops,
                                    void *owner);
void pmi_sockets_free(struct pmi_sockets *sockets); /* after its sockets; NULL is fine */
/* 0, or -1 with a sentence. */
int pmi_sockets_exchanged(struct pmi_sockets *sockets, uint64_t id, const void *bytes, size_t len,
                          struct error *err);
/* A rank of another node enters no barrier from this number on. */
void pmi_sockets_missing(struct pmi_sockets *sockets, uint32_t rank, uint64_t from);
/* The name of a group's key-value space; caller frees. */
char *pmi_sockets_kvsname(const struct launch *launch, uint32_t group);

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

/* Whose request it is. */
const struct launch_task *pmi_socket_task_of(const struct pmi_request *request);
/* Another user has written to its socket, for whom nothing is started. */
bool pmi_socket_is_foreign(const struct pmi_request *request);

#endif
