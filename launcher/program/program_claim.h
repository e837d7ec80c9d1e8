/*
 * program_claim - what a program holds in the ledger while its groups come and go.
 *
 * A program that shares its cores (--overlap) claims nothing.
 */
#ifndef LAUNCHER_PROGRAM_PROGRAM_CLAIM_H
#define LAUNCHER_PROGRAM_PROGRAM_CLAIM_H

#include <ev.h>

#include "launcher/instance/lock_retry.h"
#include "launcher/instance/resources.h"
#include "launcher/program/task_group.h"

struct program_claim;

/* All is borrowed. */
struct program_claim *program_claim_new(struct ev_loop *loop, const struct spec *spec,
                                        struct resources *resources, struct lock_retry *lock,
                                        struct task_groups *groups);
void program_claim_free(struct program_claim *claim); /* NULL is fine */

/* Hold this as well. 0; 1: another program was first; -1 with a sentence. */
int program_claim_add(struct program_claim *claim, const struct rset *more, struct error *err);
/* A group that used this is over. Where the instance's lock is another's, it is tried again. */
void program_claim_release(struct program_claim *claim, const struct rset *less);
/* The program is over, and with it all that it holds. */
void program_claim_stop(struct program_claim *claim);

#endif
