/*
 * number - decimal numbers as text.
 */
#ifndef BASE_NUMBER_H
#define BASE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The digits at the beginning of a text, which goes to `end` or, with NULL, to a NUL: how many
 * there are, and what they say. What is above `max`, which is below UINT64_MAX, is max + 1. Takes
 * neither sign nor blanks; leading zeros count as digits. */
size_t number_read(const char *text, const char *end, uint64_t max, uint64_t *value);

/* The whole text, which is nothing but digits; false when it is not, or above `max`. */
bool number_parse(const char *text, uint64_t max, uint64_t *value);

/* The whole text as a decimal integer, one sign allowed; false when it is none, or none that an int
 * holds. */
bool number_parse_int(const char *text, int *value);

#endif
