/*
 * filename_template - the name of an output file, with places for what differs between tasks.
 *
 * %r rank, %R rank zero-padded to the width of the largest, %h host, %n node id, %p program id,
 * %% a percent sign; every other %-letter is refused. Pure: no file is touched.
 */
#ifndef LAUNCHER_STDIO_FILENAME_TEMPLATE_H
#define LAUNCHER_STDIO_FILENAME_TEMPLATE_H

#include <stdint.h>

#include "base/error.h"

struct filename_template_fields {
    uint32_t rank;
    uint32_t ntasks;
    uint32_t node;
    const char *host;    /* NULL reads as "" */
    const char *program; /* the same */
};

/* 0, or -1 with a sentence of kind ERROR_USAGE. */
int filename_template_check(const char *text, struct error *err);

/* The name for these fields; the caller frees it. The text must have passed
 * filename_template_check(). */
char *filename_template_expand(const char *text, const struct filename_template_fields *fields);

#endif
