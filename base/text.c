/* Parts of a text for messages: an excerpt, and a caret under a byte. */
#include "base/text.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"

struct excerpt excerpt(const char *text, size_t len)
{
    struct excerpt out;
    struct buf shown = BUF_INIT;
    size_t cut = len < EXCERPT_MAX ? len : EXCERPT_MAX; /* not inside a UTF-8 sequence */
    while (cut < len && cut > EXCERPT_MAX - 4 && ((unsigned char)text[cut] & 0xc0) == 0x80)
        cut--;
    printable_add(&shown, text, cut, PRINTABLE_WORD);
    snprintf(out.text, sizeof(out.text), "\"%s\"%s", buf_text(&shown), cut < len ? "..." : "");
    buf_free(&shown);
    return out;
}

struct pointer pointer(const char *text, size_t len, size_t at)
{
    static const char cut[] = "...", indent[] = "\n  ";
    struct pointer out;
    size_t first = len <= POINTER_WIDTH || at <= POINTER_WIDTH / 2 ? 0 : at - POINTER_WIDTH / 2;
    if (first + POINTER_WIDTH > len)
        first = len <= POINTER_WIDTH ? 0 : len - POINTER_WIDTH;
    size_t end = first + POINTER_WIDTH < len ? first + POINTER_WIDTH : len;
    char *to = stpcpy(stpcpy(out.text, indent), first ? cut : "");
    for (size_t i = first; i < end; i++)
        *to++ = text[i] < ' ' || text[i] > '~' ? '?' : text[i];
    to = stpcpy(stpcpy(to, end < len ? cut : ""), indent);
    size_t column = at - first + (first ? strlen(cut) : 0);
    memset(to, ' ', column);
    strcpy(to + column, "^");
    return out;
}

const char *text_plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

char *text_size(uint64_t bytes)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    double size = (double)bytes;
    size_t unit = 0;
    for (; size >= 1024 && unit < 4; unit++)
        size /= 1024;
    return mem_format("%.4g %s", size, units[unit]);
}
