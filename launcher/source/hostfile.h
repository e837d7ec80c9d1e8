/*
 * hostfile - hosts and their slots, a line each, as Open MPI and MPICH write them.
 *
 *     node1 slots=4 max_slots=8     # Open MPI; a comment goes to the end of the line
 *     node2 cpu=4                   # the same, and so is count=4
 *     node2:4                       # MPICH
 *     me@node[3-6]:2                # user, and a hostlist (RFC 29), in both forms
 *
 * The count is the most tasks that a node takes; without one there is no limit. max_slots counts
 * where slots is not given. A colon in an IPv6 address does not begin a count.
 */
#ifndef LAUNCHER_SOURCE_HOSTFILE_H
#define LAUNCHER_SOURCE_HOSTFILE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define HOSTFILE_MAX_TEXT (64u << 20)

struct hostfile_entry {
    char *login;    /* user@host or host */
    uint32_t limit; /* 0: none */
};

struct hostfile {
    struct hostfile_entry *entries; /* in order; a host may come more than once */
    size_t count;
};

/* `name` is for messages, which begin "NAME:LINE: ". NULL with a sentence. */
struct hostfile *hostfile_parse(const char *name, const char *text, size_t len, struct error *err);
/* One host more, whose name is checked: it goes to ssh and into messages. 0 or -1. */
int hostfile_add(struct hostfile *file, const char *login, uint32_t limit, struct error *err);
/* A hostlist, as --hosts has it. */
struct hostfile *hostfile_from_hostlist(const char *text, struct error *err);
void hostfile_free(struct hostfile *file); /* NULL is fine; errno stays */

#endif
