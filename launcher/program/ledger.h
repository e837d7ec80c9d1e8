/*
 * ledger - the instance: which programs there are, and what each holds.
 *
 * An instance is a directory of mode 0700 that only its owner may enter:
 *
 *     identity        what the instance is for, in words
 *     lock            locked for milliseconds, while anything below changes
 *     next            the next program number; a number is never used twice
 *     programs/<n>/   a program's context
 *         alive       locked by the program's processes for as long as one of them lives
 *         R.json      what the program holds (RFC 20); absent: nothing
 *         ...         whatever program_write() puts there
 *
 * There is no daemon: every run reads what is there. A program whose `alive` nobody holds is
 * gone, however it ended, and its directory is removed by the next run that looks. All files are
 * replaced by rename, so a process killed at any point leaves a state that reads well.
 *
 * Claims are compared by host, core and GPU: programs of one instance may number hosts differently.
 * What is free is derived: the instance's R less what instance_held() says.
 *
 * The usual order: open, new, (map, claim) until the claim stands, end.
 */
#ifndef LAUNCHER_PROGRAM_LEDGER_H
#define LAUNCHER_PROGRAM_LEDGER_H

#include <jansson.h>

#include "affinity/resource/rset.h"
#include "base/error.h"

struct instance;
struct program;

/* The instance for `identity` ("this machine", "R file /real/path"), made where there is none:
 * $XDG_RUNTIME_DIR/tprun/NAME, or TMP/tprun-UID/NAME with TMP = $TMPDIR or /tmp where
 * $XDG_RUNTIME_DIR is unset or not usable by this user. NULL with a sentence, also where a
 * directory on the way belongs to somebody else or lets others in. */
struct instance *instance_open(const char *identity, struct error *err);
/* Programs of the instance must have been left or ended. NULL is fine. */
void instance_close(struct instance *instance);
const char *instance_path(const struct instance *instance); /* borrowed */

/* This process is a task of these programs (idset text): a run of its own draws from what they
 * hold, which therefore does not count as held by others. Text that is no idset is passed over. */
void instance_draw_from(struct instance *instance, const char *programs);

/* What live programs hold, a node a host; programs that are gone are swept on the way. Caller
 * frees; NULL with a sentence. */
struct rset *instance_held(struct instance *instance, struct error *err);

/* A new program with a number of its own. It lives as long as this process or any that it forks
 * does (the lock does not pass an exec). The instance is borrowed and must outlive the handle. */
struct program *program_new(struct instance *instance, struct error *err);
const char *program_id(const struct program *program);   /* "17"; borrowed */
const char *program_path(const struct program *program); /* of its directory; borrowed */
int program_dir(const struct program *program); /* its directory; borrowed, close-on-exec */

/* Claim these resources in place of what the program held. 0: they are held now. 1: another
 * program has some of them, which err names; nothing changed. -1: failure. An empty claim gives
 * everything back. */
int program_claim(struct program *program, const struct rset *claim, struct error *err);

/* Write a file of the program's directory, atomically. `name` has no slash. 0 or -1. */
int program_write(struct program *program, const char *name, const json_t *json, struct error *err);

/* The files of that name which live programs of the instance have written (new reference to an array,
 * in no order); NULL with a sentence. */
json_t *instance_read(struct instance *instance, const char *name, struct error *err);

/* Free this process's handle. The program goes on as long as another process has inherited it. */
void program_leave(struct program *program); /* NULL is fine */
/* The program is over: its claim is given back, its directory removed, the handle freed. */
void program_end(struct program *program); /* NULL is fine */

#endif
