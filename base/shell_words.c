/* A line as words, quoted as in a shell. */
#include "base/shell_words.h"

#include <stdbool.h>
#include <string.h>

#include "base/buf.h"
#include "base/string_list.h"

static const char words_blanks[] = " \t\n\r";

/* *at is behind the opening quote; afterwards behind the closing one. False at the end of text. */
static bool words_quoted(const char **at, char quote, struct buf *word)
{
    for (; **at && **at != quote; (*at)++) {
        bool escaped = quote == '"' && **at == '\\' && ((*at)[1] == '"' || (*at)[1] == '\\');
        *at += escaped;
        buf_add_char(word, **at);
    }
    return *(*at)++ == quote;
}

/* One word from a character that is not blank; false with a sentence. */
static bool words_next(const char **at, struct buf *word, struct error *err)
{
    while (**at && !strchr(words_blanks, **at)) {
        const char *start = *at;
        char c = *(*at)++;
        if ((c == '\'' || c == '"') && !words_quoted(at, c, word)) {
            error_set(err, "the quote at %.20s is not closed", start);
            return false;
        }
        if (c == '\'' || c == '"')
            continue;
        if (c == '\\' && !**at) {
            error_set(err, "a lone backslash stands at the end: write \\\\ for one");
            return false;
        }
        buf_add_char(word, c == '\\' ? *(*at)++ : c);
    }
    return true;
}

char **shell_words_split(const char *text, struct error *err)
{
    struct string_list words = {0};
    const char *at = text + strspn(text, words_blanks);
    while (*at) {
        struct buf word = BUF_INIT;
        if (!words_next(&at, &word, err)) {
            buf_free(&word);
            string_list_clear(&words);
            return NULL;
        }
        string_list_add(&words, buf_take_text(&word));
        at += strspn(at, words_blanks);
    }
    return string_list_take(&words);
}
