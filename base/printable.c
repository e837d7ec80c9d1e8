/* Untrusted text with all that a terminal would obey written as an escape. */
#include "base/printable.h"

#include <stdbool.h>
#include <stdint.h>

/* Length of the UTF-8 sequence that begins at `at` and ends before `end`; 0: the bytes are no
 * UTF-8. Overlong forms and surrogates are no UTF-8. */
static size_t utf8_decode(const unsigned char *at, const unsigned char *end, uint32_t *code)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t len = at[0] < 0x80 ? 1 : at[0] < 0xc2 ? 0 : at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : 4;
    if (!len || at[0] > 0xf4 || len > (size_t)(end - at))
        return 0;
    *code = len == 1 ? at[0] : at[0] & (0xffu >> (len + 1));
    for (size_t i = 1; i < len; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return 0;
        *code = *code << 6 | (at[i] & 0x3f);
    }
    bool surrogate = *code >= 0xd800 && *code < 0xe000;
    return surrogate || *code > 0x10ffff || *code < least[len] ? 0 : len;
}

/* Unicode's Bidi_Control, the separators of lines, and two that are no characters. */
static bool is_hidden(uint32_t code, enum printable_kind kind)
{
    static const struct {
        uint32_t first, last;
    } hidden[] = {{0x7f, 0x9f},     {0x61c, 0x61c},   {0x200e, 0x200f},
                  {0x2028, 0x202e}, {0x2066, 0x2069}, {0xfffe, 0xffff}};
    if (code < ' ')
        return kind == PRINTABLE_WORD || (code != '\n' && code != '\t');
    for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++)
        if (code >= hidden[i].first && code <= hidden[i].last)
            return true;
    return false;
}

void printable_add(struct buf *out, const char *text, size_t len, enum printable_kind kind)
{
    const unsigned char *at = (const unsigned char *)text, *end = at + len, *plain = at;
    while (at < end) {
        uint32_t code = 0;
        if (*at >= ' ' && *at < 0x7f) {
            at++;
            continue;
        }
        size_t size = utf8_decode(at, end, &code);
        if (size && !is_hidden(code, kind)) {
            at += size;
            continue;
        }
        buf_add(out, plain, (size_t)(at - plain));
        if (size && code >= ' ')
            buf_printf(out, "\\u%04x", code);
        else
            buf_printf(out, "\\x%02x", *at);
        at += size ? size : 1;
        plain = at;
    }
    buf_add(out, plain, (size_t)(at - plain));
}
