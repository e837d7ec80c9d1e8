/*
 * pmi_request - the requests of a server's clients that wait for their answer.
 */
#ifndef PMI_SERVER_PMI_PMI_REQUEST_H
#define PMI_SERVER_PMI_PMI_REQUEST_H

#include <stdbool.h>

#include "pmi-server/protocol/spawn_request.h"

struct pmi_client;
struct pmi_request; /* one that the owner answers: once, from inside the op or later */
struct pmi_server;

/* ---- for owners of a server ---- */

enum pmi_name { PMI_NAME_PUBLISH, PMI_NAME_UNPUBLISH, PMI_NAME_LOOKUP };
enum pmi_named { PMI_NAMED_NOT, PMI_NAMED_GOOD, PMI_NAMED_FULL }; /* full: too many are published */

/* The answers of the owner; the request ends with them. They may come when the client has gone, but
 * not after the server. A name is good if it was not published before, is there to take back, or is
 * found, with its port then. */
void pmi_request_named(struct pmi_request *request, enum pmi_named named, const char *port);
void pmi_request_spawned(struct pmi_request *request, const struct pmi_spawned *spawned);
void pmi_request_value(struct pmi_request *request, const char *value); /* NULL: there is none */
struct pmi_client *pmi_request_client(const struct pmi_request *request);

/* ---- for the server and its dialects ---- */

enum waits { WAITS_BARRIER, WAITS_ATTRIBUTE, WAITS_NAME, WAITS_SPAWN, WAITS_VALUE };

/* The client waits, and what it sends now with it if `blocks`. */
struct pmi_request *request_new(struct pmi_client *client, enum waits waits, const char *tag,
                                bool blocks);
/* It is answered: free it, and let the client go on (with connection_resume()). */
void request_done(struct pmi_request *request);
void requests_free(struct pmi_server *server);

/* What the owner answers; where it can't, the dialect refuses. */
bool owner_can_name(const struct pmi_client *client);
void owner_name(struct pmi_client *client, enum pmi_name name, const char *service,
                const char *port, const char *tag, bool blocks);
bool owner_can_spawn(const struct pmi_client *client);
void owner_spawn(struct pmi_client *client, const struct spawn_request *spawn, const char *tag,
                 bool blocks);
/* Whether the owner is to be asked for the value of that key, which nobody has put. `command` comes
 * back with the request; copied, like the key. */
bool owner_can_value(const struct pmi_client *client, const char *key);
void owner_value(struct pmi_client *client, const char *key, const char *command, const char *tag,
                 bool blocks);

#endif
