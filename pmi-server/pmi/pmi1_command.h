/*
 * pmi1_command - the requests of PMI-1 as a table.
 */
#ifndef PMI_SERVER_PMI_PMI1_COMMAND_H
#define PMI_SERVER_PMI_PMI1_COMMAND_H

#include "pmi-server/pmi/connection.h"
#include "pmi-server/pmi/pmi1_spawn.h"

/* What is known of a client beside what every dialect knows; made when first needed. */
struct pmi1_memory {
    struct pmi1_spawn spawn;
    size_t index; /* of the next pair for getbyidx_next */
};

extern const char *const pmi1_name_replies[]; /* by enum pmi_name */

/* The answer to a get; NULL: there is no such key. */
void pmi1_got(struct pmi_client *client, const char *key, const char *value);

/* One line without its newline, to be written over. -1 with a sentence on a protocol error. */
int pmi1_command_line(struct pmi_client *client, char *text, size_t len, struct error *err);

#endif
