/*
 * command_output - what a command prints.
 */
#ifndef LAUNCHER_PROCESS_COMMAND_OUTPUT_H
#define LAUNCHER_PROCESS_COMMAND_OUTPUT_H

#include <stddef.h>

#include "base/buf.h"
#include "base/error.h"

/* Run argv (argv[0] along PATH, stdin empty) and append what it writes on stdout to `out`. 0, or -1
 * with a sentence when it cannot be run, prints more than `max` bytes, ends with another status
 * than 0 (its first line on stderr is quoted), or is not done after `seconds`: then it is killed
 * with all that it started in its process group. */
int command_output_output(const char *const *argv, double seconds, size_t max, struct buf *out,
                          struct error *err);

#endif
