/*
 * program_path - where this installation's other programs are.
 */
#ifndef LAUNCHER_PROCESS_PROGRAM_PATH_H
#define LAUNCHER_PROCESS_PROGRAM_PATH_H

/* Beside this program, as in a build, in libexec/tprun below the same prefix, or else where
 * configure put it. The caller frees. */
char *program_path(const char *name);

/* Start a program that nobody waits for: a session of its own, no terminal, nothing of ours but the
 * environment. It may fail unseen. */
void program_start_detached(char *const argv[]);

#endif
