/*
 * ledger - the instance: which programs there are, what each holds, and who waits for it.
 *
 * An instance is a directory of mode 0700 that only its owner may enter:
 *
 *     identity        what the instance is for, in words
 *     id              a number by chance: another machine's instance may have the same path
 *     lock            locked for less than milliseconds, while `claims` is written
 *     names           a byte for each name is locked while a program looks for it at the others and
 *                     writes it down
 *     claims          the next program number, what each program holds or waits for (claims_table.h), and
 *                     a generation and a checksum of that
 *     alive           byte <n> is locked by the program's processes for as long as one of them lives
 *     programs/<n>/   a program's context
 *         R.json      what the program holds (RFC 20), written once it does; absent: nothing
 *         ...         whatever entry_write() puts there
 *
 * There is no daemon: every run reads what is there. `claims` is what counts; under the lock it is
 * exchanged for a file beside it, which was written before, so that a reader needs no lock, and a
 * process killed at any point leaves a whole one. A program whose byte nobody has locked is gone,
 * however it ended: its row does not count, and whoever sees that removes what is left of it. Where
 * `claims` is missing or its checksum is wrong it is made anew from the programs that are alive and
 * their R.json. No run waits for a disk: once an instance was used, a start and an end make no file
 * and replace none by rename.
 * Locks are open file description locks (fcntl(2)).
 *
 * Claims are compared by host, core and GPU: programs of one instance may number hosts differently.
 * What is free is derived: the instance's R less what instance_held() and entry_barred() say.
 *
 * The queue: programs are numbered in order of arrival. One that waits says what it could use, its
 * scope, and no later program gets any of that, even where it would fit, until the earlier one has
 * its claim or is gone: nobody starves, and runs on other hosts do not wait for it. Programs that
 * are tasks of others (instance_draw_from) queue with those of the same task only: what they share
 * is held already, and whoever waits outside could not get it before they end.
 *
 * The usual order: open, new, (look, map, claim) until the claim stands, end. A run that waits
 * does so between watch, queue and claim.
 */
#ifndef LAUNCHER_LEDGER_LEDGER_H
#define LAUNCHER_LEDGER_LEDGER_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "affinity/resource/rset.h"
#include "base/error.h"

struct instance;
struct ledger_entry; /* a program in its instance's ledger: number, directory, claim */

/* The instance for `identity` ("this machine", "R file /real/path"), made where there is none:
 * RUNTIME_PARENT/tprun-UID/NAME, where RUNTIME_PARENT is chosen by configure and is /tmp by default,
 * or $TPRUN_RUNTIME_DIR/NAME, for tests. Nothing else of the environment decides the place. NULL
 * with a sentence, also where a directory on the way is a symbolic link, belongs to somebody else
 * or lets others in. */
struct instance *instance_open(const char *identity, struct error *err);
/* The instance at this path, if it is there and is the one of that id, behind which a colon and more
 * may stand; else NULL. */
struct instance *instance_open_outer(const char *path, const char *id);
/* Programs of the instance must have been left or ended. NULL is fine. */
void instance_close(struct instance *instance);
const char *instance_path(const struct instance *instance); /* borrowed */
const char *instance_id(const struct instance *instance);   /* borrowed */

/* This process is a task of these programs (idset text): a run of its own draws from what they
 * hold, which therefore does not count as held by others. Text that is no idset is passed over. */
void instance_draw_from(struct instance *instance, const char *programs);

/* What live programs hold, a node a host; programs that are gone are swept on the way. Caller
 * frees; NULL with a sentence. */
struct rset *instance_held(struct instance *instance, struct error *err);

/* A new program with a number of its own, and the name by which others are told of it. It lives as
 * long as this process or any that it forks does (the lock does not pass an exec). The instance is
 * borrowed and must outlive the handle. */
struct ledger_entry *entry_new(struct instance *instance, const char *name, struct error *err);
const char *entry_id(const struct ledger_entry *entry);   /* "17"; borrowed */
const char *entry_path(const struct ledger_entry *entry); /* of its directory; borrowed */
int entry_dir(const struct ledger_entry *entry); /* its directory; borrowed, close-on-exec */

