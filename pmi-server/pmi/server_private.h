/*
 * server_private - what a client can do in its PMI server's barriers: for dialects. Owners see
 * server.h.
 */
#ifndef PMI_SERVER_PMI_SERVER_PRIVATE_H
#define PMI_SERVER_PMI_SERVER_PRIVATE_H

#include "pmi-server/pmi/server.h"

/* What has to wait: `blocks` makes what the client sends next wait for the answer. The tag is
 * copied and comes back with the reply; it may be NULL. */
/* Into the barrier of all; barrier_out answers. */
void server_enter(struct pmi_client *client, const char *tag, bool blocks);
/* Into the barrier of a group, and the client goes on; NULL, or a few words on why not. The reply's
 * tag is the group's. */
const char *server_enter_group(struct pmi_client *client, const char *name);
/* Into the ring of all; ring_out answers. */
void server_enter_ring(struct pmi_client *client, const char *left, const char *right,
                       const char *tag, bool blocks);
/* It will enter none any more. */
void server_finalize(struct pmi_client *client);

#endif
