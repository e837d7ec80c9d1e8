/*
 * duration - durations as text (RFC 23, Flux Standard Duration).
 *
 * NUMBER[ms|s|m|h|d], seconds without a suffix; "inf" and "infinity" take none. Values are
 * seconds, 0 or more, possibly INFINITY.
 */
#ifndef BASE_DURATION_H
#define BASE_DURATION_H

#include "base/error.h"

/* Returns 0, or -1 with a sentence that quotes the text. */
int duration_decode(const char *text, double *seconds, struct error *err);

/* Canonical text ("1.5s", "10m", "inf"); caller frees. */
char *duration_encode(double seconds);

#endif
