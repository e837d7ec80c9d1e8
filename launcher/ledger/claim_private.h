/*
 * claim_private - what a claim and the wait for one share.
 */
#ifndef LAUNCHER_LEDGER_CLAIM_PRIVATE_H
#define LAUNCHER_LEDGER_CLAIM_PRIVATE_H

#include "launcher/ledger/claim.h"
#include "launcher/ledger/claims_table.h"

/* "cores 0-3", "GPU 2", "core 1 and GPUs 0-1". Takes the sets; caller frees. */
char *ledger_name_common(const struct rset_children *common);
/* What this row has or waits for is not for the program. */
bool entry_yields(const struct ledger_entry *entry, const struct claims_row *row);
/* Its row is that from now on; 1 where the probe (NULL: nobody is asked) meets others. */
int entry_put(struct ledger_entry *entry, enum claims_state state, const struct rset *set,
              const struct claims_probe *probe, struct error *err);

#endif
