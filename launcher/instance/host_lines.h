/*
 * host_lines - lines about hosts, "HOST: TEXT": hosts of one text share a line, as a hostlist.
 *
 * Texts are the same, too, where each names its own host at the same place. A line stands where its
 * first host was added. Memory and time are linear in what is added.
 */
#ifndef LAUNCHER_INSTANCE_HOST_LINES_H
#define LAUNCHER_INSTANCE_HOST_LINES_H

#include <stddef.h>

#include "base/buf.h"

struct host_lines;

struct host_lines *host_lines_new(void);
void host_lines_free(struct host_lines *lines); /* NULL is fine */

/* Both texts are copied. `elapsed`: seconds that it took, of which the longest is told behind the
 * text; below 0: not told. */
void host_lines_add(struct host_lines *lines, const char *host, const char *text, double elapsed);
size_t host_lines_count(const struct host_lines *lines); /* of lines */
/* One line, without its end; caller frees. */
char *host_lines_nth(const struct host_lines *lines, size_t index);

#endif
