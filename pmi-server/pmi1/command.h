/*
 * command - the requests of PMI-1 as a table.
 *
 * Not for owners of a server: these see server.h.
 */
#ifndef PMI_SERVER_PMI1_COMMAND_H
#define PMI_SERVER_PMI1_COMMAND_H

#include "pmi-server/pmi1/client.h"

/* One line without its newline, to be written over. -1 with a sentence on a protocol error. */
int pmi1_command_line(struct pmi1_client *client, char *text, size_t len, struct error *err);

#endif
