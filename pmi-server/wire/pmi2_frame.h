/*
 * pmi2_frame - one frame of PMI-2: six characters of decimal length, then
 * "cmd=NAME;name=value;...".
 *
 * Used by the server and by the client library, so it needs nothing but libc.
 *
 * The length is padded with spaces on either side: launchers and libraries differ. A ';' inside a
 * value is doubled. Values may hold anything else but a NUL. Names are not empty.
 */
#ifndef PMI_SERVER_WIRE_PMI2_FRAME_H
#define PMI_SERVER_WIRE_PMI2_FRAME_H

#include <stdbool.h>
#include <stddef.h>

#define PMI2_HEAD 6 /* bytes of the length */

/* The length of the body, or -1 when these six bytes are none, or say 0. */
long pmi2_length(const char head[PMI2_HEAD]);
void pmi2_put_length(char head[PMI2_HEAD], size_t len); /* at most 999999 */

struct pmi2_frame {
    const char *fields; /* name, NUL, value, NUL, and so on */
    size_t count;
};

/* Take the body apart, in place. False when it is malformed. */
bool pmi2_frame_parse(struct pmi2_frame *frame, char *body, size_t len);

/* Step through the fields; *at begins as frame->fields. The caller counts. */
void pmi2_field_next(const char **at, const char **name, const char **value);
/* The value of the first field of that name, or NULL. */
const char *pmi2_value(const struct pmi2_frame *frame, const char *name);
/* The same as a decimal integer; false when it is absent, or no integer. */
bool pmi2_int(const struct pmi2_frame *frame, const char *name, int *value);
/* The same as TRUE or FALSE; anything else is `absent`. */
bool pmi2_bool(const struct pmi2_frame *frame, const char *name, bool absent);

#endif
