/*
 * source_build - a row of the table of sources, and what the rows share.
 */
#ifndef LAUNCHER_SOURCE_BATCH_SYSTEM_PRIVATE_H
#define LAUNCHER_SOURCE_BATCH_SYSTEM_PRIVATE_H

#include "launcher/source/batch_system.h"

#define SOURCE_MAX_VARIABLES 2

struct source {
    enum source_kind kind;
    const char *name;
    const char *variables[SOURCE_MAX_VARIABLES]; /* one that is set says that it is there; none
                                                    named: it always is */
    bool (*is_there)(void);                      /* NULL: the variables tell */
    struct nodes *(*nodes)(const struct source *source, double now, struct error *err);
    char *(*identity)(const struct source *source);
};

/* The value of a variable of the environment; NULL where it is unset or empty. Borrowed. */
const char *source_get(const char *variable);
/* This machine, under a name that is taken. */
struct nodes *source_machine(char *name);

struct nodes *enclosing_nodes(const struct source *source, double now, struct error *err);
char *enclosing_identity(const struct source *source);

char *batch_identity(const struct source *source); /* "Slurm job 17" */
struct nodes *slurm_nodes(const struct source *source, double now, struct error *err);
struct nodes *pbs_nodes(const struct source *source, double now, struct error *err);
struct nodes *lsf_nodes(const struct source *source, double now, struct error *err);
struct nodes *flux_nodes(const struct source *source, double now, struct error *err);
struct nodes *grid_engine_nodes(const struct source *source, double now, struct error *err);
char *grid_engine_identity(const struct source *source);
bool kubernetes_is_there(void);
struct nodes *kubernetes_nodes(const struct source *source, double now, struct error *err);
char *kubernetes_identity(const struct source *source);

#endif
