/* Rank files: lines to entries, entries to a table by rank, and the elements of slot lists. */
#include "affinity/policy/rankfile.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "affinity/taskmap/taskmap.h"
#include "affinity/sets/hostlist.h"
#include "affinity/sets/idset.h"
#include "affinity/topology/topo.h"
#include "base/hash_table.h"
#include "base/array.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/text.h"

#define RIGHT "expected \"rank N=HOST slot=LIST\" or \"RANK HOST CPUS\""

/* A rank as it was read; ranks are sorted when all are there. */
struct entry {
    struct rankfile_rank rank;
    uint32_t number;
};

struct reader {
    struct rankfile *file;
    struct hash_table names; /* of hosts */
    struct entry *entries;
    size_t nentries;
    uint32_t number; /* of the line */
    const char *line, *end;
    const char *at;
    struct error *err;
};

static int line_refuse(const struct reader *reader, const char *at, const char *why)
{
    size_t len = (size_t)(reader->end - reader->line);
    return error_usage(reader->err, "%s:%u: %s%s", reader->file->name, reader->number, why,
                       pointer(reader->line, len, (size_t)(at - reader->line)).text);
}

/* ---- words of a line ---- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

static void skip_blanks(struct reader *reader)
{
    while (reader->at < reader->end && is_blank(*reader->at))
        reader->at++;
}

static bool skip_char(struct reader *reader, char c)
{
    if (reader->at == reader->end || *reader->at != c)
        return false;
    reader->at++;
    return true;
}

/* A word, and blanks or the end behind it. */
static bool skip_word(struct reader *reader, const char *word)
{
    size_t len = strlen(word), left = (size_t)(reader->end - reader->at);
    if (left < len || memcmp(reader->at, word, len) != 0 ||
        (left > len && !is_blank(reader->at[len])))
        return false;
    reader->at += len;
    skip_blanks(reader);
    return true;
}

/* Up to the next blank; blanks behind it are skipped. */
static const char *rankfile_take_word(struct reader *reader, size_t *len)
{
    const char *word = reader->at;
    while (reader->at < reader->end && !is_blank(*reader->at))
        reader->at++;
    *len = (size_t)(reader->at - word);
    skip_blanks(reader);
    return word;
}

static int take_rank(struct reader *reader, uint32_t *rank)
{
    uint64_t value;
    const char *start = reader->at;
    reader->at += number_read(start, reader->end, PROGRAM_MAX_TASKS, &value);
    if (reader->at == start)
        return line_refuse(reader, start, "missing rank, a number from 0 up; " RIGHT);
    if (value >= PROGRAM_MAX_TASKS)
        return line_refuse(reader, start, "the rank is larger than any program has");
    *rank = (uint32_t)value;
    return 0;
}

/* ---- hosts ---- */

static const char *rankfile_host_name(const void *owner, uint32_t number)
{
    return ((const struct rankfile *)owner)->hosts[number].name;
}

/* user@ is for ssh, which is told elsewhere. */
static int take_host(struct reader *reader, uint32_t *host)
{
    char name[HOSTLIST_MAX_NAME + 1];
    size_t len;
    const char *word = rankfile_take_word(reader, &len), *at = len ? memrchr(word, '@', len) : NULL;
    const char *bare = at ? at + 1 : word;
    len -= (size_t)(bare - word);
    if (len == 0)
        return line_refuse(reader, bare, "missing host; " RIGHT);
    if (len > HOSTLIST_MAX_NAME)
        return line_refuse(reader, bare, "the name of the host is too long");
    memcpy(name, bare, len);
    name[len] = '\0';
    struct rankfile *file = reader->file;
    uint32_t n = hash_table_intern_text(&reader->names, name, rankfile_host_name, file);
    if (n == file->nhosts) {
        file->hosts = array_grow(file->hosts, n, sizeof(*file->hosts));
        file->hosts[n] = (struct rankfile_host){mem_copy_text(name), reader->number, NULL};
        file->nhosts++;
    }
    *host = n;
    return 0;
}

/* ---- what a rank is bound to ---- */

static int check_slots(const struct reader *reader, const char *list, size_t len)
{
    struct slot_reader slots = {.list = list, .len = (uint32_t)len};
    struct slot_item item;
    const char *why = NULL;
    int rc;
    while ((rc = slot_next(&slots, &item, &why)) > 0)
        ;
    if (rc == 0)
        return 0;
    char *text = mem_format("%s; expected cores such as 0-3,6 or *, cores of a socket such as "
                            "1:0-2, or p and OS indexes such as p8-9",
                            why);
    line_refuse(reader, list + slots.at, text);
    free(text);
    return -1;
}

