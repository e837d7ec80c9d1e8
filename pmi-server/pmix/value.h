/*
 * value - what a task gave a key: as a number, and as bytes on its way to other hosts.
 */
#ifndef PMI_SERVER_PMIX_VALUE_H
#define PMI_SERVER_PMIX_VALUE_H

#include "base/buf.h"
#include "pmi-server/hub/packet.h"
#include "pmi-server/pmix/library.h"

/* Of any type of number, or a truth; false: it is none. */
bool value_number(const pmix_value_t *value, int64_t *number);

/* Whether it is a text (u8), and bytes: the text, or as openpmix packs it. Any thread. */
pmix_status_t value_put(struct buf *out, const pmix_value_t *value,
                        const struct pmix_library *library);
/* Zeroed where it fails; else value_destruct() is the caller's. */
pmix_status_t value_get(struct packet *in, pmix_value_t *value, const struct pmix_library *library);

#endif
