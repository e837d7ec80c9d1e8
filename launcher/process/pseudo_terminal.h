/*
 * pseudo_terminal - a terminal that this process makes for another one. [pty(7), ioctl_tty(2)]
 *
 * What this process writes to the master is typed on the terminal; what it reads there is what the
 * terminal shows. When the last process that has the terminal open is gone, reading fails with EIO.
 */
#ifndef LAUNCHER_PROCESS_PSEUDO_TERMINAL_H
#define LAUNCHER_PROCESS_PSEUDO_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* A new one: both ends, closed by exec, and numbered from 10 on. 0, or -1 with a sentence. */
int pseudo_terminal_open(int *master, int *terminal, struct error *err);

/* Something that was typed waits for a program to read it; an end of file counts. */
bool pseudo_terminal_is_unread(int master);
/* Type the key that is the end of file there. */
void pseudo_terminal_type_end(int master);

/* The size of a window in one number: rows, columns, and their pixels, 16 bits each. */
uint64_t terminal_size(int fd); /* 0: it is no terminal */
void terminal_set_size(int fd, uint64_t size);

#endif
