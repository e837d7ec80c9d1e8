/* The text of a file that a user names, or of stdin. */
#include "base/file_text.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

static int stream_read(FILE *stream, const char *name, size_t max, struct buf *text,
                       struct error *err)
{
    while (!feof(stream)) {
        buf_added(text, fread(buf_reserve(text, BUFSIZ), 1, BUFSIZ, stream));
        if (ferror(stream))
            return error_unreadable(err, "%s: cannot be read: %s", name, strerror(errno));
        if (text->len > max)
            return error_set(err, "%s: is larger than %zu MiB, the most that is read", name,
                             max >> 20);
    }
    return 0;
}

int file_text_read(const char *path, const char *name, size_t max, struct buf *text,
                   struct error *err)
{
    bool is_first = !text->len, is_stdin = strcmp(path, "-") == 0;
    FILE *stream = is_stdin ? stdin : fopen(path, "re");
    if (!stream)
        return error_unreadable(err, "%.300s: cannot be opened: %s", name, strerror(errno));
    int rc = stream_read(stream, name, max, text, err);
    if (!is_stdin)
        fclose(stream);
    /* Editors of Windows put it in front of UTF-8; none of the formats has a meaning for it. */
    static const char byte_order_mark[] = "\xef\xbb\xbf";
    if (is_first && text->len >= 3 && memcmp(buf_bytes(text), byte_order_mark, 3) == 0)
        buf_consume(text, 3);
    return rc;
}

char *file_text_name(const char *kind, const char *path)
{
    return strcmp(path, "-") == 0 ? mem_format("%s on stdin", kind)
                                  : mem_format("%s %s", kind, path);
}
