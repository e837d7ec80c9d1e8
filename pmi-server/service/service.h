/*
 * service - what a program as a whole does for its PMIx hosts: what concerns tasks of several
 * nodes, or of several jobs.
 *
 * There is one for a program, where the messages of all its hosts come together. A host
 * (pmix/server.h) asks, by a message of its own, and is answered, at once or when others have asked
 * too; the service may also order something of a host. It knows nothing of openpmix, and nothing of
 * links: whoever owns it carries its messages. Messages come from other machines: what is malformed
 * is refused.
 *
 * What tasks write is told by iof.h, and published names are shared with other programs by
 * name_store.h and publish_lookup.h.
 */
#ifndef PMI_SERVER_SERVICE_SERVICE_H
#define PMI_SERVER_SERVICE_SERVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "affinity/sets/idset.h"
#include "base/error.h"
#include "pmi-server/protocol/namespace.h"

struct pmi_service;

struct pmi_service_ops {
    /* To the host of this node; pmix_server_told() there. A node without a host hears nothing. */
    void (*tell)(void *arg, uint32_t node, const void *bytes, size_t len);
    void (*facts)(void *arg, struct program_facts *facts); /* or NULL: nothing is known */
};

struct pmi_service *pmi_service_new(const struct pmi_service_ops *ops,
                                    void *arg); /* ops and arg are borrowed */
void pmi_service_free(struct pmi_service *service);

void pmi_service_add(struct pmi_service *service,
                     const struct namespace_facts *job);                /* its name is no other's */
void pmi_service_remove(struct pmi_service *service, const char *name); /* all its tasks are over */
/* A task is over before its job is; who waits for it is told. */
void pmi_service_ended(struct pmi_service *service, const char *name, uint32_t rank);
/* These nodes, and with them their tasks, and so the program; the others' hosts hear of it. */
void pmi_service_lost(struct pmi_service *service, const struct idset *nodes);

/* A host's message, of this node. -1 with a sentence: it is malformed, and its sender is broken. */
int pmi_service_take(struct pmi_service *service, uint32_t node, const void *bytes, size_t len,
                     struct error *err);

#endif
