/*
 * instance_directory - the instance as a ledger: which programs there are, what each holds, and who
 * waits for it.
 *
 * An instance is a directory of mode 0700 that only its owner may enter:
 *
 *     identity        what the instance is for, in words
 *     id              a random number: another machine's instance may have the same path
 *     lock            locked for less than milliseconds, while `claims` is written
 *     names           a byte for each name is locked while a program looks for it at the others and
 *                     writes it down
 *     claims          the next program number, what each program holds or waits for
 *                     (claims_table.h), and a generation and a checksum of that
 *     alive           byte <n> is locked by the program's processes while one of them lives
 *     completed       contexts of programs that are complete, until they are moved (completed.h)
 *     saved/<n>/      and their saved output (completed_output.h)
 *     programs/<n>/   a program's context
 *         R.json      what the program holds (RFC 20), written once it does; absent: nothing
 *         events      what happened to it (event_log.h)
 *         ...         whatever entry_write() puts there
 *
 * There is no daemon: every run reads these files. `claims` is what counts. A new one is written
 * beside it, and takes its place under the lock. So readers need no lock, and a process that is
 * killed at any point leaves a whole file. A program whose byte nobody has locked is gone, however
 * it ended: its row does not count, and whoever sees that puts what is left of it to those that are
 * complete. Where `claims` is missing or its checksum is wrong it is made anew from the programs
 * that are alive and their R.json. No run waits for a disk: once an instance was used, a start and
 * an end make no file and replace none by rename. Locks are open file description locks (fcntl(2)).
 *
 * Claims are compared by host, core and GPU: programs of one instance may number hosts differently.
 * What is free is derived: the instance's R less what entry_held() says.
 *
 * The usual order: instance_open, entry_new (ledger_entry.h), then look, map and claim (claim.h)
 * until the claim stands, entry_end. A run that waits does so between watch, queue and claim
 * (claim_queue.h).
 */
#ifndef LAUNCHER_LEDGER_INSTANCE_DIRECTORY_H
#define LAUNCHER_LEDGER_INSTANCE_DIRECTORY_H

#include "base/error.h"

/* What the instance is for in which agents say what they use of their host. */
#define INSTANCE_REGISTER "register of this host"
/* What the instance is for begins so where tasks of a program run programs on a host on which that
 * program's instance is not found. */
#define INSTANCE_OF_TASKS "tasks of program "

struct instance;

/* The directory of all instances of this user, made where it is missing, and its path (caller
 * frees, in any case). -1 with a sentence. */
int instance_open_root(char **path, struct error *err);
/* Opens the instance for `identity` ("this machine", "R file /real/path"). If it is not there it is
 * made: RUNTIME_PARENT/tprun-UID/NAME, where RUNTIME_PARENT is chosen by configure and is /tmp by
 * default, or $TPRUN_RUNTIME_DIR/NAME, for tests. Nothing else of the environment decides the
 * place. NULL with a sentence, also where a directory on the way is a symbolic link, belongs to
 * somebody else or lets others in. */
struct instance *instance_open(const char *identity, struct error *err);
/* The instance at this path, if it is there and is the one of that id, behind which a colon and
 * more may stand; else NULL. */
struct instance *instance_open_outer(const char *path, const char *id);
/* The instance at this path, if it is there and is this user's; else NULL with a sentence. */
struct instance *instance_open_path(const char *path, struct error *err);
/* Calls `each` with the path of every instance of this user on this machine, in no order; not with
 * that in which agents say what they use. -1 with a sentence where their directory is somebody
 * else's, or lets others in. */
int instance_each(void (*each)(void *arg, const char *path), void *arg, struct error *err);
/* Programs of the instance must have been left or ended. NULL is fine. */
void instance_close(struct instance *instance);
const char *instance_path(const struct instance *instance); /* borrowed */
const char *instance_name(const struct instance *instance); /* last part of the path; borrowed */
const char *instance_id(const struct instance *instance);   /* borrowed */
char *
instance_identity(const struct instance *instance); /* caller frees; "": it is not written down */

/* This process is a task of these programs (idset text): a run of its own draws from what they
 * hold, which therefore does not count as held by others. Text that is no idset is passed over. */
void instance_draw_from(struct instance *instance, const char *programs);

#endif
