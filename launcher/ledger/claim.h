/*
 * claim - the cores and GPUs that a program holds, and those that others hold.
 */
#ifndef LAUNCHER_LEDGER_CLAIM_H
#define LAUNCHER_LEDGER_CLAIM_H

#include "affinity/resource/rset.h"
#include "base/error.h"
#include "launcher/ledger/ledger_entry.h"

/* What live programs hold, a node a host; programs that are gone are swept on the way. Caller
 * frees; NULL with a sentence. */
struct rset *instance_held(struct instance *instance, struct error *err);

/* Claim these resources in place of what the program held; it waits no longer. 0: they are held
 * now. 1: another program has some of them, or waits for them and came first, which err names;
 * nothing changed. -1: failure. An empty claim gives everything back. */
int entry_claim(struct ledger_entry *entry, const struct rset *claim, struct error *err);
/* The same without regard to others, who see it all the same. 0 or -1. */
int entry_share(struct ledger_entry *entry, const struct rset *claim, struct error *err);

#endif
