/*
 * stage_source - the bytes of the files that a spec says are to be staged, as one stream
 * (stage_list.h).
 *
 * The files are open from the beginning: a file that is removed or replaced meanwhile is staged as
 * it was. One that is written to meanwhile is staged as it is when it is read; where it has become
 * shorter that is an error.
 *
 * Where they are on another host than the program's manager, a tprun in an instance sends them, and
 * the source is a file without a name in $TMPDIR, which is gone with the last process that has it.
 */
#ifndef LAUNCHER_PROTOCOL_STAGE_SOURCE_H
#define LAUNCHER_PROTOCOL_STAGE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "launcher/protocol/stage_list.h"

#define STAGE_CHUNK (64u << 10) /* bytes that are sent with one frame */

struct spec;
struct stage_source;

/* Of files of this host; without any it is empty. NULL with a sentence. */
struct stage_source *stage_source_open(const struct spec *spec, struct error *err);
/* Of files that come, as a list says, which is taken. NULL with a sentence. */
struct stage_source *stage_source_new(struct stage_list *list, struct error *err);
void stage_source_free(struct stage_source *source); /* NULL is fine */

const struct stage_list *stage_source_list(const struct stage_source *source);
bool stage_source_is_empty(const struct stage_source *source); /* no files; NULL is empty */

/* The next bytes of the stream from this place, of one file, at most so many. Their number, which
 * is 0 at the end of the stream; or -1 with a sentence. */
ssize_t stage_source_read(struct stage_source *source, uint64_t at, void *bytes, size_t len,
                          struct error *err);
/* Of one of stage_source_new(): the next bytes have come. 0, or -1 with a sentence. */
int stage_source_add(struct stage_source *source, const void *bytes, size_t len, struct error *err);

#endif
