/* Durations from and to text: "1.5h", "200ms", "inf" (RFC 23). */
#include "base/duration.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static const struct fsd_unit {
    const char *suffix;
    double seconds;
} fsd_units[] = {{"", 1}, {"ms", 1e-3}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}};

#define FSD_UNITS (sizeof(fsd_units) / sizeof(fsd_units[0]))

static int fsd_bad(const char *text, struct error *err)
{
    return error_set(
        err, "\"%s\" is not a duration (expected a number with ms, s, m, h or d, or inf)", text);
}

int duration_decode(const char *text, double *seconds, struct error *err)
{
    char *end;
    if (isspace((unsigned char)text[0]) || text[0] == '+')
        return fsd_bad(text, err);
    double value = strtod(text, &end);
    if (end == text || isnan(value) || value < 0 || signbit(value))
        return fsd_bad(text, err);
    bool endless = text[0] == 'i' || text[0] == 'I';
    if (endless && *end)
        return fsd_bad(text, err);
    for (size_t i = 0; i < FSD_UNITS; i++) {
        if (strcmp(end, fsd_units[i].suffix) == 0) {
            value *= fsd_units[i].seconds;
            if (isinf(value) && !endless) /* 1e400: too large for a double */
                break;
            *seconds = value;
            return 0;
        }
    }
    return fsd_bad(text, err);
}

char *duration_encode(double seconds)
{
    if (isinf(seconds))
        return mem_copy_text("inf");
    if (seconds > 0 && seconds < 1)
        return mem_format("%.6gms", seconds * 1e3);
    for (size_t i = FSD_UNITS - 1; i > 2; i--) {
        double count = seconds / fsd_units[i].seconds;
        if (count >= 1 && count == floor(count))
            return mem_format("%.15g%s", count, fsd_units[i].suffix);
    }
    return mem_format("%.15gs", seconds);
}
