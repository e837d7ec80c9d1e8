/*
 * tpctl_view - saved output of a program, shown by the methods logs and attach.
 */
#ifndef LAUNCHER_TPCTL_TPCTL_VIEW_H
#define LAUNCHER_TPCTL_TPCTL_VIEW_H

#include "launcher/frontend/frontend.h"
#include "launcher/saved/saved_output.h"
#include "launcher/spec/spec.h"
#include "launcher/tpctl/tpctl.h"

/* How a program was started, as far as that matters to who shows its output. Caller frees. */
struct spec *tpctl_view_spec(const struct method_call *call, const struct found_program *program);
/* NULL with a sentence and an exit status: nothing was saved. With `begins` a program that lives is
 * told to save from now on. */
struct saved_reader *tpctl_view_reader(const struct found_program *program, bool begins,
                                       int *status, struct error *err);
/* Before its saved output is removed: as saved_output_shut(). */
int tpctl_view_shut(const struct found_program *program);

#endif
