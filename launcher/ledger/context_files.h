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

/* Read the files of this name of all live programs of the instance except `but` (NULL: of all): an
 * array with an array of values for each file, in no order. New reference; NULL with a sentence. */
json_t *instance_read(struct instance *instance, const struct ledger_entry *but, const char *name,
                      struct error *err);

/* Make a mark: an empty file in the program's directory, which one program of the instance can take
 * away. 0, or -1 with a sentence. */
int entry_mark(struct ledger_entry *entry, const char *name, struct error *err);
/* Whether the mark is there. `program` is an id. */
bool instance_is_marked(const struct instance *instance, const char *program, const char *name);
/* Take the mark away. True: it was there, and nobody else took it. */
bool instance_take_mark(struct instance *instance, const char *program, const char *name);

#endif
