/*
 * group - barriers of a part of the tasks (PMI 1.2), by their names.
 *
 *     WORLD:TAG | NODE:TAG | RANK,RANK,...:TAG
 *
 * Members of one group give it one name (ranks in any order), and none but members know of it. The
 * tag, a number, comes back with the reply. What has been put on the members' nodes is published to
 * all nodes, where more than one has members.
 *
 * What the exchange carries for each node: the group's name, a NUL, 32 bits of length, and packed
 * pairs; untrusted when it comes back.
 *
 * Not for owners of a server: these see server.h.
 */
#ifndef PMI_SERVER_SERVER_GROUP_H
#define PMI_SERVER_SERVER_GROUP_H

#include "pmi-server/server/client.h"

#define GROUP_MAX 4096 /* groups of a server; another one is refused */

struct group {
    struct barrier barrier; /* first: a barrier with a name is a group's */
    struct group *next;
    char *tag;
    uint32_t *ranks; /* ascending; NULL: all, or all of this node */
    size_t count;
};

/* The group of that name, which the client has to be a member of; made when it is new. NULL with a
 * few words on why there is none. */
struct group *group_of(struct pmi_client *client, const char *name, const char **why);
void groups_free(struct pmi_server *server);

bool group_has(const struct group *group, uint32_t rank);

uint32_t group_pack(const struct group *group, struct kvs *kvs, struct buf *out); /* a stamp */
/* Merge what came back. -1 with a sentence. */
int group_take(const struct group *group, struct kvs *kvs, const char *bytes, size_t len,
               struct error *err);

#endif
