/* Decimal numbers in what users and clients say: never wrapped, never cut short. */
#include "base/number.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define SAFE_DIGITS 19 /* any number of 19 digits fits into 64 bits */

size_t number_read(const char *text, const char *end, uint64_t max, uint64_t *value)
{
    const char *at = text;
    uint64_t number = 0;
    bool above = false;
    for (; (!end || at < end) && *at >= '0' && *at <= '9'; at++) {
        uint64_t digit = (uint64_t)(*at - '0');
        if (at - text < SAFE_DIGITS)
            number = number * 10 + digit;
        else
            above = above || __builtin_mul_overflow(number, 10, &number) ||
                    __builtin_add_overflow(number, digit, &number);
    }
    *value = above || number > max ? max + 1 : number;
    return (size_t)(at - text);
}

bool number_parse(const char *text, uint64_t max, uint64_t *value)
{
    size_t digits = number_read(text, NULL, max, value);
    return digits && !text[digits] && *value <= max;
}

bool number_parse_int(const char *text, int *value)
{
    const char *digits = text + (*text == '-' || *text == '+');
    if (!isdigit((unsigned char)*digits) || strlen(digits) > 10)
        return false;
    char *end;
    long long number = strtoll(text, &end, 10);
    if (*end || number < INT_MIN || number > INT_MAX)
        return false;
    *value = (int)number;
    return true;
}
