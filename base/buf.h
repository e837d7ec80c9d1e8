/*
 * buf - a growing run of bytes with a front that can be consumed.
 *
 * data[start .. start+len) are the live bytes. The bytes are always followed by a NUL that is not
 * counted, so buf_text() is a C string. A zeroed struct (BUF_INIT) is empty and needs no memory;
 * buf_free() brings it back there. Appending may move the bytes: pointers into a buf do not
 * outlive the next append. Memory for consumed bytes is reused.
 */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stdarg.h>
#include <stddef.h>

struct buf {
    char *data;
    size_t start;
    size_t len;
    size_t room; /* bytes allocated at data */
};

#define BUF_INIT                                                                                   \
    {                                                                                              \
        0, 0, 0, 0                                                                                 \
    }

void buf_add(struct buf *buf, const void *bytes, size_t len);
void buf_add_text(struct buf *buf, const char *text);
void buf_add_char(struct buf *buf, char c);
void buf_printf(struct buf *buf, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void buf_vprintf(struct buf *buf, const char *fmt, va_list args)
    __attribute__((format(printf, 2, 0)));

/* Room for at least len more bytes; returns where they go. buf_added() then counts them in. */
char *buf_reserve(struct buf *buf, size_t len);
void buf_added(struct buf *buf, size_t len);

const char *buf_bytes(const struct buf *buf);  /* borrowed; never NULL */
const char *buf_text(const struct buf *buf);   /* the same, as a C string */
void buf_consume(struct buf *buf, size_t len); /* len <= buf->len */
void buf_clear(struct buf *buf);               /* no bytes; memory is kept */
char *buf_take_text(struct buf *buf);          /* give the text away (caller frees); buf is empty */
void buf_free(struct buf *buf);

#endif
