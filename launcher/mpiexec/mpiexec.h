/*
 * mpiexec - the command line of MPICH's and of Open MPI's mpiexec, said in tprun's own words.
 *
 * One table (mpiexec_table.c) has a row for each of their options: the native words, or what to
 * write instead. What comes out is a command line for options_parse(); values are read there. Long
 * options of tprun itself, with two dashes, are taken where no row has their name.
 */
#ifndef LAUNCHER_MPIEXEC_MPIEXEC_H
#define LAUNCHER_MPIEXEC_MPIEXEC_H

#include <stdbool.h>

#include "base/error.h"
#include "launcher/spec/spec.h"

/* Is this argv[0] of a link by whose name other launchers are meant? */
bool mpiexec_is_name(const char *program);

enum mpiexec_dialect { MPIEXEC_EITHER, MPIEXEC_HYDRA, MPIEXEC_OPENMPI };

/* Whose options that name promises. EITHER: both launchers are called by it. */
enum mpiexec_dialect mpiexec_name_dialect(const char *program);
/* Whose launcher would run by that name if this program were not in `search`, directories as in
 * PATH: the first that tells; EITHER where none does. */
enum mpiexec_dialect mpiexec_next_dialect(const char *program, const char *search);

/* What --version prints by that name: the line by which scripts tell launchers apart, and then
 * `own`, tprun's. Caller frees. */
char *mpiexec_version(const char *program, const char *own);

/* argv[] ends at a NULL. The native command line, argv[0] included, ending at a NULL (caller
 * frees with string_list_free()), or NULL with a sentence, of kind ERROR_USAGE unless it is about a
 * file that cannot be read. */
char **mpiexec_translate(char *const argv[], struct error *err);
/* The sentence is about that native command line: options in it that were made of others are named
 * as these were typed. */
void mpiexec_name_typed(char *const argv[], struct error *err);

/* What differs from tprun without an option that says so: no cores are claimed, tasks are bound
 * only where an option asks for it, and an abort with code 0 gives the exit status 0. */
void mpiexec_adapt(struct spec *spec);

/* Parameters of -mca in that native command line which are for Open MPI's own launcher and change
 * nothing here, as a sentence; NULL: there are none. Caller frees. */
char *mpiexec_ignored(char *const words[]);

/* The table as text, 80 columns wide; caller frees. */
char *mpiexec_help(void);

#endif
