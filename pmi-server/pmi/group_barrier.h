/*
 * group_barrier - barriers of a part of the tasks (PMI 1.2), by their names.
 *
 *     WORLD:TAG | NODE:TAG | RANK,RANK,...:TAG
 *
 * Members of one group give it one name (ranks in any order), and none but members know of it. The
 * tag, a number, comes back with the reply. What has been put on the members' nodes is published to
 * all nodes, where more than one has members.
 *
 * A group is there from the first member that enters its barrier until nobody is in it: a program
 * may use any number of them, one after the other. Every round of one has the same id in the
 * exchange, which is made of its name.
 *
 * What the exchange carries for each node: the group's name, a NUL, 32 bits of length, and packed
 * pairs; untrusted when it comes back.
 *
 * Not for owners of a server: these see server.h.
 */
#ifndef PMI_SERVER_PMI_GROUP_BARRIER_H
#define PMI_SERVER_PMI_GROUP_BARRIER_H

#include "pmi-server/pmi/context.h"

/* What may be open on one node; another one is refused. */
#define GROUP_BARRIER_MAX 4096
#define GROUP_BARRIER_BYTES_MAX (16u << 20) /* of their names */

struct group_barrier {
    struct barrier barrier;              /* first: a barrier with a name is a group's */
    struct group_barrier *before, *next; /* of all that are open */
    struct group_barrier *chain;         /* of those in one bucket */
    char *tag;
    uint32_t *ranks; /* ascending; NULL: all, or all of this node */
    size_t count;
    uint32_t *local; /* [barrier.nlocal] those of this node; NULL: by the clients' indices */
};

/* The group of that name, which the client has to be a member of; made when it is new. NULL with a
 * few words on why there is none. */
struct group_barrier *group_barrier_of(struct pmi_client *client, const char *name,
                                       const char **why);
void group_barriers_free(struct pmi_server *server);

bool group_barrier_has(const struct pmi_server *server, const struct group_barrier *group,
                       uint32_t rank);
size_t group_barrier_index(const struct group_barrier *group, const struct pmi_client *client);
struct group_barrier *group_barrier_by_id(const struct pmi_server *server,
                                          uint64_t id); /* NULL: there is none */
/* Nobody waits in it, and nobody has entered the next round. */
void group_barrier_retire(struct pmi_server *server, struct group_barrier *group);
/* That rank has left: groups that no member of this node can enter any more are over. */
void group_barriers_left(struct pmi_server *server, uint32_t rank);

uint32_t group_barrier_pack(const struct group_barrier *group, struct kvs *kvs,
                            struct buf *out); /* a stamp */
/* Merge what came back. -1 with a sentence. */
int group_barrier_take(const struct group_barrier *group, struct kvs *kvs, const char *bytes,
                       size_t len, struct error *err);

#endif
