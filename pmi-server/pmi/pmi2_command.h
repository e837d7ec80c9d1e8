/* pmi2_command - the requests of PMI-2 as a table. */
#ifndef PMI_SERVER_PMI_PMI2_COMMAND_H
#define PMI_SERVER_PMI_PMI2_COMMAND_H

#include "pmi-server/pmi/connection.h"

/* The body of one frame, to be written over. -1 with a sentence on a protocol error. */
int pmi2_command_body(struct pmi_client *client, char *body, size_t len, struct error *err);

#endif
