/*
 * claim - the cores and GPUs that a program holds, and those that others hold.
 */
#ifndef LAUNCHER_LEDGER_CLAIM_H
#define LAUNCHER_LEDGER_CLAIM_H

#include "affinity/resource/rset.h"
#include "base/error.h"
#include "launcher/ledger/ledger_entry.h"

/* What live programs hold, with one node for each host. What is left of programs that are gone is
 * removed on the way. Caller frees; NULL with a sentence. */
struct rset *instance_held(struct instance *instance, struct error *err);

/* Claim these resources in place of what the program held; it waits no longer. 0: they are held
 * now. 1 with a sentence that names it: another program has some of them, or came first and waits
 * for them; nothing changed. -1 with a sentence. An empty claim gives everything back. */
int entry_claim(struct ledger_entry *entry, const struct rset *claim, struct error *err);
/* The same without regard to others, who see it all the same. 0 or -1. */
int entry_share(struct ledger_entry *entry, const struct rset *claim, struct error *err);

#endif
