/* The smallest parts of the text of a shape: words, quoted strings, values, items of braces. */
#include <stdlib.h>
#include <string.h>

#include "affinity/resource/shape_private.h"
#include "base/mem.h"

bool shape_is_word_char(char c)
{
    unsigned char byte = (unsigned char)c;
    return byte > ' ' && byte != 0x7f && !strchr("={}[]/;,:\"'", c);
}

bool shape_is_word(const char *text)
{
    const char *at = text;
    while (shape_is_word_char(*at))
        at++;
    return at > text && !*at;
}

enum shape_word shape_read_word(const char *text, size_t len, json_t **value)
{
    json_error_t bad;
    *value = json_loadb(text, len, JSON_DECODE_ANY, &bad);
    if (*value)
        return SHAPE_VALUE;
    return json_error_code(&bad) == json_error_numeric_overflow ? SHAPE_TOO_LARGE : SHAPE_STRING;
}

char shape_peek(struct shape_reader *in)
{
    in->at += strspn(in->shape->text + in->at, " \t\r\n");
    return in->shape->text[in->at];
}

bool shape_take(struct shape_reader *in, char c)
{
    if (shape_peek(in) != c)
        return false;
    in->at++;
    return true;
}

/* The end of the quoted string that starts at in->at; 0 where it has none. */
static size_t shape_find_quote(const struct shape_reader *in, char quote)
{
    const char *text = in->shape->text;
    for (size_t at = in->at + 1; at < in->len; at++) {
        if (text[at] == quote)
            return at + 1;
        if (text[at] == '\\' && quote == '"')
            at++;
    }
    return 0;
}

/* What stands in single quotes is taken as it is. */
static json_t *shape_read_plain(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)text[i] < ' ')
            return NULL;
    return json_stringn(text, len);
}

static json_t *shape_read_quoted(struct shape_reader *in, char quote)
{
    const char *text = in->shape->text + in->at;
    size_t end = shape_find_quote(in, quote);
    if (!end) {
        shape_bad(in, in->at, "the quote is not closed");
        return NULL;
    }
    size_t len = end - in->at;
    json_t *value = quote == '"' ? json_loadb(text, len, JSON_DECODE_ANY, NULL)
                                 : shape_read_plain(text + 1, len - 2);
    if (value)
        in->at = end;
    else
        shape_bad(in, in->at, "the quotes hold what is no JSON string");
    return value;
}

static size_t shape_word_length(const struct shape_reader *in)
{
    size_t end = in->at;
    while (shape_is_word_char(in->shape->text[end]))
        end++;
    return end - in->at;
}

static int shape_bad_word(struct shape_reader *in, const char *what)
{
    char c = shape_peek(in);
    if (!c)
        return shape_bad(in, in->at, "%s is missing at the end", what);
    return shape_bad(in, in->at, "%s is missing here; what has special characters needs quotes",
                     what);
}

char *shape_read_string(struct shape_reader *in, const char *what, bool *quoted)
{
    char c = shape_peek(in);
    if (quoted)
        *quoted = c == '"' || c == '\'';
    if (c == '"' || c == '\'') {
        json_t *value = shape_read_quoted(in, c);
        char *text = value ? mem_copy_text(json_string_value(value)) : NULL;
        json_decref(value);
        return text;
    }
    size_t len = shape_word_length(in);
    if (!len) {
        shape_bad_word(in, what);
        return NULL;
    }
    in->at += len;
    return mem_copy_text_n(in->shape->text + in->at - len, len);
}
