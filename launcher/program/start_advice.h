/*
 * start_advice - what helps where a task cannot be started because its node lacks what this machine
 * has: the program, or the working directory.
 */
#ifndef LAUNCHER_PROGRAM_START_ADVICE_H
#define LAUNCHER_PROGRAM_START_ADVICE_H

#include "launcher/spec/spec.h"

/* `text` is what the node says of such a task, without a host (NULL: it says nothing). Returns
 * `text` with the advice at its end, and NULL where nothing is known that helps. Caller frees. */
char *start_advice(const struct spec *spec, const char *text);

#endif
