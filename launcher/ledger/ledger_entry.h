/*
 * ledger_entry - a program in its instance's ledger: its number, its directory, its end.
 */
#ifndef LAUNCHER_LEDGER_LEDGER_ENTRY_H
#define LAUNCHER_LEDGER_LEDGER_ENTRY_H

#include <jansson.h>

#include "base/error.h"
#include "launcher/ledger/event_log.h"
#include "launcher/ledger/instance_directory.h"

#define ENTRY_EVENTS "events" /* in the directory of a program: its log, see event_log.h */

struct ledger_entry;

/* A new program with a number of its own, and the name by which others are told of it. It lives as
 * long as this process or any that it forks does (the lock does not pass an exec). The instance is
 * borrowed and must outlive the handle. */
struct ledger_entry *entry_new(struct instance *instance, const char *name, struct error *err);
/* How long it holds at most what it claims next, in s from then on (INFINITY: nothing says so), and
 * until when at most, in s of the epoch (0: nothing says so). */
void entry_set_limit(struct ledger_entry *entry, double lasts, double expiration);
const char *entry_id(const struct ledger_entry *entry);   /* "17"; borrowed */
const char *entry_path(const struct ledger_entry *entry); /* of its directory; borrowed */
int entry_dir(const struct ledger_entry *entry); /* its directory; borrowed, close-on-exec */

/* Write a file of the program's directory, atomically. `name` has no slash. 0 or -1. */
int entry_write(struct ledger_entry *entry, const char *name, const json_t *json,
                struct error *err);

/* The log of its events, which nobody else writes; and its file, once the first were added: as
 * event_log_begin(). */
struct event_log *entry_new_events(const struct ledger_entry *entry);
int entry_begin_events(struct ledger_entry *entry, struct event_log *log, struct error *err);

/* Free this process's handle. The program goes on as long as another process has inherited it. */
void entry_leave(struct ledger_entry *entry); /* NULL is fine */
/* The program is over: its claim is given back, its directory removed, the handle freed. */
void entry_end(struct ledger_entry *entry); /* NULL is fine */

#endif
