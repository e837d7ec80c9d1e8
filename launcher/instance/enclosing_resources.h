/*
 * enclosing_resources - what this run may draw from where it is a task of another program: from
 * what that holds, and from nothing else.
 */
#ifndef LAUNCHER_INSTANCE_ENCLOSING_RESOURCES_H
#define LAUNCHER_INSTANCE_ENCLOSING_RESOURCES_H

#include "affinity/resource/rset.h"
#include "base/error.h"
#include "launcher/ledger/instance_directory.h"

struct enclosing_resources { /* all NULL: this run is a task of none */
    /* Those of its instance that it is a task of (idset text), borrowed from the environment. NULL:
     * they are of an instance that is not here. */
    const char *programs;
    struct rset *R; /* what the innermost of them holds: the most that there is */
    char *name;     /* "program 17, which this run is a task of,": for messages */
    char *family; /* id of this instance and, after a colon, of the outermost; NULL: they are one */
};

/* *instance is that of the program, or one of its own where that is on another host; it stays as it
 * is where there is no such program. -1 with a sentence, and with what is to be freed. */
int enclosing_resources_open(struct enclosing_resources *outer, struct instance **instance,
                             struct error *err);
void enclosing_resources_clear(struct enclosing_resources *outer);

#endif
