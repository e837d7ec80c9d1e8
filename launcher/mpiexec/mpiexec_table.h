/*
 * mpiexec_table - the options of other launchers, and what they are here.
 */
#ifndef LAUNCHER_MPIEXEC_MPIEXEC_TABLE_H
#define LAUNCHER_MPIEXEC_MPIEXEC_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
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
    /* The native word, {} for a value; what follows a blank is for --help only. Of READ and IDLE:
     * what the option does here; of NONE: what to write instead. */
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
/* Whether this is one of the names, which have blanks between them. */
bool mpiexec_names_have(const char *names, const char *name, size_t len, bool any_case);
size_t mpiexec_nvalues(const struct mpiexec_option *option); /* that have to be there */
bool mpiexec_takes_value(const struct mpiexec_option *option);
/* Append the text. Each {} in it becomes its value, or where there is none, or none that it can be,
 * the argument's name. `arguments` are as in a row; `values` may be NULL, and so may each of
 * them. */
void mpiexec_fill(struct buf *out, const char *text, const char *arguments,
                  const char *const values[MPIEXEC_MAX_VALUES]);

#endif
