/*
 * part_linkage - the libraries of a part's program, as its tasks would have them on this machine.
 */
#ifndef LAUNCHER_LINKAGE_PART_LINKAGE_H
#define LAUNCHER_LINKAGE_PART_LINKAGE_H

#include "launcher/linkage/shared_libraries.h"
#include "launcher/spec/spec.h"

/* Where a part's tasks start: its own directory may be relative to the caller's. Caller frees. */
char *part_linkage_directory(const struct spec *spec, const struct spec_part *part);

/* The program is looked up with the tasks' PATH, from their directory; libraries with their
 * LD_LIBRARY_PATH and, of the MPI ABI, what --mpi says. NULL with a sentence when there is none, or
 * when --mpi is not for this program. `last`: see shared_libraries.h. */
struct shared_libraries *part_linkage_read(const struct spec *spec, const struct spec_part *part,
                                           bool (*last)(const char *name), struct error *err);

/* Whether some part's tasks would be offered PMIx; on other machines that may be otherwise. */
bool part_linkage_needs_pmix(const struct spec *spec);

/* A program that is started with these variables; all is borrowed. */
struct shared_libraries_source part_linkage_source(const char *path, const char *directory,
                                                   char *const *environment);

#endif
