/* Refusals of a text that end with two lines: the text, and a caret under the place that is
 * wrong. */
#ifndef TESTS_UNIT_CARET_H
#define TESTS_UNIT_CARET_H

#include <string.h>

#include "tests/unit/unit.h"

/* The caret is under letter `want` of the text, which is indented by 2. */
static inline void expect_caret(const char *text, size_t want)
{
    const char *line = strrchr(text, '\n');
    assert_non_null(line);
    size_t indent = strspn(line + 1, " ");
    if (line[1 + indent] != '^' || indent != want + 2)
        fail_msg("%s\ncaret not in column %zu", text, want);
}

#endif
