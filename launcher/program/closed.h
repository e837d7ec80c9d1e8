/*
 * closed - whether a program is closed in itself: nothing of it can lead to PMIx.
 *
 * A program speaks PMIx through a library that it is linked with, that it opens, or that is part of
 * it, or by starting another program. So one is closed where all of this holds:
 *
 *     it needs no libraries but those of the C library and of compilers, and the usual loader
 *     it imports nothing that opens a library, starts a program or reads variables
 *     it has no instructions that call the kernel directly, as some languages' programs have
 *     "PMIX" occurs nowhere in it
 *
 * What cannot be told is no: a static program, one of another machine, a large one.
 */
#ifndef LAUNCHER_PROGRAM_CLOSED_H
#define LAUNCHER_PROGRAM_CLOSED_H

#include <stdbool.h>

#include "launcher/program/elf.h"

#define CLOSED_MAX_FILE (1u << 20) /* bytes of what is looked at */

/* The program of this descriptor, as elf_read() has it. */
bool closed_program(int fd, const struct elf *elf);
/* By this name a library is known that leads to nothing else. */
bool closed_library(const char *name);
/* Whether this machine loads something into every program (ld.so(8), /etc/ld.so.preload). */
bool closed_preloads(void);

#endif
