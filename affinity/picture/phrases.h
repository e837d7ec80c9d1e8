/*
 * phrases - titles, and the words for what was asked for. Private to picture/.
 *
 * The caller frees what all but phrase_program() return.
 */
#ifndef AFFINITY_PICTURE_PHRASES_H
#define AFFINITY_PICTURE_PHRASES_H

#include "affinity/picture/node_groups.h"

/* "64 tasks on 4 of 8 nodes" */
char *phrase_title(const struct drawing *drawing);
/* "2 sockets, 8 NUMA domains, 32 cores, 64 hardware threads" */
char *phrase_machine(const struct topo *topo);
/* "by numa, each bound to a NUMA domain": what a part asked for. */
char *phrase_policy(const struct drawing *drawing, uint32_t part);
/* "8 tasks, ranks 0-7" */
char *phrase_ranks(const struct drawing *drawing, uint32_t node);
const char *phrase_program(const char *program); /* a part of it: the end of a long path */
/* "part 2, ./ocean: ranks 4-7" */
char *phrase_part(const struct drawing *drawing, uint32_t part);

#endif