static int check_cpus(const struct reader *reader, const char *list, size_t len)
{
    struct error why = ERROR_INIT;
    char *text = mem_copy_text_n(list, len);
    struct idset *cpus = idset_decode(text, &why);
    int rc = !idset_empty(cpus) ? 0 : -1;
    if (rc < 0)
        line_refuse(reader, list, cpus ? "no processor is named" : error_text(&why));
    idset_free(cpus);
    free(text);
    error_clear(&why);
    return rc;
}

static int take_list(struct reader *reader, struct rankfile_rank *rank)
{
    size_t len;
    rank->list = rankfile_take_word(reader, &len);
    rank->len = (uint32_t)len;
    if (len == 0)
        return line_refuse(reader, rank->list,
                           rank->form == RANKFILE_SLOTS
                               ? "missing list of cores, such as 0-3 or 1:0-2; " RIGHT
                               : "missing OS indexes of processors, such as 0-3; " RIGHT);
    if (reader->at < reader->end)
        return line_refuse(reader, reader->at, "unexpected text after the list; " RIGHT);
    return rank->form == RANKFILE_SLOTS ? check_slots(reader, rank->list, len)
                                        : check_cpus(reader, rank->list, len);
}

/* ---- lines ---- */

/* "slot=" or "slots=", with blanks around the sign. */
static bool skip_slot(struct reader *reader)
{
    static const char word[] = "slot";
    size_t len = strlen(word);
    if ((size_t)(reader->end - reader->at) < len || memcmp(reader->at, word, len) != 0)
        return false;
    reader->at += len;
    skip_char(reader, 's');
    skip_blanks(reader);
    if (!skip_char(reader, '='))
        return false;
    skip_blanks(reader);
    return true;
}

static int read_entry(struct reader *reader, struct entry *entry)
{
    bool word = skip_word(reader, "rank");
    entry->rank.line = reader->number;
    if (take_rank(reader, &entry->number) < 0)
        return -1;
    const char *behind = reader->at;
    skip_blanks(reader);
    bool equals = word && skip_char(reader, '=');
    entry->rank.form = equals ? RANKFILE_SLOTS : RANKFILE_CPUS;
    if (!equals && reader->at == behind)
        return line_refuse(reader, behind, "unexpected text after the rank; " RIGHT);
    skip_blanks(reader);
    if (take_host(reader, &entry->rank.host) < 0)
        return -1;
    const char *slot = reader->at;
    if (equals && !skip_slot(reader))
        return line_refuse(reader, slot, "missing slot=LIST; " RIGHT);
    return take_list(reader, &entry->rank);
}

/* The line from reader->line on; `end` is behind it, its comment is no part of it. */
static int read_line(struct reader *reader, const char *end)
{
    struct entry entry = {.number = 0};
    const char *comment = memchr(reader->line, '#', (size_t)(end - reader->line));
    reader->end = comment ? comment : end;
    while (reader->end > reader->line && is_blank(reader->end[-1]))
        reader->end--;
    reader->at = reader->line;
    skip_blanks(reader);
    if (reader->at == reader->end)
        return 0;
    if (read_entry(reader, &entry) < 0)
        return -1;
    size_t n = reader->nentries++;
    reader->entries = array_grow(reader->entries, n, sizeof(*reader->entries));
    reader->entries[n] = entry;
    return 0;
}

/* ---- all ranks ---- */

static int by_number(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return (x->rank.line > y->rank.line) - (x->rank.line < y->rank.line);
}

static int rankfile_check_ranks(struct reader *reader)
{
    const char *name = reader->file->name;
    for (size_t i = 0; i < reader->nentries; i++) {
        const struct entry *entry = &reader->entries[i];
        if (i && entry->number == entry[-1].number)
            return error_usage(reader->err, "%s:%u: rank %u is already placed in line %u", name,
                               entry->rank.line, entry->number, entry[-1].rank.line);
        if (entry->number != i)
            return error_usage(reader->err,
                               "%s: rank %zu is missing: ranks go from 0 on without gaps, and "
                               "rank %u follows in line %u",
                               name, i, entry->number, entry->rank.line);
    }
    if (!reader->nentries)
        return error_usage(reader->err, "%s: no rank is placed; " RIGHT, name);
    return 0;
}

