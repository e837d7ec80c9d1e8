/*
 * pmi1_session - the session (session.h) as libpmi has it.
 */
#ifndef PMI_SERVER_CLIENT_PMI1_SESSION_H
#define PMI_SERVER_CLIENT_PMI1_SESSION_H

#include "pmi-server/client/session.h"

struct pmi1_session {
    int name_max, key_max, value_max; /* with the NUL */
    char *name;                       /* of the key-value space */
    struct pmi1_line reply;           /* the last one; points into the connection */
};

extern struct pmi1_session pmi1_session;
extern const struct session_protocol pmi1_protocol;

/* These are for whoever is inside; PMI_ codes are returned. */
/* connection_line_ask(), and the reply says success. Not in a singleton. */
int pmi1_ask(const char *expect);
int pmi1_put(const char *key, const char *value);
/* *value is borrowed until the next request. */
int pmi1_get(const char *key, const char **value);

#endif
