/* What the files of the ledger share, and nobody else. */
#ifndef LAUNCHER_PROGRAM_LEDGER_PRIVATE_H
#define LAUNCHER_PROGRAM_LEDGER_PRIVATE_H

#include <stdbool.h>
#include <stdint.h>

#include "launcher/program/claims.h"
#include "launcher/program/ledger.h"

#define LEDGER_RECALL 64
#define LEDGER_ID 16 /* letters of an instance's id */

struct instance {
    char *path;
    char id[LEDGER_ID + 1];
    int dir;                 /* of path */
    int programs;            /* of path/programs */
    int alive;               /* of path/alive */
    struct idset *enclosing; /* numbers of programs this process is a task of; NULL: none */
    char *within;            /* the same as claims have it; NULL: none */
    struct idset *gone;      /* numbers of programs that were seen to be gone: they stay so */
    size_t locks;
    double longest;            /* seconds that a lock was held */
    float held[LEDGER_RECALL]; /* of the last locks, by their number modulo this */
};

struct program {
    struct instance *instance;
    uint64_t number;
    char id[24];
    char *path;
    char *name;
    int dir;
    int alive; /* the open file description that holds the lock on alive/<n> */
};

enum { LEDGER_NUMBER = 24 }; /* room for a program's number as text */

/* ledger_lock.c. The instance's lock, or another of its files that serves as one. */
struct ledger_lock {
    struct instance *instance;
    int fd;
    double since;
};
/* 0, or -1 with a sentence. It is opened anew each time, so that no process forked meanwhile can
 * keep it. */
int ledger_lock(struct instance *instance, const char *name, struct ledger_lock *lock,
                struct error *err);
void ledger_unlock(struct ledger_lock *lock);

/* ledger_book.c: the claims, and who lives. */
#define LEDGER_TRIES 10 /* without the lock before it is taken for all of a change */

/* A change of the claims. The claims are read, changed and written into a draft without the lock,
 * which is taken to see that they are as they were, and to put the draft in their place: those are
 * microseconds. Where others are quicker again and again all is done under the lock. */
struct ledger_change {
    struct instance *instance;
    bool locked; /* from the beginning */
    struct ledger_lock lock;
    int seen; /* the file that was read, open; -1: under the lock */
    struct claims *claims;
    const char *draft, *id; /* set by who begins it: to be renamed in alive/ along with it */
};
/* The claims as they are now, without a lock; NULL with a sentence. Caller frees. */
struct claims *ledger_read(struct instance *instance, struct error *err);
/* Read what can be changed then; ledger_end() in any case, once ledger_begin() gave 0. The tries
 * that were in vain so far say how. */
int ledger_begin(struct instance *instance, int tries, struct ledger_change *change,
                 struct error *err);
/* 0; 1: others changed them meanwhile, begin anew; -1 with a sentence. */
int ledger_commit(struct ledger_change *change, struct error *err);
/* Remove drafts of runs that were killed. */
void ledger_tidy(struct instance *instance);
void ledger_end(struct ledger_change *change);

bool ledger_is_alive(struct instance *instance, uint64_t number);
/* The program of this row is alive, and has or waits for something; programs that this process is a
 * task of do not count. What is gone is cleared away. */
bool ledger_counts(struct instance *instance, const struct claims_row *row);
/* ledger.c: "cores 0-3", "GPU 2", "core 1 and GPUs 0-1". Takes the sets; caller frees. */
char *ledger_name_common(const struct rset_children *common);
/* What this row has or waits for is not for the program. */
bool program_yields(const struct program *program, const struct claims_row *row);
/* Its row is that from now on; 1 where the probe (NULL: nobody is asked) meets others. */
int program_put(struct program *program, enum claims_state state, const struct rset *set,
                const struct claims_probe *probe, struct error *err);
/* Remove what a program that is gone left. */
void ledger_bury(struct instance *instance, uint64_t number);
const char *ledger_within(const struct instance *instance);
uint64_t ledger_now(void); /* seconds since the epoch */

#endif