static int read_all(struct reader *reader, size_t len)
{
    struct rankfile *file = reader->file;
    const char *zero = len ? memchr(file->text, '\0', len) : NULL;
    if (zero)
        return error_usage(reader->err, "%s: not a text file: it contains a zero byte", file->name);
    const char *end = file->text + len;
    for (reader->line = file->text; reader->line < end;) {
        const char *newline = memchr(reader->line, '\n', (size_t)(end - reader->line));
        reader->number++;
        if (read_line(reader, newline ? newline : end) < 0)
            return -1;
        reader->line = newline ? newline + 1 : end;
    }
    bool sorted = true; /* as most files are */
    for (size_t i = 1; i < reader->nentries && sorted; i++)
        sorted = reader->entries[i].number >= reader->entries[i - 1].number;
    if (!sorted)
        qsort(reader->entries, reader->nentries, sizeof(*reader->entries), by_number);
    if (rankfile_check_ranks(reader) < 0)
        return -1;
    file->nranks = (uint32_t)reader->nentries;
    file->ranks = mem_array(file->nranks, sizeof(*file->ranks));
    for (uint32_t i = 0; i < file->nranks; i++)
        file->ranks[i] = reader->entries[i].rank;
    return 0;
}

struct rankfile *rankfile_parse(const char *name, const char *text, size_t len, struct error *err)
{
    if (len > RANKFILE_MAX_TEXT) {
        error_usage(err, "%s: larger than %u MiB, the limit of a rank file", name,
                    RANKFILE_MAX_TEXT >> 20);
        return NULL;
    }
    struct rankfile *file = mem_alloc(sizeof(*file));
    file->name = mem_copy_text(name);
    file->text = memcpy(mem_alloc(len + 1), text, len);
    struct reader reader = {.file = file, .err = err};
    int rc = read_all(&reader, len);
    hash_table_free(&reader.names);
    free(reader.entries);
    if (rc == 0)
        return file;
    rankfile_free(file);
    return NULL;
}

void rankfile_free(struct rankfile *file)
{
    if (!file)
        return;
    for (uint32_t i = 0; i < file->nhosts; i++) {
        free(file->hosts[i].name);
        free(file->hosts[i].alias);
    }
    free(file->hosts);
    free(file->ranks);
    free(file->text);
    free(file->name);
    free(file);
}

/*
 * Slot lists, as Open MPI has them: cores ("1", "0-3,6", "*"), or cores of sockets ("1:0-2",
 * "0:1,3", "1:*"). Behind a comma without a socket the one before holds on; ";" begins anew. With a
 * p in front the numbers are OS indexes.
 */

static char slot_peek(const struct slot_reader *reader)
{
    return reader->at < reader->len ? reader->list[reader->at] : '\0';
}

static bool slot_skip(struct slot_reader *reader, char c)
{
    bool there = slot_peek(reader) == c;
    reader->at += there;
    return there;
}

static int slot_number(struct slot_reader *reader, uint32_t *number, const char **why)
{
    const uint64_t most = reader->physical ? IDSET_MAX : TOPO_MAX_PUS - 1;
    uint64_t value;
    size_t digits =
        number_read(reader->list + reader->at, reader->list + reader->len, most, &value);
    if (!digits || value > most) {
        *why = digits ? "the number is larger than any machine has" : "missing number";
        return -1;
    }
    reader->at += (uint32_t)digits;
    *number = (uint32_t)value;
    return 0;
}

/* N, N-M or "*" */
static int slot_range(struct slot_reader *reader, uint32_t *first, uint32_t *last, const char **why)
{
    uint32_t start = reader->at;
    *first = 0;
    *last = SLOT_LAST;
    if (!reader->physical && slot_skip(reader, '*'))
        return 0;
    if (slot_number(reader, first, why) < 0)
        return -1;
    *last = *first;
    if (!slot_skip(reader, '-'))
        return 0;
    if (slot_number(reader, last, why) < 0)
        return -1;
    if (*first <= *last)
        return 0;
    reader->at = start;
    *why = "the range is descending";
    return -1;
}

static int slot_element(struct slot_reader *reader, struct slot_item *item, const char **why)
{
    item->at = reader->at;
    if (slot_range(reader, &item->first, &item->last, why) < 0)
        return -1;
    if (slot_peek(reader) == ':' && reader->physical) {
        *why = "a list of OS indexes (p) cannot name sockets";
        return -1;
    }
    if (slot_skip(reader, ':')) {
        item->in_socket = true;
        item->socket_first = item->first;
        item->socket_last = item->last;
        if (slot_range(reader, &item->first, &item->last, why) < 0)
            return -1;
    }
    item->len = reader->at - item->at;
    return 1;
}

int slot_next(struct slot_reader *reader, struct slot_item *item, const char **why)
{
    *item = reader->before;
    if (reader->at == 0) {
        reader->physical = slot_skip(reader, 'p') || slot_skip(reader, 'P');
    } else if (reader->at == reader->len) {
        return 0;
    } else if (slot_skip(reader, ';')) {
        item->in_socket = false;
    } else if (!slot_skip(reader, ',')) {
        *why = "expected a comma or the end of the list";
        return -1;
    }
    int rc = slot_element(reader, item, why);
    reader->before = *item;
    return rc;
}
