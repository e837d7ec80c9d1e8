/*
 * XML exports of hwloc, looked over before hwloc reads them: it follows every element down, one call
 * in the other, and its parsers keep all that they find. What passes here is read in seconds, in a
 * few hundred MiB, whether hwloc has libxml or not.
 */
#include "affinity/topology/topo_xml.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"

struct scan {
    const char *at, *end;
    size_t elements;
    size_t depth;
};

static bool topo_xml_begins(const struct scan *scan, const char *word)
{
    size_t len = strlen(word);
    return (size_t)(scan->end - scan->at) >= len && memcmp(scan->at, word, len) == 0;
}

/* Behind the next such word; the end where there is none. */
static void skip_past(struct scan *scan, const char *word)
{
    const char *found = memmem(scan->at, (size_t)(scan->end - scan->at), word, strlen(word));
    scan->at = found ? found + strlen(word) : scan->end;
}

/* Behind the '>' of a tag; one in quotes is part of a value. True for "<.../>". */
static bool skip_tag(struct scan *scan)
{
    char quote = '\0';
    for (; scan->at < scan->end; scan->at++) {
        char c = *scan->at;
        if (quote)
            quote = c == quote ? '\0' : quote;
        else if (c == '"' || c == '\'')
            quote = c;
        else if (c == '>')
            break;
    }
    bool empty = scan->at < scan->end && scan->at[-1] == '/';
    scan->at += scan->at < scan->end;
    return empty;
}

/* At a '<'. */
static int scan_markup(struct scan *scan, struct error *err)
{
    if (topo_xml_begins(scan, "<!--")) {
        skip_past(scan, "-->");
        return 0;
    }
    if (topo_xml_begins(scan, "<?")) {
        skip_past(scan, "?>");
        return 0;
    }
    if (topo_xml_begins(scan, "<!")) {
        /* An internal subset could define texts that stand for long ones; exports have none. */
        const char *close = memchr(scan->at, '>', (size_t)(scan->end - scan->at));
        close = close ? close + 1 : scan->end;
        if (memchr(scan->at, '[', (size_t)(close - scan->at)))
            return error_set(err, "it declares a document type of its own, which no export does");
        scan->at = close;
        return 0;
    }
    bool closes = topo_xml_begins(scan, "</"), empty = skip_tag(scan);
    if (closes) {
        scan->depth -= scan->depth > 0;
        return 0;
    }
    scan->depth += !empty;
    if (scan->depth > TOPO_XML_MAX_DEPTH)
        return error_set(err, "its elements are nested more than %d deep, which no machine is",
                         TOPO_XML_MAX_DEPTH);
    if (++scan->elements > TOPO_XML_MAX_ELEMENTS)
        return error_set(err, "it has more than %d elements, the most that are read",
                         TOPO_XML_MAX_ELEMENTS);
    return 0;
}

int topo_xml_check(const char *text, size_t len, struct error *err)
{
    struct scan scan = {.at = text, .end = text + len};
    if (len > TOPO_XML_MAX_BYTES)
        return error_set(err, "it is larger than %d MiB", TOPO_XML_MAX_BYTES >> 20);
    if (memchr(text, '\0', len))
        return error_set(err, "not a text: it contains a zero byte");
    while ((scan.at = memchr(scan.at, '<', (size_t)(scan.end - scan.at))))
        if (scan_markup(&scan, err) < 0)
            return -1;
    return 0;
}

/* A pipe could go on for ever, and a directory has no text. */
static int read_stream(FILE *stream, struct buf *text, struct error *err)
{
    struct stat st;
    if (fstat(fileno(stream), &st) < 0)
        return error_set(err, "%s", strerror(errno));
    if (!S_ISREG(st.st_mode))
        return error_set(err, "it is not a regular file");
    while (!feof(stream)) {
        buf_added(text, fread(buf_reserve(text, BUFSIZ), 1, BUFSIZ, stream));
        if (ferror(stream))
            return error_set(err, "it cannot be read: %s", strerror(errno));
        if (text->len > TOPO_XML_MAX_BYTES)
            return error_set(err, "it is larger than %d MiB", TOPO_XML_MAX_BYTES >> 20);
    }
    return 0;
}

int topo_xml_read(const char *path, struct buf *text, struct error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* not to wait for who writes a pipe */
    FILE *stream = fd < 0 ? NULL : fdopen(fd, "r");
    if (!stream)
        return error_set(err, "%s", strerror(errno));
    int rc = read_stream(stream, text, err);
    fclose(stream);
    return rc < 0 ? -1 : topo_xml_check(buf_text(text), text->len, err);
}
