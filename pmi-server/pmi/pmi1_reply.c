#include "pmi-server/pmi/pmi1_reply.h"

#include <string.h>

const char *pmi1_unsayable(const char *text, size_t len, size_t room, bool word)
{
    if (len >= room)
        return "value_too_long";
    if (memchr(text, '\n', len))
        return "value_has_a_newline";
    return word && strpbrk(text, " \t") ? "value_has_spaces" : NULL;
}
