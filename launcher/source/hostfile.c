/* Host files, and lists of hosts as options have them: names and counts, for node_list.c. */
#include "launcher/source/hostfile.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "affinity/sets/hostlist.h"
#include "base/array.h"
#include "base/mem.h"
#include "launcher/spec/field_words.h"

static const char hostfile_blanks[] = " \t\r\f\v";

/* One line while it is read. */
struct hostfile_line {
    char *hosts; /* hostlist */
    uint32_t slots, max_slots;
};

/* A name goes to ssh as a word of its command line and to getaddrinfo(3): it must not look like
 * an option, nor hold what a shell would read. */
static bool hostfile_good_name(const char *login)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                  "._-:%+";
    const char *at = strrchr(login, '@');
    const char *host = at ? at + 1 : login;
    if (!host[0] || host[0] == '-' || login[0] == '-' || at == login)
        return false;
    for (const char *c = login; *c; c++)
        if (c != at && !strchr(letters, *c) && (unsigned char)*c < 0x80)
            return false;
    return true;
}

int hostfile_add(struct hostfile *file, const char *login, uint32_t limit, struct error *err)
{
    if (file->count == HOSTLIST_MAX)
        return error_set(err, "more than %d hosts, the limit", HOSTLIST_MAX);
    if (!hostfile_good_name(login))
        return error_set(err, "\"%s\" is not the name of a host (expected HOST or USER@HOST)",
                         login);
    if (spec_host_has_count(login))
        return error_set(err, "\"%s\": bad count (expected HOST:COUNT)", login);
    file->entries = array_grow(file->entries, file->count, sizeof(file->entries[0]));
    file->entries[file->count++] =
        (struct hostfile_entry){.login = mem_copy_text(login), .limit = limit};
    return 0;
}

static int hostfile_expand(struct hostfile *file, const char *text, uint32_t limit,
                           struct error *err)
{
    struct hostlist *list = hostlist_decode(text, err);
    if (!list)
        return -1;
    int rc = 0;
    for (size_t i = 0; i < hostlist_count(list) && rc == 0; i++)
        rc = hostfile_add(file, hostlist_nth(list, i), limit, err);
    hostlist_free(list);
    return rc;
}

/* "host:4" is cut in two. An IPv6 address has at least two colons, and no count. */
static int hostfile_host(struct hostfile_line *line, char *word, struct error *err)
{
    char *colon = strchr(word, ':');
    line->hosts = word;
    if (!colon || strchr(colon + 1, ':'))
        return 0;
    *colon = '\0';
    return spec_number_decode(colon + 1, SPEC_MAX_NUMBER, &line->slots, err);
}

static int hostfile_setting(struct hostfile_line *line, char *word, struct error *err)
{
    static const struct {
        const char *key;
        size_t offset;
    } keys[] = {
        {"slots=", offsetof(struct hostfile_line, slots)},
        {"cpu=", offsetof(struct hostfile_line, slots)},
        {"count=", offsetof(struct hostfile_line, slots)},
        {"max_slots=", offsetof(struct hostfile_line, max_slots)},
        {"max-slots=", offsetof(struct hostfile_line, max_slots)},
    };
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        size_t len = strlen(keys[i].key);
        if (strncmp(word, keys[i].key, len) != 0)
            continue;
        uint32_t *number = (uint32_t *)((char *)line + keys[i].offset);
        if (*number)
            return error_set(err, "\"%s\": the count is given twice", word);
        if (spec_number_decode(word + len, SPEC_MAX_NUMBER, number, err) < 0)
            return error_prefix(err, "%.*s", (int)len - 1, word);
        return 0;
    }
    return error_set(err, "unknown word \"%s\" (expected slots=N or max_slots=N)", word);
}

/* "slots = 4" is "slots=4". */
static void hostfile_close_up(char *line)
{
    char *to = line;
    for (const char *at = line; *at;) {
        size_t blanks = strspn(at, hostfile_blanks);
        bool beside = at[blanks] == '=' || (to > line && to[-1] == '=');
        at += beside ? blanks : 0;
        if (*at)
            *to++ = *at++;
    }
    *to = '\0';
}

/* `text` is one line, without comment; it is cut up. */
static int hostfile_read_line(struct hostfile *file, char *text, struct error *err)
{
    struct hostfile_line line = {0};
    char *rest = text;
    hostfile_close_up(text);
    for (char *word; (word = strsep(&rest, hostfile_blanks));) {
        if (!word[0])
            continue;
        int rc = line.hosts ? hostfile_setting(&line, word, err) : hostfile_host(&line, word, err);
        if (rc < 0)
            return -1;
    }
    if (!line.hosts)
        return 0;
    if (line.slots && line.max_slots && line.slots > line.max_slots)
        return error_set(err, "slots=%u is more than max_slots=%u", line.slots, line.max_slots);
    return hostfile_expand(file, line.hosts, line.slots ? line.slots : line.max_slots, err);
}

struct hostfile *hostfile_parse(const char *name, const char *text, size_t len, struct error *err)
{
    struct hostfile *file = mem_alloc(sizeof(*file));
    const char *end = text + len;
    for (size_t number = 1; text < end; number++) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        size_t length = (size_t)((newline ? newline : end) - text);
        char *line = mem_copy_text_n(text, length);
        bool zero = strlen(line) != length;
        line[strcspn(line, "#")] = '\0';
        int rc = zero ? error_set(err, "not a text file: it contains a zero byte")
                      : hostfile_read_line(file, line, err);
        free(line);
        if (rc < 0) {
            error_prefix(err, "%s:%zu", name, number);
            hostfile_free(file);
            return NULL;
        }
        text += length + (newline != NULL);
    }
    return file;
}

struct hostfile *hostfile_from_hostlist(const char *text, struct error *err)
{
    struct hostfile *file = mem_alloc(sizeof(*file));
    if (hostfile_expand(file, text, 0, err) == 0)
        return file;
    hostfile_free(file);
    return NULL;
}

void hostfile_free(struct hostfile *file)
{
    int saved = errno;
    for (size_t i = 0; file && i < file->count; i++)
        free(file->entries[i].login);
    if (file)
        free(file->entries);
    free(file);
    errno = saved;
}
