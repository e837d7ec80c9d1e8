/*
 * spawn - what a task asks to be started, in no dialect, and what became of it.
 */
#ifndef PMI_SERVER_PROTOCOL_SPAWN_REQUEST_H
#define PMI_SERVER_PROTOCOL_SPAWN_REQUEST_H

#include <stddef.h>
#include <stdint.h>

struct pmi_pair {
    char *key, *value;
};

struct pmi_pairs {
    struct pmi_pair *list;
    size_t count;
};

struct pmi_spawn_block { /* one executable; its place in the list is its tasks' appnum */
    uint32_t maxprocs;   /* at least 1 */
    char **argv;         /* argv[0] the program, NULL at the end */
    size_t argc;
    struct pmi_pairs infos; /* wdir, host, ...: the owner takes what it knows */
};

struct pmi_spawn {
    struct pmi_spawn_block *blocks;
    size_t nblocks;
    struct pmi_pairs preputs; /* in the new group's key-value space from its beginning */
};

struct pmi_spawned {
    int rc;              /* 0: started */
    const char *why;     /* a few words where it was not; may be NULL */
    const char *job;     /* where it was: the name of the new group's key-value space */
    const int *errcodes; /* one for each task, 0 where it runs, and of those with a fault
                          * of their own what it was; may be NULL */
    size_t nerrcodes;
};

struct pmi_spawn *pmi_spawn_new(void);
void pmi_spawn_free(struct pmi_spawn *spawn);
uint64_t pmi_spawn_procs(const struct pmi_spawn *spawn);

/* For dialects, piece by piece; texts are copied. An argument or an info belongs to the last
 * block. */
struct pmi_spawn_block *pmi_spawn_add(struct pmi_spawn *spawn, const char *program);
void pmi_spawn_arg(struct pmi_spawn *spawn, const char *text);
void pmi_pairs_add(struct pmi_pairs *pairs, const char *key, const char *value);
/* The value of the first pair with that key, or NULL. */
const char *pmi_pairs_value(const struct pmi_pairs *pairs, const char *key);

#endif
