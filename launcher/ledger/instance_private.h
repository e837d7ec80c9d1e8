/*
 * instance_private - an instance, for the files of the ledger.
 */
#ifndef LAUNCHER_LEDGER_INSTANCE_PRIVATE_H
#define LAUNCHER_LEDGER_INSTANCE_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>

#include "affinity/sets/idset.h"
#include "launcher/ledger/instance_directory.h"

#define LEDGER_RECALL 64
#define LEDGER_ID 16 /* letters of an instance's id */

struct instance {
    char *path;
    char id[LEDGER_ID + 1];
    int root;                /* of the directory of all instances; -1: of one on another path */
    int dir;                 /* of path */
    int programs;            /* of path/programs */
    int alive;               /* of path/alive, for reading */
    struct idset *enclosing; /* numbers of programs this process is a task of; NULL: none */
    char *within;            /* the same as claims have it; NULL: none */
    struct idset *gone;      /* numbers of programs that were seen to be gone: they stay so */
    size_t looks;            /* at claims: which rows' programs are asked after depends on it */
    double patience;         /* seconds for a lock; 0: the default */
    size_t completed_size;   /* completed.h: bytes when this process appended to them; 0: not yet */
    bool completed_due;      /* it is time to move them, */
    bool completed_presses;  /* and high time */
    bool busy;               /* the last lock was not to be had in that time */
    size_t locks;
    double longest;            /* seconds that a lock was held */
    float held[LEDGER_RECALL]; /* of the last locks, by their number modulo this */
};

/* The programs that this process is a task of, as claims have them; "-": none. */
const char *instance_within(const struct instance *instance);

#endif
