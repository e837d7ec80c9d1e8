/*
 * batch_system_private - a row of the table of sources, and what the rows share.
 */
#ifndef LAUNCHER_SOURCE_BATCH_SYSTEM_PRIVATE_H
#define LAUNCHER_SOURCE_BATCH_SYSTEM_PRIVATE_H

#include "launcher/source/batch_system.h"
#include "launcher/source/hostfile.h"

#define BATCH_SYSTEM_MAX_VARIABLES 2

struct batch_system {
    enum batch_system_kind kind;
    const char *name;
    const char
        *variables[BATCH_SYSTEM_MAX_VARIABLES]; /* one that is set says that it is there; none
                                                    named: it always is */
    bool (*is_there)(void);                     /* NULL: the variables tell */
    struct node_list *(*nodes)(const struct batch_system *source, double now, struct error *err);
    char *(*identity)(const struct batch_system *source);
};

/* The value of a variable of the environment; NULL where it is unset or empty. Borrowed. */
const char *batch_system_get(const char *variable);
/* This machine, under a name that is taken. */
struct node_list *batch_system_machine(char *name);

char *batch_identity(const struct batch_system *source); /* "Slurm job 17" */
/* NULL with a sentence: the job does not say where it runs, because `wanted` is not set. Its other
 * variables are stale, most likely. */
struct node_list *batch_refuse(const struct batch_system *source, const char *wanted,
                               struct error *err);
/* NULL with what is in err, which went wrong with `variable`, and what would do. */
struct node_list *batch_broken(const struct batch_system *source, const char *variable,
                               struct error *err);
/* The nodes of the file that `variable` gave; `cores`: its counts are cores. Takes the file; NULL
 * for it is batch_broken(). */
struct node_list *batch_nodes(const struct batch_system *source, struct hostfile *file,
                              const char *variable, bool cores, struct error *err);

#endif
