/*
 * number - numbers in what clients say, whatever they speak.
 */
#ifndef BASE_NUMBER_H
#define BASE_NUMBER_H

#include <stdbool.h>

/* The whole text as a decimal integer, one sign allowed; false when it is none, or none that an int
 * holds. */
bool number_parse_int(const char *text, int *value);

#endif
