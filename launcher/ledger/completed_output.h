/*
 * completed_output - saved output (files output.N of a program's directory) of programs that are
 * complete: in a directory "saved" of the instance until it is moved to the state directory with
 * the rest of the context. For the files of the ledger.
 */
#ifndef LAUNCHER_LEDGER_COMPLETED_OUTPUT_H
#define LAUNCHER_LEDGER_COMPLETED_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "launcher/ledger/instance_directory.h"

#define COMPLETED_OUTPUT_FIRST "output.0"
#define COMPLETED_OUTPUT_READERS 1 /* byte of it that those who read have locked (saved_output.h) */

/* Whether this open directory of a program has saved output. */
bool completed_output_is_in(int dir);
/* Move it from there to "saved", by renames. False with errno: what could not be moved is lost. */
bool completed_output_take(struct instance *instance, const char *id, int dir);
/* The same of output that is not to be kept: it stays for as long as somebody reads it. */
void completed_output_take_for_readers(struct instance *instance, const char *id, int dir);

/* Open the saved output of a program: a descriptor that the caller closes, or -1 without any. */
int completed_output_open(const struct instance *instance, const char *id);
/* Put every file of it into another directory as well, by a link, or by a copy where that is on
 * another file system. 0, or -1 with errno. */
int completed_output_copy(int from, int to);
/* Bytes of output in the directory of a context. */
uint64_t completed_output_size(int dir, const char *name);
/* Remove it from the directory of a context. */
void completed_output_remove(int dir, const char *name);

/* It is in the state directory now, and is removed here. Where that is a copy it stays here for as
 * long as somebody reads it, who looks for its files by name. */
void completed_output_moved(struct instance *instance, const char *id);
/* Whether somebody still reads what stayed for that; if nobody does it is removed. */
bool completed_output_is_read(struct instance *instance, const char *id);
/* Remove it, whoever reads it: there is no space. */
void completed_output_drop(struct instance *instance, const char *id);
/* Remove what stayed and nobody reads, and what nobody has moved for so long that its record is
 * lost. */
void completed_output_tidy(struct instance *instance);

#endif
