/*
 * stage_writer - files that come as one stream (stage_list.h), written into a directory of a node
 * and checked.
 *
 * Room for all of them is taken before the first byte comes, so that a full disk is known then. A
 * file has its mode once all of it is there and its checksum is right. If not all of them come to
 * that, or they are not kept then, none is left, and the room is given back.
 */
#ifndef LAUNCHER_AGENT_STAGE_WRITER_H
#define LAUNCHER_AGENT_STAGE_WRITER_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "launcher/protocol/stage_list.h"

struct stage_writer;

/* The list is borrowed, the directory is there. NULL with a sentence. */
struct stage_writer *stage_writer_new(const struct stage_list *list, const char *directory,
                                      struct error *err);
void stage_writer_free(struct stage_writer *writer); /* see above; NULL is fine */
/* The next bytes. 0, or -1 with a sentence. */
int stage_writer_add(struct stage_writer *writer, const void *bytes, size_t len, struct error *err);
/* All have come, and these are their sums, [list->count]. 0, or -1 with a sentence. */
int stage_writer_end(struct stage_writer *writer, const uint64_t *sums, struct error *err);
void stage_writer_keep(struct stage_writer *writer); /* frees it; the files stay */

/* Of a file in that directory; caller frees. Hooks have names that no file of --stage can have
 * there. */
char *stage_writer_path(const char *directory, const struct staged_file *file);

#endif
