/*
 * describe - a job, as hosts are told of it.
 */
#ifndef PMI_SERVER_PROTOCOL_NAMESPACE_INFO_H
#define PMI_SERVER_PROTOCOL_NAMESPACE_INFO_H

#include "base/pack.h"
#include "pmi-server/protocol/namespace.h"

struct description { /* a struct hub_job, without `node`, that owns what it points to */
    struct hub_job job;
};

void describe_put(struct buf *out, const struct hub_job *job); /* which has hosts */
/* NULL: malformed, which is also a job whose map is not that of its hosts. */
struct description *describe_read(struct packet *in);
void describe_free(struct description *description); /* NULL is fine */

#endif
