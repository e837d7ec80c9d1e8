/*
 * terminal_escape - what is typed for tprun itself, between what is typed for a program on its
 * terminal.
 *
 * At the beginning of a line a tilde is the first of two keys, as ssh has it: "~." ends the
 * program, "~^Z" suspends tprun, "~?" is help, "~~" is one tilde. With any other key the two are
 * the program's. A line begins at first, and after a carriage return or a newline that was typed.
 */
#ifndef LAUNCHER_STDIO_TERMINAL_ESCAPE_H
#define LAUNCHER_STDIO_TERMINAL_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

enum terminal_escape_action {
    TERMINAL_ESCAPE_NONE,
    TERMINAL_ESCAPE_END,
    TERMINAL_ESCAPE_SUSPEND,
    TERMINAL_ESCAPE_HELP
};

extern const char terminal_escape_help[]; /* lines */

struct terminal_escape { /* zeroed at first */
    bool inside_line;
    bool tilde; /* was typed, and waits for the second key */
};

/* Adds what is for the program of these bytes to `out`, up to the first action, and returns that;
 * *used says how many bytes were read. Without an action all are. */
enum terminal_escape_action terminal_escape_read(struct terminal_escape *escape, const char *bytes,
                                                 size_t len, size_t *used, struct buf *out);

#endif
