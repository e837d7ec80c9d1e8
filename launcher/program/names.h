/*
 * names - what tasks of a program publish for others to look up, shown to the other programs of its
 * instance.
 *
 * The PMI service has the names of this program. Those that are for all programs are written to a
 * file of the program's directory in the ledger, and so are gone with it; those of others are read
 * from theirs. Two programs never publish the same name; nobody waits for anybody's lock. What is
 * to be read once has a mark beside it, and belongs to whoever takes the mark away.
 */
#ifndef LAUNCHER_PROGRAM_NAMES_H
#define LAUNCHER_PROGRAM_NAMES_H

#include <ev.h>
#include <stdbool.h>

#include "base/error.h"
#include "launcher/ledger/ledger_entry.h"
#include "pmi-server/service/service.h"

struct names;

struct names_ops {
    void (*say)(void *owner, const char *text); /* why names cannot be shown to others */
};

/* All is borrowed. The service must be freed before the names are. */
struct names *names_new(struct ev_loop *loop, struct pmi_service *service,
                        const struct names_ops *ops, void *owner);
void names_free(struct names *names); /* NULL is fine */

/* Where to show them, borrowed. To be told with NULL before the entry ends. Without an entry
 * nothing is shown, and other programs have no names. */
void names_set_entry(struct names *names, struct instance *instance, struct ledger_entry *entry);

/* Of tasks that speak PMI-1 or PMI-2; `job` is their group as PMIx calls it. 0, or -1 with a
 * sentence; *full: it is that of a limit. */
int names_publish(struct names *names, const char *job, const char *name, const char *port,
                  bool *full, struct error *err);
char *names_lookup(struct names *names, const char *job, const char *name,
                   struct error *err); /* caller frees; NULL with a sentence */
int names_unpublish(struct names *names, const char *name, struct error *err);

#endif
