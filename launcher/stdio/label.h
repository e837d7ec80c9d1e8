/*
 * label - "RANK: " before each line on its way into a sink.
 */
#ifndef LAUNCHER_STDIO_LABEL_H
#define LAUNCHER_STDIO_LABEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "launcher/stdio/sink.h"

/* `inside`: the first byte goes on with a line that has its label already. */
void label_put(struct sink *sink, uint32_t rank, const char *bytes, size_t len, bool inside);

#endif
