/*
 * dialects - what a PMI server can be given to speak.
 */
#ifndef PMI_SERVER_PMI_DIALECTS_H
#define PMI_SERVER_PMI_DIALECTS_H

#include <stdbool.h>

struct dialect;

/* For struct pmi_config: a static list, ended by NULL, that the one begins which hears a client's
 * first line. NULL for none. */
const struct dialect *const *dialects_of(bool pmi1, bool pmi2);

#endif
