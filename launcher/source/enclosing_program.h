/*
 * enclosing_program - the program that this process is a task of, and what it holds.
 *
 * A task's environment names its program and the program's instance (tprun(1), ENVIRONMENT).
 */
#ifndef LAUNCHER_SOURCE_ENCLOSING_PROGRAM_H
#define LAUNCHER_SOURCE_ENCLOSING_PROGRAM_H

#include <stdbool.h>

#include "affinity/resource/rset.h"
#include "base/error.h"
#include "launcher/ledger/instance_directory.h"
#include "launcher/source/batch_system.h"

struct enclosing_program { /* texts are borrowed from the environment */
    const char *id;        /* "17" */
    const char *programs;  /* it and those that it runs in, as an idset */
    const char *path;      /* of its instance */
    const char *instance_id;
    struct instance *instance; /* NULL: it is on another host, or was
                                * handed on */
    struct rset *R; /* what it holds; of this machine only where the instance is not here. NULL:
                       * it was taken */
    bool was_read_ahead; /* R is enclosing_program_read_ahead()'s: it must not be changed */
};

/* NULL without a sentence: this process is no task. NULL with one: what its program holds is not
 * known here. */
struct enclosing_program *enclosing_program_open(struct error *err);
void enclosing_program_free(
    struct enclosing_program *program); /* NULL is fine; also the instance */
/* The same, and R is kept: where this process or one that is forked later is a task of the same
 * program, and that holds the same, enclosing_program_open() does not read it again. What was kept
 * of another program before is freed. NULL: this process is no task, or its instance is not here. */
struct enclosing_program *enclosing_program_read_ahead(void);

/* What it holds, with its properties and topology; ranks are counted anew from 0. Its R, which must
 * be there, goes into the list. Never NULL. `program` may be NULL, where nothing is known of it: then
 * the list is this machine. */
struct node_list *enclosing_program_take_nodes(struct enclosing_program *program);
/* The same as a row among the sources of nodes (batch_system.h). */
struct node_list *enclosing_program_nodes(const struct batch_system *source, double now,
                                          struct error *err);
char *enclosing_program_identity(const struct batch_system *source);

#endif
