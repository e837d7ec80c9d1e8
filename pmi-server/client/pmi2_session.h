/*
 * pmi2_session - the session (session.h) as libpmi2 has it.
 */
#ifndef PMI_SERVER_CLIENT_PMI2_SESSION_H
#define PMI_SERVER_CLIENT_PMI2_SESSION_H

#include "pmi-server/client/connection_frame.h"
#include "pmi-server/client/session.h"

struct pmi2_session {
    int appnum;
    struct pmi2_frame reply; /* the last one; points into the connection */
    struct pair *attributes; /* of a singleton */
};

extern struct pmi2_session pmi2_session;
extern const struct session_protocol pmi2_protocol;

/* session_enter_wire(), and a request of that name has been begun. */
int pmi2_enter_wire(const char *command);

/* These are for whoever is inside; PMI2_ codes are returned. */
void pmi2_begin(const char *command);
/* connection_frame_ask(), and the reply says success: rc= is 0, or absent. */
int pmi2_ask(void);

/* As much of a text as fits, with its NUL; the length of the whole. */
int copy_text(char *to, int room, const char *from);

#endif
