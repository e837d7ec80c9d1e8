/*
 * signal_source - signals given to this process, and who sent them. [signalfd(2)]
 *
 * They are blocked while there is a source, and read from the loop.
 */
#ifndef LAUNCHER_PROCESS_SIGNAL_SOURCE_H
#define LAUNCHER_PROCESS_SIGNAL_SOURCE_H

#include <ev.h>
#include <stdbool.h>
#include <stddef.h>

struct signal_source;

/* `sender` is "bash (pid 4711, uid 0)", with a word on it where it is an agent of ours, or "" where
 * it is not known or is the terminal. */
typedef void signal_source_fn(void *arg, int number, const char *sender, bool from_terminal);

/* Of these signals, but for those that are ignored. NULL with errno. */
struct signal_source *signal_source_new(struct ev_loop *loop, const int *numbers, size_t count,
                                        signal_source_fn *fn, void *arg);
void signal_source_free(
    struct signal_source *source); /* they are no longer blocked; NULL is fine */

#endif
