/*
 * instance_program - a program inside an instance: the tprun that was typed there, and the process
 * beside the instance's manager that becomes the program's manager.
 *
 * Both are the same tprun; what goes between them over a channel of the instance is what goes
 * between a front end and its manager, after one FRAME_PROGRAM and the files to stage.
 */
#ifndef LAUNCHER_CLI_INSTANCE_PROGRAM_H
#define LAUNCHER_CLI_INSTANCE_PROGRAM_H

#include <stdbool.h>

#include "base/error.h"
#include "launcher/process/scratch_directory.h"
#include "launcher/spec/spec.h"

bool instance_program_is_inside(void); /* this process is a task in an instance */
/* Ask the instance to be the manager of this program: the link to it. -1 with a sentence. */
int instance_program_ask(const struct spec *spec, struct error *err);

/* The other side, for who asks behind `frontend`: becomes the manager of a program, with agents
 * from `broker`, or runs a command (remote_command_serve.h). `scratch` is that of the instance's
 * agent on this host. `program` serves those inside of a program that is an instance. The exit
 * status. */
int instance_program_serve(int frontend, int broker, struct scratch *scratch,
                           int (*program)(int frontend, int broker, struct scratch *scratch));

#endif
