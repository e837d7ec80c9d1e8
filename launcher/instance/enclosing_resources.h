/*
 * enclosing_resources - what a run may use that is a task of another program: what that program
 * holds, and nothing else.
 */
#ifndef LAUNCHER_INSTANCE_ENCLOSING_RESOURCES_H
#define LAUNCHER_INSTANCE_ENCLOSING_RESOURCES_H

#include "base/error.h"
#include "launcher/ledger/instance_directory.h"
#include "launcher/source/enclosing_program.h"

struct enclosing_resources { /* all NULL: this run is no task of a program */
    /* Programs of the run's instance that it is a task of (idset text), borrowed from the
     * environment. NULL: they are of an instance that is not on this host. */
    const char *programs;
    struct enclosing_program *program; /* the innermost of them; its instance was handed on */
    char *name;   /* "program 17, which this run is a task of,": for messages */
    char *family; /* id of this instance and, after a colon, of the outermost; NULL: they are one */
};

/* Look for that program by the environment. *instance becomes its instance, or one for its tasks on
 * this host where its own is on another; it stays as it is where this run is no task of a program.
 * 0, or -1 with a sentence; *outer is to be cleared in any case. */
int enclosing_resources_open(struct enclosing_resources *outer, struct instance **instance,
                             struct error *err);
void enclosing_resources_clear(struct enclosing_resources *outer);

#endif
