/*
 * check_program - tprun --check: what is known of programs before they run.
 */
#ifndef LAUNCHER_CLI_CHECK_PROGRAM_H
#define LAUNCHER_CLI_CHECK_PROGRAM_H

#include <stdbool.h>

#include "base/buf.h"
#include "launcher/spec/spec.h"

/* Append which MPI and PMI the parts' programs have, what is served of that, and what is missing,
 * as text or JSON. True when all would run, as far as can be told. Nothing is started. */
bool check_programs(const struct spec *spec, struct buf *out);

#endif
