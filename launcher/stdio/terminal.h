/*
 * terminal - what tprun itself says, on its way out.
 *
 * Diagnostics, notes, pictures and all else that these programs print (but not what tasks write)
 * leave through these functions or, while tasks run, through output_say(), and through no others
 * but launcher/frontend/progress and launcher/tpctl/tpctl_top, whose lines move the cursor. Each
 * makes the text printable (base/printable.h), since parts of it come from files, hosts, variables
 * and command lines.
 */
#ifndef LAUNCHER_STDIO_TERMINAL_H
#define LAUNCHER_STDIO_TERMINAL_H

#include <stddef.h>
#include <stdio.h>

#include "base/buf.h"

/* All of it, as it is but for being printable; waits where the descriptor is non-blocking. 0, or
 * an errno. */
int terminal_print(int fd, const char *text, size_t len);

/* The same as a stream, for text that may be long; fclose() writes the rest. NULL without
 * memory. */
FILE *terminal_stream(int fd);

/* Add each line of the text, behind "PROGRAM: ". */
void terminal_lines(struct buf *lines, const char *program, const char *text, size_t len);
/* These lines on stderr, behind "PROGRAM: ". Nothing for an empty text. */
void terminal_complain(const char *program, const char *text, size_t len);

#endif
