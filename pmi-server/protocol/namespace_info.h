/*
 * namespace_info - a job, as hosts are told of it.
 */
#ifndef PMI_SERVER_PROTOCOL_NAMESPACE_INFO_H
#define PMI_SERVER_PROTOCOL_NAMESPACE_INFO_H

#include "base/pack.h"
#include "pmi-server/protocol/namespace.h"

struct namespace_info { /* a struct namespace_facts, without `node`, that owns what it points to */
    struct namespace_facts job;
};

void namespace_info_put(struct buf *out, const struct namespace_facts *job); /* which has hosts */
/* NULL: malformed, which is also a job whose map is not that of its hosts. */
struct namespace_info *namespace_info_read(struct pack *in);
void namespace_info_free(struct namespace_info *description); /* NULL is fine */

#endif
