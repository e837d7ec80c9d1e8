/*
 * spec_build - filling a spec, for those who read one from text.
 *
 * What is handed in is copied unless said otherwise.
 */
#ifndef LAUNCHER_SPEC_SPEC_BUILD_H
#define LAUNCHER_SPEC_SPEC_BUILD_H

#include <stddef.h>
#include <stdint.h>

#include "affinity/layout/layout.h"
#include "launcher/spec/spec.h"

/* A new last part without a program; the pointer holds until the next one is added. */
struct spec_part *spec_add_part(struct spec *spec);
/* name[0..len); value is NULL for ENV_REMOVE. */
void spec_add_env(struct spec_part *part, enum env_kind kind, const char *name, size_t len,
                  const char *value);
void spec_add_rlimit(struct spec_part *part, int resource, uint64_t soft); /* the last one wins */
void spec_add_after(struct spec *spec, const char *text);
void spec_add_stage(struct spec *spec, const char *text);
void spec_add_topology(struct spec *spec, const char *text);

/* What the part says of its layout, borrowed; its rank file is not looked into. */
struct layout_part spec_part_layout(const struct spec_part *part);
/* The part's rank file as a table, which the caller frees; NULL where there is none. */
int spec_part_rankfile(const struct spec_part *part, struct rankfile **file, struct error *err);

#endif
