/*
 * state_index - what a list shows of each context that is kept of an instance, in one file beside
 * them:
 *
 *     17 262501 0 3 4 1 1770000000100000 ... ["",["./app"]]
 *
 * name, inode of its directory, whether it is lost, status, tasks, nodes, when it was new, started
 * and ended, reason and command. Many are read for one list, so most is no JSON.
 *
 * The directories are what counts. A line holds for the one of its name and inode, the last of
 * several. Where there is no such line the log is read, and a line is added. So the file may be
 * cut, lack lines or be removed at any time, nothing locks it, and what hinders its writing is of
 * no interest. The file of another format has another name.
 */
#ifndef LAUNCHER_LEDGER_STATE_INDEX_H
#define LAUNCHER_LEDGER_STATE_INDEX_H

#include <stdint.h>

#include "base/buf.h"
#include "launcher/ledger/program_record.h"

#define STATE_INDEX_FILE "index-2"

struct state_index;
struct state_index_line;

/* Append the line of a context, which is complete. */
void state_index_encode(struct buf *lines, const char *name, uint64_t inode,
                        const struct program_record *record);
/* Append lines to the file, which is made where it is missing. */
void state_index_append(int state, const struct buf *lines);

/* What there is; never NULL. `state` is of the caller, who closes it later. */
struct state_index *state_index_open(int state);
/* Write what was added. Where most lines held for nothing that was looked for the others are left
 * out of the file: all contexts must have been looked for. NULL is fine. */
void state_index_close(struct state_index *index);
/* Borrowed; NULL: there is none. */
const struct state_index_line *state_index_find(struct state_index *index, const char *name,
                                                uint64_t inode);
/* Without tasks, groups and is_left. Caller frees; NULL: it is no record. */
struct program_record *state_index_record(const struct state_index_line *line);
void state_index_add(struct state_index *index, const char *name, uint64_t inode,
                     const struct program_record *record);

#endif
