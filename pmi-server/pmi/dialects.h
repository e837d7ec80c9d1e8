/*
 * dialects - what can be served: lists for struct pmi_config, each begun by the one that hears a
 * client's first line.
 */
#ifndef PMI_SERVER_PMI_DIALECTS_H
#define PMI_SERVER_PMI_DIALECTS_H

#include <stdbool.h>

struct dialect;

/* The list for these; NULL for none. */
const struct dialect *const *dialects_of(bool pmi1, bool pmi2);

#endif
