/* Slurm's lists of nodes and counts, for slurm_job.c. */
#include "launcher/source/slurm_nodelist.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "affinity/sets/hostlist.h"
#include "base/mem.h"
#include "launcher/source/batch_nodelist.h"
#include "launcher/spec/field_words.h"

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
    if (depth == SLURM_MAX_GROUPS)
        return error_set(err, "\"%.80s\": a name has at most %d pairs of brackets", name,
                         SLURM_MAX_GROUPS);
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

/* Names end at commas that are not in brackets. */
static int slurm_names(struct hostlist *list, const char *text, struct error *err)
{
    for (;;) {
        size_t len = 0;
        for (bool inside = false; text[len] && (inside || text[len] != ','); len++)
            inside = text[len] == '[' || (inside && text[len] != ']');
        char *name = mem_copy_text_n(text, len);
        int rc = len ? slurm_expand(list, name, 0, err)
                     : error_set(err, "missing name before \"%.80s\"", text);
        free(name);
        if (rc < 0 || !text[len])
            return rc;
        text += len + 1;
    }
}

struct hostfile *slurm_nodelist_hosts(const char *nodelist, struct error *err)
{
    struct hostlist *list = hostlist_new();
    struct hostfile *file = mem_alloc(sizeof(*file));
    int rc = *nodelist ? slurm_names(list, nodelist, err) : 0;
    for (size_t i = 0; rc == 0 && i < hostlist_count(list); i++)
        rc = hostfile_add(file, hostlist_nth(list, i), 0, err);
    hostlist_free(list);
    return batch_nodelist_finish(file, rc, err);
}

static int slurm_bad_count(const char *text, struct error *err)
{
    return error_set(err, "\"%.80s\" is not a count (expected N or N(xTIMES))", text);
}

/* Decimal digits at *text, which moves behind them. `count` is the text that they are part of. */
static int slurm_number(const char **text, const char *count, uint32_t *number, struct error *err)
{
    size_t len = strspn(*text, "0123456789");
    if (!len)
        return slurm_bad_count(count, err);
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
    if (slurm_number(text, start, count, err) < 0)
        return -1;
    if (strncmp(*text, "(x", 2) == 0) {
        *text += 2;
        if (slurm_number(text, start, times, err) < 0)
            return -1;
        if (*(*text)++ != ')')
            return error_set(err, "\"%.80s\": a bracket is not closed", start);
    }
    if (**text && **text != ',')
        return slurm_bad_count(start, err);
    return 0;
}

int slurm_nodelist_counts(struct hostfile *hosts, const char *counts, struct error *err)
{
    size_t done = 0;
    for (const char *at = counts;; at++) {
        uint32_t count = 0, times = 0;
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
