/*
 * hub - what a program as a whole does for its PMIx hosts: what concerns tasks of several nodes, or of
 * several jobs.
 *
 * There is one for a program, where the messages of all its hosts come together. A host (pmix/host.h)
 * asks, by a message of its own, and is answered, at once or when others have asked too; the hub may
 * also order something of a host. It knows nothing of openpmix, and nothing of links: whoever owns
 * it carries its messages. Messages come from other machines: what is malformed is refused.
 */
#ifndef PMI_SERVER_SERVICE_SERVICE_H
#define PMI_SERVER_SERVICE_SERVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "affinity/sets/idset.h"
#include "pmi-server/protocol/namespace.h"
#include "base/error.h"

struct hub;

struct hub_ops {
    /* To the host of this node; pmix_host_told() there. A node without a host hears nothing. */
    void (*tell)(void *arg, uint32_t node, const void *bytes, size_t len);
    void (*facts)(void *arg, struct hub_facts *facts); /* or NULL: nothing is known */
};

struct hub *hub_new(const struct hub_ops *ops, void *arg); /* ops and arg are borrowed */
void hub_free(struct hub *hub);

void hub_add(struct hub *hub, const struct hub_job *job); /* its name is no other's */
void hub_remove(struct hub *hub, const char *name);       /* all its tasks are over */
/* A task is over before its job is; who waits for it is told. */
void hub_ended(struct hub *hub, const char *name, uint32_t rank);
/* These nodes, and with them their tasks, and so the program; the others' hosts hear of it. */
void hub_lost(struct hub *hub, const struct idset *nodes);

/* A task of that job wrote something: hosts whose tools want it are told. One that is behind by
 * HUB_WINDOW bytes loses what comes, and is told how much. */
void hub_output(struct hub *hub, const char *job, uint32_t rank, enum hub_channel channel,
                const void *bytes, size_t len);
bool hub_is_pulled(const struct hub *hub); /* else nothing comes of it */

/* A host's message, of this node. -1 with a sentence: it is malformed, and its sender is broken. */
int hub_take(struct hub *hub, uint32_t node, const void *bytes, size_t len, struct error *err);

#endif
