/*
 * context_record - the files of a program's context as one record of bytes, for completed.h:
 *
 *     tprun-context 1 ID LENGTH LENGTH LENGTH LENGTH\n   of spec.json, R.json, slots.json, events;
 *                                                        -: none
 *     the bytes of the files
 *     end ID\n
 *
 * A record that a crash or a full disk cut is passed over.
 */
#ifndef LAUNCHER_LEDGER_CONTEXT_RECORD_H
#define LAUNCHER_LEDGER_CONTEXT_RECORD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

#define CONTEXT_MAX (256u << 20) /* bytes of a file of a context */

enum { CONTEXT_SPEC, CONTEXT_R, CONTEXT_SLOTS, CONTEXT_EVENTS, CONTEXT_FILES };
extern const char *const context_file_names[CONTEXT_FILES];

struct completed_context { /* borrowed from the bytes that it was read from */
    char id[24];
    const char *files[CONTEXT_FILES]; /* NULL: there is none */
    size_t lens[CONTEXT_FILES];
};

/* Append the record of the files in an open directory, whose program has this id, and of its
 * events, which were read before. False: a file cannot be read. */
bool context_record_make(struct buf *out, const char *id, int dir, const struct buf *events);
/* Append a file of it: false with errno, also ENOENT. */
bool context_record_add_file(struct buf *out, int dir, const char *name);
/* The next record of the bytes from *at on, which goes behind it. False: there is none. */
bool context_record_next(const char *bytes, size_t len, size_t *at,
                         struct completed_context *context);

#endif
