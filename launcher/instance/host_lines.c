/* Lines about hosts: hosts with the same text share one line. For agents.c, spawn_hosts.c and viewer.c. */
#include "launcher/instance/host_lines.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "affinity/sets/hostlist.h"
#include "base/array.h"
#include "base/hash_table.h"
#include "base/mem.h"

#define NAME '\1' /* stands for the host's name in a text */
#define NO_LINE SIZE_MAX
#define MAX_INSIDE 60 /* bytes of a hostlist that is told again inside the text */

struct line {
    char *first; /* the text of the first host */
    char *text;  /* the same, but the host's name in it is NAME */
    struct hostlist *hosts;
    double elapsed; /* the longest */
    bool is_same;   /* `first` is that of all: what it names is not the host that the line is of */
    bool differs;   /* some host's text is not `first`: each names its own host */
};

/* A text, with a host's name in it or NAME, and the line that hosts of it join. */
struct key {
    char *text;
    size_t line; /* NO_LINE: none */
};

struct host_lines {
    struct hash_table table; /* of keys */
    struct key *keys;
    struct line *lines;
    size_t count, room;
};

struct host_lines *host_lines_new(void)
{
    return mem_alloc(sizeof(struct host_lines));
}

void host_lines_free(struct host_lines *lines)
{
    if (!lines)
        return;
    for (size_t i = 0; i < lines->count; i++) {
        free(lines->lines[i].first);
        free(lines->lines[i].text);
        hostlist_free(lines->lines[i].hosts);
    }
    for (size_t i = 0; i < lines->table.count; i++)
        free(lines->keys[i].text);
    hash_table_free(&lines->table);
    free(lines->keys);
    free(lines->lines);
    free(lines);
}

static bool is_of_name(char c)
{
    return isalnum((unsigned char)c) || c == '-' || c == '_' || c == '.';
}

/* The text with NAME where the host is named; a longer name that holds this one is another. */
static char *without_name(const char *host, const char *text)
{
    struct buf out = BUF_INIT;
    size_t len = strlen(host);
    for (const char *at = text; *at;) {
        bool begins = at == text || !is_of_name(at[-1]);
        if (len && begins && strncmp(at, host, len) == 0 &&
            (!is_of_name(at[len]) || (at[len] == '.' && !is_of_name(at[len + 1])))) {
            buf_add_char(&out, NAME);
            at += len;
        } else {
            buf_add_char(&out, *at++);
        }
    }
    return buf_take_text(&out);
}

static const char *key_text(const void *owner, uint32_t number)
{
    return ((const struct host_lines *)owner)->keys[number].text;
}

static uint32_t find_key(struct host_lines *lines, const char *text)
{
    size_t count = lines->table.count;
    uint32_t number = hash_table_intern_text(&lines->table, text, key_text, lines);
    if (number == count) {
        lines->keys = array_grow(lines->keys, count, sizeof(*lines->keys));
        lines->keys[number] = (struct key){mem_copy_text(text), NO_LINE};
    }
    return number;
}

/* Takes the text without names. */
static size_t new_line(struct host_lines *lines, const char *first, char *text)
{
    if (lines->count == lines->room) {
        lines->room = lines->room ? 2 * lines->room : 16;
        lines->lines = mem_resize(lines->lines, lines->room, sizeof(*lines->lines));
    }
    lines->lines[lines->count] =
        (struct line){mem_copy_text(first), text, hostlist_new(), -1, false, false};
    return lines->count++;
}

/* Joins a line whose hosts have the same text, or else one whose hosts have it but for their names. */
void host_lines_add(struct host_lines *lines, const char *host, const char *text, double elapsed)
{
    char *without = without_name(host, text);
    uint32_t same = find_key(lines, text), own = find_key(lines, without);
    size_t at = lines->keys[same].line;
    bool joins = at != NO_LINE && !lines->lines[at].differs;
    if (!joins) {
        at = lines->keys[own].line;
        joins = at != NO_LINE && !lines->lines[at].is_same &&
                strcmp(lines->lines[at].text, without) == 0;
    }
    if (!joins)
        at = lines->keys[same].line = lines->keys[own].line = new_line(lines, text, without);
    struct line *line = &lines->lines[at];
    line->is_same |= strcmp(line->text, without) != 0;
    line->differs |= strcmp(line->first, text) != 0;
    if (joins)
        free(without);
    hostlist_append(line->hosts, host);
    if (elapsed > line->elapsed)
        line->elapsed = elapsed;
}

size_t host_lines_count(const struct host_lines *lines)
{
    return lines->count;
}

char *host_lines_nth(const struct host_lines *lines, size_t index)
{
    const struct line *line = &lines->lines[index];
    struct buf out = BUF_INIT;
    char *hosts = hostlist_encode(line->hosts);
    bool many = hostlist_count(line->hosts) > 1;
    buf_printf(&out, "%s: ", hosts);
    for (const char *at = line->is_same ? line->first : line->text; *at; at++) {
        if (*at != NAME)
            buf_add_char(&out, *at);
        else
            buf_add_text(&out, strlen(hosts) <= MAX_INSIDE ? hosts : "HOST");
    }
    if (line->elapsed >= 0)
        buf_printf(&out, " (after %s%.1f s)", many ? "up to " : "", line->elapsed);
    free(hosts);
    return buf_take_text(&out);
}
