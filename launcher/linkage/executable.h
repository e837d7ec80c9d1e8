/*
 * executable - whether this host can execute a program, found out without executing it.
 *
 * The working directory is there; the program is found, is a regular file, and may be executed; an
 * ELF file is built for this machine and its dynamic loader is there; the interpreter of a "#!"
 * line is there and can be executed itself. A file that may be executed but not read is left to the
 * kernel, and so is what a handler of binfmt_misc(5) takes.
 *
 * Only the head of a file is read: a few system calls for each program.
 */
#ifndef LAUNCHER_LINKAGE_EXECUTABLE_H
#define LAUNCHER_LINKAGE_EXECUTABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct executable_source { /* all borrowed */
    const char *name;      /* of the program, as it was asked for */
    const char *search;    /* PATH of the tasks; NULL: the system's */
    const char *directory; /* where they start */
    const char *handlers;  /* directory of binfmt_misc; NULL: the system's */
};

/* Where the program is, as exec_find() has it, in *path (NULL: nowhere; caller frees). 0, or the
 * exit status that says what is wrong, as a shell's does, with a sentence: 127 where the program or
 * its interpreter is not found, 126 where it cannot be executed, 1 where the directory cannot be
 * entered. */
int executable_check(const struct executable_source *source, char **path, struct error *err);

/* Whether an enabled handler in this directory takes a file of this name that begins with these
 * bytes. */
bool executable_has_handler(const char *handlers, const char *path, const char *bytes, size_t len);

#endif
