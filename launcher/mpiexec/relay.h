/*
 * relay - bytes that are passed on from one descriptor to another, several at a time.
 *
 * None waits for another: what its reader does not yet take is held, up to RELAY_HELD_MAX bytes,
 * and no more is read meanwhile.
 */
#ifndef LAUNCHER_MPIEXEC_RELAY_H
#define LAUNCHER_MPIEXEC_RELAY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

#define RELAY_HELD_MAX 65536
#define RELAYS_MAX 8 /* at a time */

enum relay_state {
    RELAY_OPEN,
    RELAY_DRY,  /* there is no more, and all of it has been passed on */
    RELAY_DEAF, /* nobody hears it any more */
};

/* A zeroed one with its descriptors set is open. What is held already goes first. */
struct relay {
    int from; /* -1 once it has ended */
    int to;
    bool alone; /* no other uses these descriptors: each is closed when it is done with */
    enum relay_state state;
    struct buf held;
};

/* Wait until some of them can go on, at most `patience` milliseconds (-1: for ever), and let them.
 * False where none could. SIGPIPE is ignored by the caller. */
bool relay_turn(struct relay *relays, size_t count, int patience);

#endif
