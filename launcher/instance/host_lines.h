/*
 * host_lines - lines about hosts, "HOST: TEXT": hosts of one text share a line, as a hostlist.
 *
 * Two texts that differ only in the host, which each names at the same place, are the same. Lines
 * are in the order of their first hosts. Memory and time are linear in what is added.
 */
#ifndef LAUNCHER_INSTANCE_HOST_LINES_H
#define LAUNCHER_INSTANCE_HOST_LINES_H

#include <stddef.h>

#include "base/buf.h"

struct host_lines;

struct host_lines *host_lines_new(void);
void host_lines_free(struct host_lines *lines); /* NULL is fine */

/* Both texts are copied. `elapsed` (s) is how long it took: the line ends in the longest of its
 * hosts. Below 0: it is not told. */
void host_lines_add(struct host_lines *lines, const char *host, const char *text, double elapsed);
size_t host_lines_count(const struct host_lines *lines); /* of lines */
/* One line, without its end; caller frees. */
char *host_lines_nth(const struct host_lines *lines, size_t index);

#endif
