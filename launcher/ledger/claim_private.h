/*
 * claim_private - what a claim and the wait for one share.
 */
#ifndef LAUNCHER_LEDGER_CLAIM_PRIVATE_H
#define LAUNCHER_LEDGER_CLAIM_PRIVATE_H

#include <stdbool.h>
#include <stdint.h>

#include "launcher/ledger/claim.h"
#include "launcher/ledger/claims_table.h"

/* "cores 0-3", "GPU 2", "core 1 and GPUs 0-1". Takes the sets; caller frees. */
char *ledger_name_common(const struct rset_children *common);
/* instance_held() by these claims. */
struct rset *claims_held(struct instance *instance, const struct claims *claims, struct error *err);
/* The row is of another program that comes first: one that holds something, or that waits and came
 * earlier. What that has is not for this program, unless it entry_passes() the one that waits. */
bool entry_yields(const struct ledger_entry *entry, const struct claims_row *row);
/* When a row that waits can start at the earliest: its own time, or that of an earlier one that
 * waits for just the same; 0: not known. */
uint64_t entry_start_of(const struct ledger_entry *entry, const struct claims *claims,
                        const struct claims_row *row);
/* The program, if it began now, would be over before one that waits can start. */
bool entry_passes(const struct ledger_entry *entry, const struct claims *claims,
                  const struct claims_row *row);
/* A live one that waits, which the program has to let go first. */
bool entry_is_barred_by(struct ledger_entry *entry, const struct claims *claims,
                        const struct claims_row *row);
/* Write the program's row, with its earliest start if it waits (0: not known). 0. 1 with a
 * sentence: others that come first have some of the probe (NULL: nobody is looked at), and nothing
 * is written. -1 with a sentence. */
int entry_put(struct ledger_entry *entry, enum claims_state state, const struct rset *set,
              uint64_t start, const struct claims_probe *probe, struct error *err);

#endif
