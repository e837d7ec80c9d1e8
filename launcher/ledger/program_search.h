/*
 * program_search - the programs of this user: those that run on this machine, are empty, or are
 * over.
 *
 * They are found in the instances, whose records of complete programs are moved to the state
 * directory first, and in that. It works when no process lives: a program whose manager is gone is
 * taken for lost.
 */
#ifndef LAUNCHER_LEDGER_PROGRAM_SEARCH_H
#define LAUNCHER_LEDGER_PROGRAM_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "launcher/ledger/claim_queue.h"
#include "launcher/ledger/context_record.h"
#include "launcher/ledger/program_record.h"

struct program_search;
struct found_program;

/* In all instances, or in the one of this path or name: what lives, and what is over and could not
 * be moved. NULL with a sentence: there is no such instance. */
struct program_search *program_search_new(const char *instance, struct error *err);
/* All that is kept in the state directory, too, which may be much: program_search_find() looks
 * there without it. */
void program_search_add_kept(struct program_search *search);
void program_search_free(struct program_search *search); /* NULL is fine */
/* A sentence, each in a line, on what could not be read or moved, so that programs may be missing;
 * "": nothing. Borrowed. */
const char *program_search_warnings(const struct program_search *search);

size_t program_search_count(const struct program_search *search);
/* By instance, then by number; borrowed until program_search_free(). */
const struct found_program *program_search_nth(const struct program_search *search, size_t n);
/* How many instances have one of these. */
size_t program_search_instances(const struct program_search *search);

/* Find a program by its id: "17", or "NAME/17" with the name of its instance. Where several
 * instances have it, the one with the name or identity `usual` is meant (NULL: none is). 1: found;
 * 0 with a sentence: not found. -1 with a sentence: the search failed. */
int program_search_find(struct program_search *search, const char *id, const char *usual,
                        const struct found_program **found, struct error *err);

/* ---- one of them ---- */

const char *found_program_id(const struct found_program *program);       /* "17"; borrowed */
const char *found_program_instance(const struct found_program *program); /* its name; borrowed */
/* What its instance is for ("this machine"); "": not known. Borrowed. */
const char *found_program_identity(const struct found_program *program);
/* Of its instance in the file system; NULL: only what is kept of it is there. Borrowed. */
const char *found_program_instance_path(const struct found_program *program);
bool found_program_is_live(
    const struct found_program *program); /* not over, when it was looked for */
bool found_program_is_empty(
    const struct found_program *program); /* no process of it lives (empty_programs.h) */
bool found_program_lives(const struct found_program *program); /* now: some process does */

/* Now some process lives of the program that has this id in the same instance. */
bool found_program_other_lives(const struct found_program *program, const char *id);

/* How it stands in line for resources that others hold; false where it does not. */
bool found_program_find_waiter(const struct found_program *program, struct waiter *waiter);
/* The number of the innermost program that a live one is a task of. 0, or -1 with a sentence: it is
 * a task of none, or of one of an instance that is not here. */
int found_program_parent(const struct found_program *program, uint64_t *number, struct error *err);

/* What its log says, or without tasks the index of all that is kept (state_index.h), to which it is
 * added. Caller frees. NULL: it is not kept any more, which errno ENOENT says, or its log cannot be
 * read; with a sentence that names the file. A program without a manager is complete, and lost
 * where its log does not say otherwise. */
struct program_record *found_program_record(const struct found_program *program, bool with_tasks,
                                            struct error *err);
/* A file of its context, of CONTEXT_SPEC and so on. Caller frees; NULL: there is none. A zero byte
 * follows. */
char *found_program_file(const struct found_program *program, int file, size_t *len);
/* The directory of a program that lives, or is in the state directory; -1: there is none. Caller
 * closes. */
int found_program_open(const struct found_program *program);
/* Open a file of its saved output for reading, wherever that is by now; -1 with errno. */
int found_program_open_output(const struct found_program *program, const char *name);
/* Make an empty one complete, with this exit status and reason (a line). 0; -1 with a sentence. */
int found_program_end_empty(const struct found_program *program, int status, const char *reason,
                            struct error *err);
/* Somebody reads its saved output where it was before it was copied to the state directory. */
bool found_program_is_read(const struct found_program *program);
/* Remove what is kept of a complete one. 0, or -1 with a sentence. */
int found_program_remove(const struct found_program *program, struct error *err);

#endif
