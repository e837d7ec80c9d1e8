#include "launcher/source/batch_nodelist.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "affinity/sets/hostlist.h"
#include "base/mem.h"
#include "launcher/spec/field_words.h"

static const char batch_blanks[] = " \t\r\f\v";

/* The file, or NULL when something was wrong with it or it names nobody. */
static struct hostfile *batch_finish(struct hostfile *file, int rc, struct error *err)
{
    if (rc == 0 && !file->count)
        rc = error_set(err, "it names no host");
    if (rc == 0)
        return file;
    hostfile_free(file);
    return NULL;
}

/* ---- Slurm's hostlist ---- */

static int slurm_expand(struct hostlist *list, const char *name, unsigned depth, struct error *err);

/* head[range]rest for one range. Ranges are read one by one because in Slurm, unlike in RFC 29, each
 * has a width of its own. What stands before the last brackets is expanded first. */
static int slurm_range(struct hostlist *list, const char *head, const char *rest, unsigned depth,
                       struct error *err)
{
    if (!strchr(rest, '[')) {
        char *text = mem_format("%s%s", head, rest);
        int rc = hostlist_append_text(list, text, err);
        free(text);
        return rc;
    }
    struct hostlist *heads = hostlist_decode(head, err);
    int rc = heads ? 0 : -1;
    for (size_t i = 0; rc == 0 && i < hostlist_count(heads); i++) {
        char *name = mem_format("%s%s", hostlist_nth(heads, i), rest);
        rc = slurm_expand(list, name, depth + 1, err);
        free(name);
    }
    hostlist_free(heads);
    return rc;
}

static int slurm_expand(struct hostlist *list, const char *name, unsigned depth, struct error *err)
{
    const char *open = strchr(name, '['), *close = open ? strchr(open, ']') : NULL;
    if (!open || !close)
        return hostlist_append_text(list, name, err);
    if (depth == BATCH_MAX_GROUPS)
        return error_set(err, "\"%.80s\": a name has at most %d pairs of brackets", name,
                         BATCH_MAX_GROUPS);
    for (const char *at = open + 1; at <= close;) {
        size_t len = strcspn(at, ",]");
        char *head = mem_format("%.*s[%.*s]", (int)(open - name), name, (int)len, at);
        int rc = slurm_range(list, head, close + 1, depth, err);
        free(head);
        if (rc < 0)
            return -1;
        at += len + 1;
    }
    return 0;
}

/* Up to the next comma that is not in brackets. */
static size_t slurm_name_length(const char *text)
{
    size_t len = 0;
    for (bool inside = false; text[len] && (inside || text[len] != ','); len++)
        inside = text[len] == '[' || (inside && text[len] != ']');
    return len;
}

static int slurm_names(struct hostlist *list, const char *text, struct error *err)
{
    for (;;) {
        size_t len = slurm_name_length(text);
        char *name = mem_copy_text_n(text, len);
        int rc = len ? slurm_expand(list, name, 0, err)
                     : error_set(err, "missing name before \"%.80s\"", text);
        free(name);
        if (rc < 0 || !text[len])
            return rc;
        text += len + 1;
    }
}

struct hostfile *batch_slurm_hosts(const char *nodelist, struct error *err)
{
    struct hostlist *list = hostlist_new();
    struct hostfile *file = mem_alloc(sizeof(*file));
    int rc = *nodelist ? slurm_names(list, nodelist, err) : 0;
    for (size_t i = 0; rc == 0 && i < hostlist_count(list); i++)
        rc = hostfile_add(file, hostlist_nth(list, i), 0, err);
    hostlist_free(list);
    return batch_finish(file, rc, err);
}

/* ---- Slurm's counts ---- */

/* Decimal digits at *text, which moves behind them. */
static int slurm_number(const char **text, uint32_t *number, struct error *err)
{
    size_t len = strspn(*text, "0123456789");
    char *digits = mem_copy_text_n(*text, len);
    int rc = spec_number_decode(digits, SPEC_MAX_NUMBER, number, err);
    free(digits);
    *text += len;
    return rc;
}

/* "72" or "72(x2)". */
static int slurm_count(const char **text, uint32_t *count, uint32_t *times, struct error *err)
{
    const char *start = *text;
    *times = 1;
    if (slurm_number(text, count, err) < 0)
        return -1;
    if (strncmp(*text, "(x", 2) == 0) {
        *text += 2;
        if (slurm_number(text, times, err) < 0)
            return -1;
        if (*(*text)++ != ')')
            return error_set(err, "\"%.80s\": a bracket is not closed", start);
    }
    if (**text && **text != ',')
        return error_set(err, "\"%.80s\" is not a count (expected N or N(xTIMES))", start);
    return 0;
}

int batch_slurm_counts(struct hostfile *hosts, const char *counts, struct error *err)
{
    size_t done = 0;
    for (const char *at = counts;; at++) {
        uint32_t count, times;
        if (slurm_count(&at, &count, &times, err) < 0)
            return -1;
        if (times > hosts->count - done)
            return error_set(err, "has counts for more than the %zu nodes", hosts->count);
        while (times--)
            hosts->entries[done++].limit = count;
        if (!*at)
            break;
    }
    if (done == hosts->count)
        return 0;
    return error_set(err, "has counts for %zu of the %zu nodes", done, hosts->count);
}

/* ---- files and pairs ---- */

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
    return batch_finish(file, rc, err);
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
    return batch_finish(file, rc, err);
}
