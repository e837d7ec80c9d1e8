/*
 * hello - an agent's answer to its welcome: its version, and what hardware its node has, or why it
 * cannot take part. A topology that the manager knows already is not sent again.
 */
#ifndef LAUNCHER_PROTOCOL_HELLO_H
#define LAUNCHER_PROTOCOL_HELLO_H

#include <jansson.h>

#include "affinity/topology/topo.h"
#include "base/error.h"

/* Cores that R gives this node must be there and be allowed: a run is refused, not shrunk. 0, or -1
 * with a sentence. */
int hello_check_cores(const struct topo *topo, const char *cores, struct error *err);

struct hello {
    const char *refusal; /* why it cannot take part; NULL: it can, and the rest counts */
    const struct topo *topo;
    bool is_known;       /* the manager knows this topology: it is not sent */
    const char *machine; /* this machine's id, or NULL */
    const struct idset
        *gpus; /* those that may be given out, by their ids; NULL: all that there are */
    const char
        *gpus_refusal; /* why these cannot be told: a run that wants any is refused; or NULL */
};

/* It is the one with this digest, the manager's; false for NULL. */
bool hello_topology_is(const struct topo *topo, const char *digest);
json_t *hello_to_json(const struct hello *hello); /* new reference */
/* It says nothing but what the manager took for granted: a launch that was sent before counts
 * (launcher/program/early_launch.h). The machine does not matter to it: it is of no use but to tell
 * hosts from each other, and there is one. */
bool hello_is_as_known(const struct hello *hello);

struct hello_answer {
    struct topo *topo;        /* NULL: it is as it was known; the reader's */
    const char *machine;      /* or NULL; borrowed from the value */
    struct idset *gpus;       /* NULL: all; the reader's */
    const char *gpus_refusal; /* or NULL; borrowed */
};

/* -1 with a sentence, and nothing to free: another version, it cannot take part, or what it says is
 * malformed. */
int hello_from_json(struct hello_answer *answer, const json_t *value, struct error *err);

#endif
