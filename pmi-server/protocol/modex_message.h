/*
 * modex_message - what hosts of openpmix post to each other: a question for what a task has put,
 * and its answer. Untrusted: it comes from another process. (Nothing here needs openpmix.)
 *
 * A kind (u8) and the asker's number for the question (u64), then of a question the rank (u32), how
 * long the key is waited for (u32, ms) and the key (text, "": any), of an answer a status (u32)
 * and the bytes that openpmix made. The fields are pack.h's.
 */
#ifndef PMI_SERVER_PROTOCOL_MODEX_MESSAGE_H
#define PMI_SERVER_PROTOCOL_MODEX_MESSAGE_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum modex_message_kind { MODEX_MESSAGE_ASK = 'A', MODEX_MESSAGE_ANSWER = 'R' };

#define MODEX_MESSAGE_KEY_MAX 511 /* PMIX_MAX_KEYLEN */

struct modex_message {
    enum modex_message_kind kind;
    uint64_t token;
    uint32_t rank, wait; /* a question's */
    char key[MODEX_MESSAGE_KEY_MAX + 1];
    int32_t status; /* an answer's */
    const void *bytes;
    size_t len;
};

void modex_message_write(struct buf *out, const struct modex_message *message);
/* 0, or -1: malformed. bytes are borrowed. */
int modex_message_read(struct modex_message *message, const void *bytes, size_t len);

#endif
