/*
 * pmi1_spawn - the one request of several lines (RFC 13, Spawn Operation).
 *
 *     mcmd=spawn NL name=value NL ... endcmd NL
 *
 * once for each of `totspawns` executables, back to back; one reply after the last. Values run to
 * the end of the line: spaces, '=' and nothing at all are fine. Preputs stand in the first block,
 * or in each again.
 */
#ifndef PMI_SERVER_PMI_PMI1_SPAWN_H
#define PMI_SERVER_PMI_PMI1_SPAWN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "pmi-server/protocol/spawn_request.h"

#define PMI1_SPAWN_NUMBERS 6 /* fields with a number of their own: nprocs, argcnt, ... */
#define PMI1_SPAWN_LISTS 5   /* numbered fields: arg1, preput_key_0, ... */

#define PMI1_MAX_SPAWN (1 << 20) /* a request of more bytes is a protocol error */

/* Zeroed: no request is open. */
struct pmi1_spawn {
    struct spawn_request *built; /* what there is so far */
    size_t bytes;
    bool in_block;                   /* between mcmd=spawn and endcmd */
    int block;                       /* blocks finished */
    int total;                       /* totspawns, from the first block */
    int numbers[PMI1_SPAWN_NUMBERS]; /* of this block; -1 absent */
    struct pmi1_texts {
        char **list;
        int count;
    } texts[PMI1_SPAWN_LISTS]; /* of this block */
    char *execname;            /* of this block */
};

/* A request is open: the next line belongs to it. */
bool pmi1_spawn_open(const struct pmi1_spawn *spawn);

/* A line, NUL-terminated, without its newline. 1 when it completes the request: *built is the
 * caller's then, and spawn as zeroed. 0 when more has to come, -1 with a sentence. */
int pmi1_spawn_line(struct pmi1_spawn *spawn, const char *text, struct spawn_request **built,
                    struct error *err);
void pmi1_spawn_free(struct pmi1_spawn *spawn); /* what it holds; it is as zeroed then */

#endif
