/*
 * spawn_request - what a task asks to be started, in no dialect, and what became of it.
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

struct spawn_request_block { /* one executable; its place in the list is its tasks' appnum */
    uint32_t maxprocs;       /* at least 1 */
    char **argv;             /* argv[0] the program, NULL at the end */
    size_t argc;
    struct pmi_pairs infos; /* wdir, host, ...: the owner takes what it knows */
};

struct spawn_request {
    struct spawn_request_block *blocks;
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

struct spawn_request *spawn_request_new(void);
void spawn_request_free(struct spawn_request *spawn);
uint64_t spawn_request_procs(const struct spawn_request *spawn);

/* For dialects, piece by piece; texts are copied. An argument or an info belongs to the last
 * block. */
struct spawn_request_block *spawn_request_add(struct spawn_request *spawn, const char *program);
void spawn_request_arg(struct spawn_request *spawn, const char *text);
void pmi_pairs_add(struct pmi_pairs *pairs, const char *key, const char *value);
/* The value of the first pair with that key, or NULL. */
const char *pmi_pairs_value(const struct pmi_pairs *pairs, const char *key);

#endif
