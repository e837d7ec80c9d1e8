/*
 * no_pmi - tasks that ended well and never spoke the PMI that they were offered.
 *
 * Where a part's program is linked with an MPI and none of its tasks spoke PMI, each perhaps took
 * itself for the only one, which looks like success: a line says so.
 */
#ifndef LAUNCHER_PROGRAM_NO_PMI_H
#define LAUNCHER_PROGRAM_NO_PMI_H

#include "affinity/layout/layout.h"
#include "base/buf.h"
#include "launcher/spec/spec.h"

struct no_pmi;

struct no_pmi *no_pmi_new(void);
void no_pmi_free(struct no_pmi *no_pmi); /* NULL is fine */

/* These tasks were silent. */
void no_pmi_add(struct no_pmi *no_pmi, const struct idset *ranks);

/* The line about the first part of which this holds, if there is one, with a newline. Reads the
 * files of the programs. */
void no_pmi_explain(const struct no_pmi *no_pmi, const struct spec *spec,
                    const struct layout *layout, struct buf *lines);

#endif
