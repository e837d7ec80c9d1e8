/*
 * claim_queue - waiting in order of arrival, and for whom.
 *
 * The queue: programs are numbered in order of arrival. One that waits says what it could use, its
 * scope, and no later program gets any of that, even where it would fit, until the earlier one has
 * its claim or is gone: nobody starves, and runs on other hosts do not wait for it. Programs that
 * are tasks of others (instance_draw_from) queue with those of the same task only: what they share
 * is held already, and whoever waits outside could not get it before they end.
 */
#ifndef LAUNCHER_LEDGER_CLAIM_QUEUE_H
#define LAUNCHER_LEDGER_CLAIM_QUEUE_H

#include <stdbool.h>

#include "affinity/resource/rset.h"
#include "base/error.h"
#include "launcher/ledger/ledger_entry.h"

/* Wait in line for any of these resources (the scope) from now on; what was held is given back. An
 * empty scope leaves the line. 0 or -1. */
int entry_queue(struct ledger_entry *entry, const struct rset *scope, struct error *err);
/* What earlier programs wait for: none of it can be claimed. NULL with a sentence. */
struct rset *entry_barred(struct ledger_entry *entry, struct error *err);
/* Whether an earlier program waits for just the same: then there is no use in looking further. */
bool entry_is_behind(struct ledger_entry *entry);
/* A descriptor that is readable when something of the instance may have become free; closing it is
 * the caller's. -1: this cannot be told here. */
int instance_watch(struct instance *instance);

/* Who holds of these resources, and how many wait for some of them and came before `entry`
 * (NULL: all that wait): "program 17 (./app, since 12:03, for 2m) holds cores 0-3 of node0; 2 runs
 * wait before this one". Caller frees; "" where it is nobody. */
char *instance_rivals(struct instance *instance, const struct ledger_entry *entry,
                      const struct rset *wanted);

/* For a register, in which a program's name is "FAMILY WORDS" and ids are processors: who of another
 * family has some of these, "processors 0-1 are also bound by program 17 (WORDS, since 12:03)".
 * Caller frees; "" where it is nobody. */
char *instance_strangers(struct instance *instance, const struct ledger_entry *entry,
                         const struct rset *wanted, const char *family);

#endif
