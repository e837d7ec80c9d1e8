/*
 * mpiexec - the command line of MPICH's and of Open MPI's mpiexec, said in tprun's own words.
 *
 * One table (mpiexec_table.c) has a row for each of their options: the native words, or what to
 * write instead. What comes out is a command line for options_parse(); values are read there. Long
 * options of tprun itself, with two dashes, are taken where no row has their name.
 */
#ifndef LAUNCHER_CLI_MPIEXEC_H
#define LAUNCHER_CLI_MPIEXEC_H

#include <stdbool.h>

#include "base/error.h"

/* Is this argv[0] of a link by whose name other launchers are meant? */
bool mpiexec_is_name(const char *program);

/* argv[] ends at a NULL. The native command line, argv[0] included, ending at a NULL (caller
 * frees with spec_free_words()), or NULL with a sentence of kind ERROR_USAGE. */
char **mpiexec_translate(char *const argv[], struct error *err);

/* The table as text, 80 columns wide; caller frees. */
char *mpiexec_help(void);

#endif
