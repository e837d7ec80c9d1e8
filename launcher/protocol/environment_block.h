/*
 * environment_block - a message of JSON with an environment behind it.
 *
 * The JSON, a zero byte, and each NAME=VALUE with a zero byte behind it. Not as JSON: most of a
 * program's message is its environment, and bytes are taken as they are. JSON without a zero byte,
 * as other versions send it, has no environment.
 */
#ifndef LAUNCHER_PROTOCOL_ENVIRONMENT_BLOCK_H
#define LAUNCHER_PROTOCOL_ENVIRONMENT_BLOCK_H

#include <jansson.h>

#include "base/buf.h"
#include "base/error.h"
#include "launcher/tree/frame.h"

/* The whole message, into an empty buf. `environment` is NULL-terminated, or NULL. */
void environment_block_write(struct buf *message, const json_t *value, char *const *environment);

/* The JSON as a new reference; *environment, never NULL then, is freed with string_list_free().
 * NULL with a sentence. */
json_t *environment_block_read(const struct frame *frame, char ***environment, struct error *err);

#endif
