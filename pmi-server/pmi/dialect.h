/*
 * dialect - one way to speak PMI: a room that turns text into what connection.h offers, and back.
 *
 * A client begins with the first of its server's dialects, and goes over to another with
 * connection_speak(). Not for owners of a server, who see server.h and the dialects' names.
 */
#ifndef PMI_SERVER_PMI_DIALECT_H
#define PMI_SERVER_PMI_DIALECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "pmi-server/pmi/server.h"

struct pmi_client;
struct pmi_request;
struct pmi_spawned;

struct dialect {
    int version;
    /* The length of the next whole request in the client's input, its end included, and whether it
     * may overtake what the client waits for. 0: not all there. -1 with a sentence. */
    long (*next)(struct pmi_client *client, bool *urgent, struct error *err);
    /* Answer that request: `text` is the start of the input and may be written over. -1 with a
     * sentence on a protocol error. */
    int (*run)(struct pmi_client *client, char *text, size_t len, struct error *err);
    /* The replies to what had to wait; those to what a dialect cannot ask for are NULL. */
    void (*barrier_out)(struct pmi_client *client, const struct pmi_request *request);
    void (*attribute)(struct pmi_client *client, const struct pmi_request *request,
                      const char *value);
    void (*ring_out)(struct pmi_client *client, const struct pmi_request *request, uint32_t place,
                     const char *left, const char *right);
    void (*named)(struct pmi_client *client, const struct pmi_request *request,
                  enum pmi_named named, const char *port);
    void (*spawned)(struct pmi_client *client, const struct pmi_request *request,
                    const struct pmi_spawned *spawned);
    void (*value)(struct pmi_client *client, const struct pmi_request *request, const char *value);
    void (*forget)(struct pmi_client *client); /* client->memory */
};

#endif
