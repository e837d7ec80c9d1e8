/*
 * program_hooks - the prolog and the epilog of a program on its nodes (hook_message.h), as its
 * manager sees them.
 *
 * The prolog is run on all nodes at once, before any task; where one fails the program does not
 * start. The epilog is run on each node on which the prolog was begun, when nothing of the program
 * is left there. How each ended is an event of the program. A node that is lost has nothing of that
 * any more: when it answers again its prolog is run again.
 */
#ifndef LAUNCHER_PROGRAM_PROGRAM_HOOKS_H
#define LAUNCHER_PROGRAM_PROGRAM_HOOKS_H

#include <ev.h>
#include <jansson.h>

#include "affinity/resource/rset.h"
#include "affinity/sets/idset.h"
#include "base/error.h"
#include "launcher/spec/spec.h"
#include "launcher/tree/tree.h"

struct program_hooks;

struct program_hooks_ops {
    const char *(*host)(void *owner, uint32_t node);
    void (*event)(void *owner, const char *name,
                  json_t *context); /* takes the context; to be written at once */
    void (*note)(void *owner, const char *text);
};

struct program_hooks_source { /* of the program; all borrowed for the call */
    const struct idset *nodes;
    const struct rset *R; /* what it holds */
    const char *program;  /* id */
    const char *instance; /* directory */
    const char *instance_id;
};

/* All is borrowed. */
struct program_hooks *program_hooks_new(struct ev_loop *loop, const struct spec *spec,
                                        struct tree *tree, const struct program_hooks_ops *ops,
                                        void *owner);
void program_hooks_free(struct program_hooks *hooks); /* NULL is fine */

/* Where some node's has failed with a sentence. */
typedef void hooks_begun(void *arg, const struct error *err);

/* Once. */
void program_hooks_prolog(struct program_hooks *hooks, const struct program_hooks_source *source,
                          hooks_begun *done, void *arg);
/* The program runs, and these nodes have come, or answer again: their prologs are run once none runs
 * elsewhere. done(), which is the same each time, is called for all that were run at once. */
void program_hooks_late(struct program_hooks *hooks, const struct program_hooks_source *source,
                        hooks_begun *done, void *arg);
/* What the node lacks, "the instance's prolog has not ended there yet"; NULL: its prolog has ended
 * well, or the program has no hooks. */
const char *program_hooks_lack(const struct program_hooks *hooks, uint32_t node);
/* Once; of a program that has none, or did not come to its prolog, it is over at once. What fails
 * is a note. Those of programs in an instance come first, and may take `inner` s. */
void program_hooks_epilog(struct program_hooks *hooks, double inner, void (*done)(void *arg),
                          void *arg);
/* "the prolog on node[1-2]", caller frees; NULL: none is waited for. */
char *program_hooks_describe(const struct program_hooks *hooks);

/* A hook has ended on this node, with a report (hook_message.h). May call done(). */
void program_hooks_ended(struct program_hooks *hooks, uint32_t node, const json_t *value);
/* These nodes are lost: nothing more is expected of them. */
void program_hooks_lost(struct program_hooks *hooks, const struct idset *nodes);

#endif