/* Claim these resources in place of what the program held; it waits no longer. 0: they are held
 * now. 1: another program has some of them, or waits for them and came first, which err names;
 * nothing changed. -1: failure. An empty claim gives everything back. */
int entry_claim(struct ledger_entry *entry, const struct rset *claim, struct error *err);
/* The same without regard to others, who see it all the same. 0 or -1. */
int entry_share(struct ledger_entry *entry, const struct rset *claim, struct error *err);

/* Who has lost a race looks again, maps and claims when it is its turn, so that many that want the
 * same get on: those that have not lost one do not heed it. A descriptor to close when done, or
 * -1; nothing depends on it. */
int instance_turn(struct instance *instance);

/* Wait in line for any of these resources (the scope) from now on; what was held is given back. An
 * empty scope leaves the line. 0 or -1. */
int entry_queue(struct ledger_entry *entry, const struct rset *scope, struct error *err);
/* What earlier programs wait for: none of it can be claimed. NULL with a sentence. */
struct rset *entry_barred(struct ledger_entry *entry, struct error *err);
/* Whether an earlier program waits for just the same: then there is no use in looking further. */
bool entry_is_behind(struct ledger_entry *entry);
/* A descriptor that is readable when something of the instance may have become free; closing it is
 * the caller's. -1: this cannot be told here. */
int instance_watch(struct instance *instance);

/* Who holds of these resources, and how many wait for some of them and came before `entry`
 * (NULL: all that wait): "program 17 (./app, since 12:03, for 2m) holds cores 0-3 of node0; 2 runs
 * wait before this one". Caller frees; "" where it is nobody. */
char *instance_rivals(struct instance *instance, const struct ledger_entry *entry,
                      const struct rset *wanted);

/* For a register, in which a program's name is "FAMILY WORDS" and ids are processors: who of another
 * family has some of these, "processors 0-1 are also bound by program 17 (WORDS, since 12:03)".
 * Caller frees; "" where it is nobody. */
char *instance_strangers(struct instance *instance, const struct ledger_entry *entry,
                         const struct rset *wanted, const char *family);

/* Write a file of the program's directory, atomically. `name` has no slash. 0 or -1. */
int entry_write(struct ledger_entry *entry, const char *name, const json_t *json,
                struct error *err);

/* Append a value to such a file. It cannot be read if it becomes longer than 16 MiB. */
int entry_append(struct ledger_entry *entry, const char *name, const json_t *json,
                 struct error *err);

/* The files of that name which live programs of the instance but one (NULL: all) have written, in no
 * order: of each an array of its values. New reference to an array; NULL with a sentence. */
json_t *instance_read(struct instance *instance, const struct ledger_entry *but, const char *name,
                      struct error *err);

/* An empty file of the program's directory, for any program to take away: there is one that did. */
int entry_mark(struct ledger_entry *entry, const char *name, struct error *err);
/* `program` is an id. */
bool instance_is_marked(const struct instance *instance, const char *program, const char *name);
bool instance_take_mark(struct instance *instance, const char *program, const char *name);

/* Until the descriptor is closed no other process has any of these keys for the lock file `name` of
 * the instance: for what depends on others' files that are read and is written then. Who is killed
 * has closed it. It waits for nobody: INSTANCE_EXCLUDED where another has one of them now; -1 with a
 * sentence. */
enum { INSTANCE_EXCLUDED = -2 };
int instance_exclude(struct instance *instance, const char *name, const char *const *keys,
                     size_t count, struct error *err);

/* How long a call here may wait for a lock, which is held for less than milliseconds unless who has
 * it is stopped; 30 s where nothing is said. A loop that must beat says little, and where a call
 * failed because another process had the lock all that time (is_busy) comes back to it later. To
 * set it also forgets that it was so. */
void instance_set_patience(struct instance *instance, double seconds);
bool instance_is_busy(const struct instance *instance);

/* Free this process's handle. The program goes on as long as another process has inherited it. */
void entry_leave(struct ledger_entry *entry); /* NULL is fine */
/* The program is over: its claim is given back, its directory removed, the handle freed. */
void entry_end(struct ledger_entry *entry); /* NULL is fine */

/* How often this handle has locked the instance, and for how long at most (seconds). */
size_t instance_locks(const struct instance *instance, double *longest);

#endif
