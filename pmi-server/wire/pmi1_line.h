/*
 * pmi1_line - one line of PMI-1 (RFC 13, Protocol Definition): "cmd=NAME name=value ...".
 *
 * Used by the server and by the client library, so it needs nothing but libc.
 *
 * Fields may stand in any order, with any white space between them; words without '=' are
 * skipped. A value ends at white space, but `value` (after a `key` or an `rc`) and `message` run
 * to the end of the line, as the RFC lets them hold spaces. Of two fields with one name the first
 * counts. At most PMI1_MAX_FIELDS are kept; no request has that many.
 */
#ifndef PMI_SERVER_WIRE_PMI1_LINE_H
#define PMI_SERVER_WIRE_PMI1_LINE_H

#include <stdbool.h>
#include <stddef.h>

#define PMI1_MAX_FIELDS 16

struct pmi1_field {
    const char *name; /* not terminated */
    size_t name_len;
    const char *value; /* terminated */
    size_t value_len;
};

struct pmi1_line {
    struct pmi1_field fields[PMI1_MAX_FIELDS];
    size_t count;
};

/* Take the line apart, in place: white space after values becomes NUL, and so does text[len], which
 * the newline occupied. The fields point into text. False when the line holds a NUL. */
bool pmi1_line_parse(struct pmi1_line *line, char *text, size_t len);

/* The field of that name, or NULL. */
const struct pmi1_field *pmi1_line_field(const struct pmi1_line *line, const char *name);
/* Its value, or NULL. */
const char *pmi1_line_value(const struct pmi1_line *line, const char *name);
/* Its value as a decimal integer; false when it is absent, no number, or none that an int holds. */
bool pmi1_line_int(const struct pmi1_line *line, const char *name, int *value);

#endif
