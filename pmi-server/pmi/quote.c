/* Untrusted text for error messages. */
#include "pmi-server/pmi/quote.h"

#include <stdio.h>
#include <string.h>

const char *quote_text(char quote[QUOTE_SIZE], const char *text, size_t len)
{
    size_t used = 0;
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        if (used + 8 > QUOTE_SIZE) { /* "\xNN", "..." and the NUL */
            memcpy(quote + used, "...", 3);
            used += 3;
            break;
        }
        if (c == '"' || c == '\\')
            used += (size_t)sprintf(quote + used, "\\%c", c);
        else if (c && (c < ' ' || c > '~'))
            used += (size_t)sprintf(quote + used, "\\x%02x", c);
        else
            quote[used++] = c ? (char)c : ' ';
    }
    quote[used] = '\0';
    return quote;
}
