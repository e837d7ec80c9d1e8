/*
 * client_connections - which of openpmix's connections is whose, until openpmix reads its end.
 *
 * openpmix reads the greeting of a connection and calls client_connected2() of the host in one go,
 * in its thread: so the connection is the one whose greeting was read last. A client may have
 * several, its children too.
 */
#ifndef PMI_SERVER_PMIX_CLIENT_CONNECTIONS_H
#define PMI_SERVER_PMIX_CLIENT_CONNECTIONS_H

#include <stdbool.h>

struct client; /* namespace_private.h */
struct pmix_job;

/* From now on openpmix reads the end of a client's connection when this says so, in openpmix's
 * thread, and then has counted it down. It is asked again and again until then. */
void client_connections_ask(bool (*may_end_be_read)(struct client *client));

/* openpmix's thread, in client_connected2(). */
void client_connections_opened(struct client *client);

/* struct pmix_feature: the job's clients are named no more. */
void client_connections_free(struct pmix_job *job);

#endif
