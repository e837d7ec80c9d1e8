/*
 * context_files - files in the directory of a program, for other programs of the instance to read
 * or take away.
 */
#ifndef LAUNCHER_LEDGER_CONTEXT_FILES_H
#define LAUNCHER_LEDGER_CONTEXT_FILES_H

#include <jansson.h>
#include <stdbool.h>

#include "base/error.h"
#include "launcher/ledger/ledger_entry.h"

/* Append a value to a file of the program, which entry_write() made. It cannot be read if it
 * becomes longer than 16 MiB. */
int entry_append(struct ledger_entry *entry, const char *name, const json_t *json,
                 struct error *err);

/* The files of that name which live programs of the instance but one (NULL: all) have written, in
 * no order: of each an array of its values. New reference to an array; NULL with a sentence. */
json_t *instance_read(struct instance *instance, const struct ledger_entry *but, const char *name,
                      struct error *err);

/* An empty file of the program's directory, for any program to take away: there is one that did. */
int entry_mark(struct ledger_entry *entry, const char *name, struct error *err);
/* `program` is an id. */
bool instance_is_marked(const struct instance *instance, const char *program, const char *name);
bool instance_take_mark(struct instance *instance, const char *program, const char *name);

#endif
