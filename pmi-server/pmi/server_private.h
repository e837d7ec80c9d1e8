/*
 * server_private - what a PMI server's connections and dialects know of it: owners see server.h.
 */
#ifndef PMI_SERVER_PMI_SERVER_PRIVATE_H
#define PMI_SERVER_PMI_SERVER_PRIVATE_H

#include "pmi-server/pmi/server.h"

struct barrier;

/* What has to wait: `blocks` makes what the client sends next wait for the answer. The tag is copied
 * and comes back with the reply; it may be NULL. */
/* Into the barrier of all; barrier_out answers. */
void server_enter(struct pmi_client *client, const char *tag, bool blocks);
/* Into the barrier of a group, and the client goes on; NULL, or a few words on why not. The reply's
 * tag is the group's. */
const char *server_enter_group(struct pmi_client *client, const char *name);
/* Into the ring of all; ring_out answers. */
void server_enter_ring(struct pmi_client *client, const char *left, const char *right,
                       const char *tag, bool blocks);

/* All barriers of a server: *at begins as NULL, and is NULL after the last. */
struct barrier *server_next_barrier(const struct pmi_server *server, const struct barrier *at);
void server_tell_stuck(struct pmi_server *server); /* if it is, and nobody was told */
void server_resume(struct pmi_server *server);     /* whoever was let out of a wait */
bool server_has_left(const struct pmi_server *server, uint32_t rank);
void server_note_left(struct pmi_server *server, uint32_t rank);
/* A client's index in a barrier, whose member it is. */
size_t barrier_index(const struct barrier *barrier, const struct pmi_client *client);

#endif
