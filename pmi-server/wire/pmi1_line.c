/* Lines of PMI-1, taken apart in place. */
#include "pmi-server/wire/pmi1_line.h"

#include <string.h>

#include "base/number.h"

/* A field `name` runs to the end of the line if a field `after` stands before it. */
static const struct {
    const char *name, *after;
} tails[] = {
    {"value", "key"},
    {"value", "rc"},
    {"message", "cmd"},
};

static bool is_space(char c)
{
    return c == ' ' || c == '\t';
}

static bool field_is_tail(const struct pmi1_line *line, const struct pmi1_field *field)
{
    for (size_t i = 0; i < sizeof(tails) / sizeof(tails[0]); i++)
        if (field->name_len == strlen(tails[i].name) &&
            !memcmp(field->name, tails[i].name, field->name_len) &&
            pmi1_line_field(line, tails[i].after))
            return true;
    return false;
}

/* The word [at, end) begins a field; returns where to go on. */
static char *line_add(struct pmi1_line *line, char *at, char *word_end, char *end)
{
    char *equals = memchr(at, '=', (size_t)(word_end - at));
    if (!equals || equals == at)
        return word_end;
    struct pmi1_field field = {.name = at, .name_len = (size_t)(equals - at), .value = equals + 1};
    if (field_is_tail(line, &field))
        word_end = end;
    field.value_len = (size_t)(word_end - field.value);
    *word_end = '\0';
    if (line->count < PMI1_MAX_FIELDS)
        line->fields[line->count++] = field;
    return word_end < end ? word_end + 1 : end;
}

bool pmi1_line_parse(struct pmi1_line *line, char *text, size_t len)
{
    char *at = text, *end = text + len;
    line->count = 0;
    if (memchr(text, '\0', len))
        return false;
    while (at < end) {
        if (is_space(*at)) {
            at++;
            continue;
        }
        char *word_end = at;
        while (word_end < end && !is_space(*word_end))
            word_end++;
        at = line_add(line, at, word_end, end);
    }
    *end = '\0';
    return true;
}

const struct pmi1_field *pmi1_line_field(const struct pmi1_line *line, const char *name)
{
    size_t len = strlen(name);
    for (size_t i = 0; i < line->count; i++)
        if (line->fields[i].name_len == len && !memcmp(line->fields[i].name, name, len))
            return &line->fields[i];
    return NULL;
}

const char *pmi1_line_value(const struct pmi1_line *line, const char *name)
{
    const struct pmi1_field *field = pmi1_line_field(line, name);
    return field ? field->value : NULL;
}

bool pmi1_line_int(const struct pmi1_line *line, const char *name, int *value)
{
    const char *text = pmi1_line_value(line, name);
    return text && number_parse_int(text, value);
}
