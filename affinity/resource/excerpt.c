#include "affinity/resource/excerpt.h"

#include <string.h>

/* Where to cut: not inside a UTF-8 sequence. */
static size_t excerpt_cut(const char *text, size_t len)
{
    if (len <= EXCERPT_MAX)
        return len;
    size_t cut = EXCERPT_MAX;
    while (cut > EXCERPT_MAX - 4 && ((unsigned char)text[cut] & 0xc0) == 0x80)
        cut--;
    return cut;
}

struct excerpt excerpt(const char *text, size_t len)
{
    struct excerpt out;
    size_t cut = excerpt_cut(text, len), at = 0;
    out.text[at++] = '"';
    for (size_t i = 0; i < cut; i++) {
        unsigned char c = (unsigned char)text[i];
        out.text[at++] = c < 0x20 || c == 0x7f ? '?' : (char)c;
    }
    out.text[at++] = '"';
    strcpy(out.text + at, cut < len ? "..." : "");
    return out;
}
