/*
 * mpiexec_table - the options of other launchers, and what they are here.
 */
#ifndef LAUNCHER_MPIEXEC_MPIEXEC_TABLE_H
#define LAUNCHER_MPIEXEC_MPIEXEC_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "launcher/mpiexec/mpiexec.h"

struct mpiexec; /* a command line while it is translated */

enum mpiexec_place {
    MPIEXEC_WHOLE, /* native words of the whole program, */
    MPIEXEC_PART,  /* of the part, */
    MPIEXEC_SET,   /* of the part, variables */
    MPIEXEC_EVERY, /* of every part, variables */
    MPIEXEC_READ,  /* read() sees to it */
    MPIEXEC_IDLE,  /* taken; nothing has to be done for it */
    MPIEXEC_NONE   /* refused */
};

struct mpiexec_option {
    const char *names; /* without dashes, blanks between */
    /* Names of its values, blanks between; NULL: none. In brackets: one that may be left out, and
     * is attached. */
    const char *arguments;
    enum mpiexec_dialect dialect; /* whose it is; EITHER: both have it, and mean the same */
    enum mpiexec_place place;
    /* The native words, {} for a value, blanks between; of READ and IDLE what it comes to, of NONE
     * what to write instead. */
    const char *native;
    /* `values` are as many as the arguments. The sentence is about the value only. */
    int (*read)(struct mpiexec *mpiexec, const char *const *values, struct error *err);
    bool
        shared; /* tprun has an option of this name, too: it does not tell whose dialect is meant */
};

#define MPIEXEC_MAX_VALUES 2

extern const struct mpiexec_option mpiexec_table[]; /* ends at a row without names */

/* By name, without dashes; NULL when there is none. For EITHER a name that means two things is Open
 * MPI's. Case does not matter in MPICH's names. */
const struct mpiexec_option *mpiexec_find(const char *name, size_t len,
                                          enum mpiexec_dialect dialect);
size_t mpiexec_nvalues(const struct mpiexec_option *option); /* that have to be there */
bool mpiexec_takes_value(const struct mpiexec_option *option);

#endif
