/* What the files of the ledger share, and nobody else. */
#ifndef LAUNCHER_LEDGER_LEDGER_PRIVATE_H
#define LAUNCHER_LEDGER_LEDGER_PRIVATE_H

#include <stdbool.h>
#include <stdint.h>

#include "launcher/ledger/claims_table.h"
#include "launcher/ledger/ledger.h"

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
    double patience;         /* seconds for a lock; 0: the default */
    bool busy;               /* the last lock was not to be had in that time */
    size_t locks;
    double longest;            /* seconds that a lock was held */
    float held[LEDGER_RECALL]; /* of the last locks, by their number modulo this */
};

struct ledger_entry {
    struct instance *instance;
    uint64_t number;
    char id[24];
    char *path;
    char *name;
    int dir;
    int alive; /* the open file description that has locked byte `number` of `alive` */
};

enum { LEDGER_NUMBER = 24 }; /* room for a program's number as text */

/* instance_lock.c. The instance's lock, or another of its files that serves as one. */
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

/* claims_file.c: the claims, and who lives. */
#define LEDGER_TRIES 10 /* without the lock before it is taken for all of a change */

/* A change of the claims. The claims are read and changed without the lock, which is taken to see
 * that they are as they were, and to write them: those are microseconds. Where others are quicker
 * again and again all is done under the lock. */
struct ledger_change {
    struct instance *instance;
    bool locked; /* from the beginning */
    struct ledger_lock lock;
    uint64_t generation; /* of what was read */
    struct claims *claims;
};
/* The claims as they are now, without a lock; NULL with a sentence. Caller frees. */
struct claims *ledger_read(struct instance *instance, struct error *err);
/* Read what can be changed then; ledger_end() in any case, once ledger_begin() gave 0. The tries
 * that were in vain so far say how. */
int ledger_begin(struct instance *instance, int tries, struct ledger_change *change,
                 struct error *err);
/* 0; 1: others changed them meanwhile, begin anew; -1 with a sentence. */
int ledger_commit(struct ledger_change *change, struct error *err);
void ledger_end(struct ledger_change *change);

bool ledger_is_alive(struct instance *instance, uint64_t number);
/* The program of this row is alive, and has or waits for something; programs that this process is a
 * task of do not count. What is gone is cleared away. */
bool ledger_counts(struct instance *instance, const struct claims_row *row);
/* ledger_entry.c: waiters that watch the instance look again. */
void entry_poke(struct ledger_entry *entry);
/* claim.c: "cores 0-3", "GPU 2", "core 1 and GPUs 0-1". Takes the sets; caller frees. */
char *ledger_name_common(const struct rset_children *common);
/* What this row has or waits for is not for the program. */
bool entry_yields(const struct ledger_entry *entry, const struct claims_row *row);
/* Its row is that from now on; 1 where the probe (NULL: nobody is asked) meets others. */
int entry_put(struct ledger_entry *entry, enum claims_state state, const struct rset *set,
              const struct claims_probe *probe, struct error *err);
/* context_directory.c. A program's directory, made or taken from those that are over: 0, or -1 with
 * errno. Removed, which is no failure where it is not there; and what others did not finish. */
int ledger_make_context(struct instance *instance, const char *id);
void ledger_remove_context(struct instance *instance, const char *id);
void ledger_tidy_contexts(struct instance *instance);

/* Remove what a program that is gone left. */
void ledger_bury(struct instance *instance, uint64_t number);
uint64_t ledger_hash(const char *text);
const char *ledger_within(const struct instance *instance);
uint64_t ledger_now(void); /* seconds since the epoch */

#endif
