/* How far two words are apart, and the nearest of a list. */
#include "base/edit_distance.h"

#include <stdint.h>
#include <string.h>

static size_t least_of(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Optimal string alignment [Damerau 1964, Levenshtein 1966], three rows of the table at a time. */
size_t edit_distance_distance(const char *a, size_t alen, const char *b, size_t blen)
{
    size_t rows[3][EDIT_DISTANCE_MAX + 1];
    if (alen > EDIT_DISTANCE_MAX || blen > EDIT_DISTANCE_MAX)
        return SIZE_MAX;
    for (size_t j = 0; j <= blen; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= alen; i++) {
        size_t *row = rows[i % 3], *above = rows[(i - 1) % 3], *top = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= blen; j++) {
            row[j] =
                least_of(least_of(above[j], row[j - 1]) + 1, above[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = least_of(row[j], top[j - 2] + 1);
        }
    }
    return rows[alen % 3][blen];
}

size_t edit_distance_bound(size_t len)
{
    return len / 3 + 1;
}

const char *edit_distance_word(const char *const *words, const char *text, size_t len)
{
    const char *nearest = NULL;
    size_t least = edit_distance_bound(len);
    if (!len || len > EDIT_DISTANCE_MAX)
        return NULL;
    for (; *words; words++) {
        size_t own = strlen(*words);
        if (len > 1 && own > len && memcmp(*words, text, len) == 0)
            return *words;
        size_t distance = edit_distance_distance(text, len, *words, own);
        if (distance < least) {
            nearest = *words;
            least = distance;
        }
    }
    return nearest;
}
