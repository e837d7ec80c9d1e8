/*
 * terminal_modes - what a terminal's user has set on it, as text: the size of its window, its keys,
 * and how it treats bytes. Words as stty(1) has them, for instance
 *
 *   24x80 iutf8 -ixon intr=^C erase=^? eof=-
 *
 * A control character is ^ and the key; any other is two hexadecimal digits; "-" is none. Modes
 * that a program sets while it runs (raw, echo) are not among them.
 */
#ifndef LAUNCHER_PROCESS_TERMINAL_MODES_H
#define LAUNCHER_PROCESS_TERMINAL_MODES_H

#include "base/error.h"

/* Of that terminal (caller frees); NULL: it is none. */
char *terminal_modes_of(int fd);

/* Set them there. -1 with a sentence about the text: nothing is set then. Of what the kernel
 * refuses nothing is said. */
int terminal_modes_set(int fd, const char *text, struct error *err);
int terminal_modes_check(const char *text, struct error *err);

#endif
