/*
 * spec_check - what may be said by --shape and --requires, before there is any R to ask.
 */
#ifndef LAUNCHER_SPEC_SPEC_CHECK_H
#define LAUNCHER_SPEC_SPEC_CHECK_H

#include <stdbool.h>

#include "base/error.h"
#include "launcher/spec/spec.h"

/* Texts that say something, and nothing that no pool could honour. 0, or -1 with a sentence. */
int spec_shape_check(const char *text, struct error *err);
int spec_requires_check(const char *text, struct error *err);

/* Is what rank 0 reads what is typed on its terminal, and nobody else reads? */
int spec_check_pty(const struct spec *spec, struct error *err);

bool spec_has_shape(const struct spec *spec); /* one part's is that of all */

/* Do the parts' shapes go with one another, and with what is said of the whole program? */
int spec_check_shapes(const struct spec *spec, struct error *err);

/* 0, or a sentence where the text cannot be either: what a spec may hold is a name or an absolute
 * path. */
int spec_check_mpi(const char *choice, struct error *err);

/* "FILE[:NAME]" names a file; and no two of a list have one name. */
int spec_stage_check(const char *text, struct error *err);
int spec_check_stage(const struct spec *spec, struct error *err);
/* Both are the caller's to free. */
void spec_stage_split(const char *text, char **file, char **name);

#endif
