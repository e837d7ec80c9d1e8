/*
 * line_label - "RANK: " before each line on its way into a sink, and the time before that.
 */
#ifndef LAUNCHER_STDIO_LINE_LABEL_H
#define LAUNCHER_STDIO_LINE_LABEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "launcher/stdio/nonblocking_writer.h"

enum { LINE_LABEL_RANK = 1, LINE_LABEL_TIME = 2 };

/* `labels` is a set of LINE_LABEL_*. The time is that of the loop, local: 2026-11-22T22:29:55.123.
 * A carriage return without newline goes back to where the label is: it is written again.
 * `inside`: the first byte goes on with a line that has its label already. */
void line_label_put(struct nonblocking_writer *sink, unsigned labels, uint32_t rank,
                    const char *bytes, size_t len, bool inside);

#endif
