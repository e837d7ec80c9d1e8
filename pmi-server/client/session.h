/*
 * session - what libpmi knows of its process: the connection, or the space of a singleton.
 *
 * There is one. It is behind a mutex: session_enter() takes it, session_leave() gives it back.
 */
#ifndef PMI_SERVER_CLIENT_SESSION_H
#define PMI_SERVER_CLIENT_SESSION_H

#include <stdbool.h>

#include "pmi-server/client/connection_line.h"
#include "pmi-server/client/pairs.h"

struct session {
    enum session_state { SESSION_NONE, SESSION_SINGLE, SESSION_WIRE, SESSION_ENDED } state;
    int rank, size;
    int spawned;
    int name_max, key_max, value_max; /* with the NUL */
    char *name;                       /* of the key-value space */
    struct connection conn;
    struct pmi1_line reply; /* the last one; points into conn */
    struct pair *pairs;     /* of a singleton */
};

extern struct session pmi_session;

/* Lock, whatever the state; false when `wait` is not set and another thread is inside. */
bool session_lock(bool wait);
/* Lock; PMI_SUCCESS, or PMI_ERR_INIT with nothing locked. */
int session_enter(void);
/* The same for what only a launcher can do: PMI_FAIL in a singleton. */
int session_enter_wire(void);
/* Unlock; returns rc. */
int session_leave(int rc);

/* These are for whoever is inside; PMI_ codes are returned. */
int session_start(void); /* as the environment says (PMI_FD, ...), if it has not been started */
int session_end(void);
/* connection_line_ask(), and the reply says success. Not in a singleton. */
int session_ask(const char *expect);

int session_put(const char *key, const char *value);
/* *value is borrowed until the next request. */
int session_get(const char *key, const char **value);

#endif
