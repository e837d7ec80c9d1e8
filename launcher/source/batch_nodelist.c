/* Hosts and counts as batch systems write them, for batch_files.c. */
#include "launcher/source/batch_nodelist.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "launcher/spec/field_words.h"

static const char batch_blanks[] = " \t\r\f\v";

struct hostfile *batch_nodelist_finish(struct hostfile *file, int rc, struct error *err)
{
    if (rc == 0 && !file->count)
        rc = error_set(err, "it names no host");
    if (rc == 0)
        return file;
    hostfile_free(file);
    return NULL;
}

/* The next word of *rest, which is cut up; NULL behind the last. */
static char *batch_nodelist_word_next(char **rest)
{
    char *word;
    do
        word = strsep(rest, batch_blanks);
    while (word && !*word);
    return word;
}

/* A line of blank-separated words: a host, and where there is a count in the second place, that. */
static int line_read(struct hostfile *file, char *line, bool counted, struct error *err)
{
    const char *host = batch_nodelist_word_next(&line), *second = batch_nodelist_word_next(&line);
    uint32_t count = 1;
    if (!host)
        return 0;
    if (!counted && second)
        return error_set(
            err, "unexpected \"%.80s\" after the host (expected one host in each line)", second);
    if (counted && !second)
        return error_set(err, "missing count of slots after \"%.80s\"", host);
    if (counted && spec_number_decode(second, SPEC_MAX_NUMBER, &count, err) < 0)
        return -1;
    return hostfile_add(file, host, count, err);
}

static struct hostfile *lines_read(const char *text, size_t len, bool counted, struct error *err)
{
    struct hostfile *file = mem_alloc(sizeof(*file));
    const char *end = text + len;
    int rc = 0;
    for (size_t number = 1; text < end && rc == 0; number++) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        size_t length = (size_t)((newline ? newline : end) - text);
        char *line = mem_copy_text_n(text, length);
        rc = strlen(line) == length ? line_read(file, line, counted, err)
                                    : error_set(err, "contains a zero byte");
        if (rc < 0)
            error_prefix(err, "line %zu", number);
        free(line);
        text += length + (newline != NULL);
    }
    return batch_nodelist_finish(file, rc, err);
}

struct hostfile *batch_slots(const char *text, size_t len, struct error *err)
{
    return lines_read(text, len, false, err);
}

struct hostfile *batch_table(const char *text, size_t len, struct error *err)
{
    return lines_read(text, len, true, err);
}

struct hostfile *batch_pairs(const char *text, struct error *err)
{
    struct hostfile *file = mem_alloc(sizeof(*file));
    char *copy = mem_copy_text(text), *rest = copy;
    int rc = 0;
    for (const char *host; rc == 0 && (host = batch_nodelist_word_next(&rest));) {
        const char *digits = batch_nodelist_word_next(&rest);
        uint32_t count;
        if (!digits)
            rc = error_set(err, "missing count after \"%.80s\"", host);
        else if (spec_number_decode(digits, SPEC_MAX_NUMBER, &count, err) < 0)
            rc = -1;
        else
            rc = hostfile_add(file, host, count, err);
    }
    free(copy);
    return batch_nodelist_finish(file, rc, err);
}
