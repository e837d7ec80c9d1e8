/*
 * session - what a PMI client library knows of its process: the connection, or the pairs of a
 * singleton.
 *
 * There is one. It is behind a mutex: session_enter() takes it, session_leave() gives it back. What
 * PMI-1 and PMI-2 have of their own is in pmi1_session.h and pmi2_session.h.
 */
#ifndef PMI_SERVER_CLIENT_SESSION_H
#define PMI_SERVER_CLIENT_SESSION_H

#include <stdbool.h>

#include "pmi-server/client/connection.h"

/* As both APIs have them. */
enum {
    SESSION_SUCCESS = 0,
    SESSION_FAIL = -1,
    SESSION_ERR_INIT = 1,
    SESSION_ERR_INVALID_ARG = 3,
};

/* These return 0, or an error. */
struct session_protocol {
    int (*environment)(void); /* beside PMI_FD; NULL: nothing */
    int (*greet)(void);       /* the connection is open */
    int (*single)(void);      /* there is no launcher; NULL: nothing to do */
    int (*finalize)(void);
    void (*forget)(void); /* what the protocol has of its own */
};

struct session {
    enum session_state { SESSION_NONE, SESSION_SINGLE, SESSION_WIRE, SESSION_ENDED } state;
    int rank, size, spawned;
    struct connection conn;
    struct pair *pairs; /* of a singleton */
};

extern struct session session;

/* Lock, whatever the state; false when `wait` is not set and another thread is inside. */
bool session_lock(bool wait);
/* Lock; or SESSION_ERR_INIT with nothing locked. */
int session_enter(void);
/* The same for what only a launcher can do: SESSION_FAIL in a singleton. */
int session_enter_wire(void);
/* Unlock; returns rc. */
int session_leave(int rc);

/* Enters, copies one number of the session, and leaves. SESSION_ERR_INVALID_ARG: `to` is NULL. */
int session_number(int *to, const int *from);

/* These are for whoever is inside. */
/* As the environment says (PMI_FD, ...), if it has not been started. */
int session_start(const struct session_protocol *protocol);
int session_end(const struct session_protocol *protocol);

/* errcodes=0,1,... of a spawn's reply (NULL: there is none) for `count` tasks; what it does not say
 * is `rc`, the fate of the whole. */
void session_copy_spawn_errors(int errors[], int count, int rc, const char *text);

/* ---- pairs: the key-value space of a process that is alone ---- */

bool pairs_put(struct pair **pairs, const char *key, const char *value); /* false: no memory */
const char *pairs_get(const struct pair *pairs, const char *key);        /* borrowed; or NULL */
void pairs_free(struct pair **pairs);

#endif
