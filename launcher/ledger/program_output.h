/*
 * program_output - the files of a program's saved output, wherever they are by now: in the
 * program's directory, in that under the name of one that ends, among those that are to be moved
 * (completed_output.h), or in the state directory. They go from one place to the next in this
 * order, and who moves them waits for nobody who reads them.
 */
#ifndef LAUNCHER_LEDGER_PROGRAM_OUTPUT_H
#define LAUNCHER_LEDGER_PROGRAM_OUTPUT_H

#include "launcher/ledger/instance_directory.h"

/* Open a file of program `id` for reading; -1 with errno. Without an instance (NULL) it is looked
 * for in the state directory alone, in the part of the instance of that name. */
int program_output_open(const struct instance *instance, const char *instance_name, const char *id,
                        const char *file);
/* The same, of the program whose directory is or was at this path. */
int program_output_open_path(const char *path, const char *file);

#endif
