/*
 * pmi_request - the requests of a server's clients that wait for their answer.
 *
 * Not for owners of a server: these see server.h.
 */
#ifndef PMI_SERVER_PMI_PMI_REQUEST_H
#define PMI_SERVER_PMI_PMI_REQUEST_H

#include "pmi-server/pmi/connection.h"

/* The client waits, and what it sends now with it if `blocks`. */
struct pmi_request *request_new(struct pmi_client *client, enum waits waits, const char *tag,
                                bool blocks);
/* It is answered: free it, and let the client go on (with connection_resume()). */
void request_done(struct pmi_request *request);
void requests_free(struct pmi_server *server);

#endif
