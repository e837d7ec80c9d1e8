/*
 * instance_program - a program inside an instance: the tprun that was typed there, and the process beside the instance's
 * manager that becomes the program's manager.
 *
 * Both are the same tprun; what goes between them over a channel of the instance is what goes between a front end and its
 * manager, after one FRAME_PROGRAM.
 */
#ifndef LAUNCHER_CLI_INSTANCE_PROGRAM_H
#define LAUNCHER_CLI_INSTANCE_PROGRAM_H

#include <stdbool.h>

#include "base/error.h"
#include "launcher/spec/spec.h"

bool instance_program_is_inside(void); /* this process is a task in an instance */
/* Ask the instance to be the manager of this program: the link to it. -1 with a sentence. */
int instance_program_ask(const struct spec *spec, struct error *err);

/* The other side: becomes the manager for the front end behind `frontend`, with agents from `broker`. `background` is for a
 * program that is to go on without its front end: it is that front end, and `program` serves those inside of it where it is an instance. The exit status. */
int instance_program_serve(int frontend, int broker,
                           int (*background)(struct spec *spec, int frontend, int broker),
                           int (*program)(int frontend, int broker));

#endif
