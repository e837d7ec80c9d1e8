/*
 * excerpt - untrusted text as it may stand in a sentence: quoted, short, printable.
 *
 * By value, so that it can be written in place: error_set(err, "%s is no id", excerpt(s, n).text).
 */
#ifndef AFFINITY_RESOURCE_EXCERPT_H
#define AFFINITY_RESOURCE_EXCERPT_H

#include <stddef.h>

#define EXCERPT_MAX 64 /* bytes of the original that are shown */

struct excerpt {
    char text[EXCERPT_MAX + 8];
};

/* "text" in double quotes; control characters become '?', what is cut off becomes "...". */
struct excerpt excerpt(const char *text, size_t len);

#endif
