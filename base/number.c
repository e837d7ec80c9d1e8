#include "base/number.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

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
