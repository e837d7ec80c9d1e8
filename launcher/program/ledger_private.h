/* What the files of the ledger share, and nobody else. */
#ifndef LAUNCHER_PROGRAM_LEDGER_PRIVATE_H
#define LAUNCHER_PROGRAM_LEDGER_PRIVATE_H

#include <stdint.h>

#include "launcher/program/ledger.h"

struct instance {
    char *path;
    int dir;                 /* of path */
    int programs;            /* of path/programs */
    struct idset *enclosing; /* numbers of programs this process is a task of; NULL: none */
};

struct ledger_live { /* numbers of the live programs, ascending */
    uint64_t *numbers;
    size_t count, room;
};

/* Wait for the instance's lock: a descriptor to close when done, or -1 with a sentence. It is
 * opened anew each time, so that no process forked meanwhile can keep it. */
int ledger_lock(struct instance *instance, struct error *err);

/* Under the lock: find the live programs and remove what others left. */
int ledger_sweep(struct instance *instance, struct ledger_live *live, struct error *err);

/* Under the lock: what a live program holds into *held; NULL there when it holds nothing. */
int ledger_read_claim(struct instance *instance, uint64_t number, struct rset **held,
                      struct error *err);

#endif
