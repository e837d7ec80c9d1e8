/*
 * session_pmi2 - what libpmi2 knows of its process: the connection, or the spaces of a singleton.
 *
 * There is one. It is behind a mutex: session_pmi2_enter() takes it, session_pmi2_leave() gives it back.
 */
#ifndef PMI_SERVER_CLIENT_SESSION_PMI2_H
#define PMI_SERVER_CLIENT_SESSION_PMI2_H

#include <stdbool.h>

#include "pmi-server/client/connection_frame.h"
#include "pmi-server/client/pairs.h"

struct session_pmi2 {
    enum session_pmi2_state {
        SESSION_PMI2_NONE,
        SESSION_PMI2_SINGLE,
        SESSION_PMI2_WIRE,
        SESSION_PMI2_ENDED
    } state;
    int rank, size, appnum;
    int spawned;
    struct connection conn;
    struct pmi2_frame reply;         /* the last one; points into conn */
    struct pair *pairs, *attributes; /* of a singleton */
};

extern struct session_pmi2 pmi2_session;

/* Lock, whatever the state; false when `wait` is not set and another thread is inside. */
bool session_pmi2_lock(bool wait);
/* Lock; PMI2_SUCCESS, or PMI2_ERR_INIT with nothing locked. */
int session_pmi2_enter(void);
/* The same for what only a launcher can do: PMI2_FAIL in a singleton. On success a request of that
 * name has been begun. */
int session_pmi2_enter_wire(const char *command);
/* Unlock; returns rc. */
int session_pmi2_leave(int rc);

/* These are for whoever is inside; PMI2_ codes are returned. */
int session_pmi2_start(
    void); /* as the environment says (PMI_FD, ...), if it has not been started */
int session_pmi2_end(void);
void session_pmi2_begin(const char *command);
/* connection_frame_ask(), and the reply says success: rc= is 0, or absent. */
int session_pmi2_ask(void);

/* As much of a text as fits, with its NUL; the length of the whole. */
int copy_text(char *to, int room, const char *from);

#endif
