/*
 * pmi1_command - the requests of PMI-1 as a table.
 */
#ifndef PMI_SERVER_PMI_PMI1_COMMAND_H
#define PMI_SERVER_PMI_PMI1_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "pmi-server/pmi/connection.h"
#include "pmi-server/pmi/pmi1_spawn.h"

/* What is known of a client beside what every dialect knows; made when first needed. */
struct pmi1_memory {
    struct pmi1_spawn spawn;
    size_t index; /* of the next pair for getbyidx_next */
};

/* Values come from tasks that speak any dialect, and from other programs. A newline in one would be
 * the end of a reply and the beginning of another, white space in some is the end of a value, and
 * what is longer than a client's buffer is read as two lines. So each is checked where it
 * leaves. */
#define PMI1_CLIENT_LINE 1024 /* a client's buffer for a line, with its newline and a NUL */

/* Why a client cannot be told this text of `len` bytes, as one word for msg=; NULL: it can. `room`
 * is what it has for it, with the NUL. A text that is not the last of its line has to be one
 * word. */
const char *pmi1_unsayable(const char *text, size_t len, size_t room, bool word);

extern const char *const pmi1_name_replies[]; /* by enum pmi_name */

/* The answer to a get; NULL: there is no such key. */
void pmi1_got(struct pmi_client *client, const char *key, const char *value);

/* One line without its newline, to be written over. -1 with a sentence on a protocol error. */
int pmi1_command_line(struct pmi_client *client, char *text, size_t len, struct error *err);

#endif
