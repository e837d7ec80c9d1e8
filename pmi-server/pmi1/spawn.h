/*
 * spawn - the one request of several lines (RFC 13, Spawn Operation).
 *
 *     mcmd=spawn NL name=value NL ... endcmd NL
 *
 * once for each of `totspawns` executables, back to back; one reply after the last. Values run to
 * the end of the line. What is wrong with a request is found here; nothing of it is kept yet.
 */
#ifndef PMI_SERVER_PMI1_SPAWN_H
#define PMI_SERVER_PMI1_SPAWN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

#define PMI1_SPAWN_NUMBERS 6 /* fields with a number of their own: nprocs, argcnt, ... */
#define PMI1_SPAWN_LISTS 5   /* numbered fields: arg1, preput_key_0, ... */

/* Zeroed: no request is open. */
struct pmi1_spawn {
    bool in_block; /* between mcmd=spawn and endcmd */
    int block;     /* blocks finished */
    int total;     /* totspawns, from the first block */
    bool has_execname;
    int numbers[PMI1_SPAWN_NUMBERS]; /* of this block; -1 absent */
    int counts[PMI1_SPAWN_LISTS];
};

/* A request is open: the next line belongs to it. */
bool pmi1_spawn_open(const struct pmi1_spawn *spawn);

/* A line, NUL-terminated, without its newline. 1 when it completes the request (spawn is as zeroed
 * then), 0 when more has to come, -1 with a sentence. */
int pmi1_spawn_line(struct pmi1_spawn *spawn, const char *text, struct error *err);

#endif
