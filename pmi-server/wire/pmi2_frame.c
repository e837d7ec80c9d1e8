/* Frames of PMI-2, taken apart in place. */
#include "pmi-server/wire/pmi2_frame.h"

#include <ctype.h>
#include <string.h>

#include "base/number.h"

long pmi2_length(const char head[PMI2_HEAD])
{
    long length = 0;
    int at = 0, first;
    while (at < PMI2_HEAD && head[at] == ' ')
        at++;
    for (first = at; at < PMI2_HEAD && isdigit((unsigned char)head[at]); at++)
        length = length * 10 + (head[at] - '0');
    if (at == first || !length)
        return -1;
    while (at < PMI2_HEAD && head[at] == ' ')
        at++;
    return at == PMI2_HEAD ? length : -1;
}

void pmi2_put_length(char head[PMI2_HEAD], size_t len)
{
    for (int at = PMI2_HEAD; at-- > 0; len /= 10)
        head[at] = len || at == PMI2_HEAD - 1 ? (char)('0' + len % 10) : ' ';
}

/* The value from `at` on is moved to `to`, undoubled. Returns what is behind its end, or NULL. */
static char *take_value(char *at, const char *end, char **to)
{
    for (; at < end; at++) {
        if (*at == ';' && (at + 1 == end || at[1] != ';')) {
            *(*to)++ = '\0';
            return at + 1;
        }
        at += *at == ';';
        *(*to)++ = *at;
    }
    return NULL;
}

bool pmi2_frame_parse(struct pmi2_frame *frame, char *body, size_t len)
{
    char *at = body, *to = body, *end = body + len;
    *frame = (struct pmi2_frame){.fields = body};
    if (memchr(body, '\0', len))
        return false;
    while (at < end) {
        char *equals = memchr(at, '=', (size_t)(end - at));
        if (!equals || equals == at || memchr(at, ';', (size_t)(equals - at)))
            return false;
        size_t name_len = (size_t)(equals - at);
        memmove(to, at, name_len);
        to += name_len;
        *to++ = '\0';
        at = take_value(equals + 1, end, &to);
        if (!at)
            return false;
        frame->count++;
    }
    return true;
}

void pmi2_field_next(const char **at, const char **name, const char **value)
{
    *name = *at;
    *value = *name + strlen(*name) + 1;
    *at = *value + strlen(*value) + 1;
}

const char *pmi2_value(const struct pmi2_frame *frame, const char *name)
{
    const char *at = frame->fields, *field, *value;
    for (size_t i = 0; i < frame->count; i++) {
        pmi2_field_next(&at, &field, &value);
        if (!strcmp(field, name))
            return value;
    }
    return NULL;
}

bool pmi2_int(const struct pmi2_frame *frame, const char *name, int *value)
{
    const char *text = pmi2_value(frame, name);
    return text && number_parse_int(text, value);
}

bool pmi2_bool(const struct pmi2_frame *frame, const char *name, bool absent)
{
    const char *text = pmi2_value(frame, name);
    if (!text || (strcmp(text, "TRUE") != 0 && strcmp(text, "FALSE") != 0))
        return absent;
    return *text == 'T';
}
