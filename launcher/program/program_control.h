/*
 * program_control - what a command orders a program while it runs, and asks of it: a signal for
 * some of its tasks, its end, what its tasks use now, who of them reads stdin.
 *
 * Each has one answer (control_answer.h), which may come inside the call, and comes at the latest
 * from program_free(). It is borrowed for the time of the callback; the asker is until then. `who`
 * is who orders it ("tpctl (pid 4711)"). Nothing is sent before the program's log says so.
 */
#ifndef LAUNCHER_PROGRAM_PROGRAM_CONTROL_H
#define LAUNCHER_PROGRAM_PROGRAM_CONTROL_H

#include "affinity/sets/idset.h"
#include "launcher/program/program.h"
#include "launcher/protocol/control_answer.h"

struct program_asker {
    void (*answered)(void *owner, const struct control_answer *answer);
    void *owner;
};

/* To each of these ranks (NULL: all that run), with its process group. */
void program_control_signal(struct program *program, int number, const struct idset *ranks,
                            const char *who, const struct program_asker *asker);
/* The end, within `grace` s, or what --kill-grace says where it is below 0. Answered once tasks are
 * told. */
void program_control_terminate(struct program *program, double grace, const char *who,
                               const struct program_asker *asker);
/* Whether these ranks (NULL: all that were started with a stdin) can be sent input. Those that can
 * are the `reached` of the answer; ranks that were named have to be able to, all of them. Nothing
 * is sent. */
void program_control_input(struct program *program, const struct idset *ranks,
                           const struct program_asker *asker);
/* Its tasks that run, and what they use. */
void program_control_ps(struct program *program, const struct program_asker *asker);
#endif
