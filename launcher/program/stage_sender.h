/*
 * stage_sender - the manager's copies of files on nodes (stage_list.h): each node has them once,
 * before its first tasks.
 *
 * They go down the tree of agents in chunks, each link once, no faster than the slowest node takes
 * them; so it needs no memory for them. First every node makes room, and nothing is sent where one
 * of them has none.
 */
#ifndef LAUNCHER_PROGRAM_STAGE_SENDER_H
#define LAUNCHER_PROGRAM_STAGE_SENDER_H

#include <ev.h>
#include <jansson.h>

#include "affinity/sets/idset.h"
#include "base/error.h"
#include "launcher/protocol/stage_source.h"
#include "launcher/tree/tree.h"

struct stage_sender;

/* They are there, or a sentence says why not. From the loop, or from inside a call of this
 * object. */
typedef void stage_done(void *arg, const struct error *err);

/* All is borrowed. `host` gives the name of a node of the tree. */
struct stage_sender *stage_sender_new(struct ev_loop *loop, struct tree *tree,
                                      const char *(*host)(void *owner, uint32_t node), void *owner);
void stage_sender_free(struct stage_sender *sender); /* NULL is fine, and so below */
/* Set the files to send; the source is taken. Call it before the first stage_sender_send(). */
void stage_sender_set(struct stage_sender *sender, struct stage_source *source);
const struct stage_source *stage_sender_source(const struct stage_sender *sender);

/* Nodes that are to have them, those that have them already among them. One call after the other is
 * served. */
void stage_sender_send(struct stage_sender *sender, const struct idset *nodes, stage_done *done,
                       void *arg);
/* All of these nodes have them, or there are no files. */
bool stage_sender_has(const struct stage_sender *sender, const struct idset *nodes);
/* "to node[1-2] (5 MiB of 64 MiB)", caller frees; NULL: nothing is sent now. */
char *stage_sender_describe(const struct stage_sender *sender);
/* Nobody is called any more. */
void stage_sender_stop(struct stage_sender *sender);

/* ---- what happens ---- */

void stage_sender_room(struct stage_sender *sender); /* more can be sent down */
/* They have nothing any more; what was under way to them has failed. */
void stage_sender_lost(struct stage_sender *sender, const struct idset *nodes);
/* A FRAME_STAGED. One to an earlier call than the one that is served now is passed over. */
void stage_sender_answer(struct stage_sender *sender, const struct frame *frame,
                         const json_t *value);

#endif
