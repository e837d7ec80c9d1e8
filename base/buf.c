/* Bytes that grow at the end and are taken from the front, always with a NUL behind them. */
#include "base/buf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Make room for len more bytes and the NUL: move the live bytes to the front where that is
 * enough and cheap, grow otherwise. */
static void buf_room(struct buf *buf, size_t len)
{
    size_t need = buf->len + len + 1;
    if (buf->start + need <= buf->room)
        return;
    if (buf->start && need <= buf->room && buf->len <= buf->start) {
        memmove(buf->data, buf->data + buf->start, buf->len);
        buf->start = 0;
        return;
    }
    size_t room = buf->room ? buf->room : 64;
    while (room < buf->start + need)
        room *= 2;
    buf->data = mem_resize(buf->data, room, 1);
    buf->room = room;
}

char *buf_reserve(struct buf *buf, size_t len)
{
    buf_room(buf, len);
    return buf->data + buf->start + buf->len;
}

void buf_added(struct buf *buf, size_t len)
{
    buf->len += len;
    buf->data[buf->start + buf->len] = '\0';
}

void buf_add(struct buf *buf, const void *bytes, size_t len)
{
    if (!len)
        return;
    memcpy(buf_reserve(buf, len), bytes, len);
    buf_added(buf, len);
}

void buf_add_text(struct buf *buf, const char *text)
{
    buf_add(buf, text, strlen(text));
}

void buf_add_char(struct buf *buf, char c)
{
    buf_add(buf, &c, 1);
}

void buf_vprintf(struct buf *buf, const char *fmt, va_list args)
{
    va_list again;
    char small[256];
    va_copy(again, args);
    int len = vsnprintf(small, sizeof(small), fmt, args);
    if (len >= 0 && (size_t)len < sizeof(small)) {
        buf_add(buf, small, (size_t)len);
    } else if (len >= 0) {
        vsnprintf(buf_reserve(buf, (size_t)len), (size_t)len + 1, fmt, again);
        buf_added(buf, (size_t)len);
    }
    va_end(again);
}

void buf_printf(struct buf *buf, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    buf_vprintf(buf, fmt, args);
    va_end(args);
}

const char *buf_bytes(const struct buf *buf)
{
    return buf->data ? buf->data + buf->start : "";
}

const char *buf_text(const struct buf *buf)
{
    return buf->len ? buf_bytes(buf) : "";
}

void buf_consume(struct buf *buf, size_t len)
{
    buf->start += len;
    buf->len -= len;
    if (!buf->len)
        buf->start = 0;
}

void buf_clear(struct buf *buf)
{
    buf->start = buf->len = 0;
}

char *buf_take_text(struct buf *buf)
{
    char *text;
    if (buf->start || !buf->data) {
        text = mem_copy_text_n(buf_bytes(buf), buf->len);
        free(buf->data);
    } else {
        text = buf->data;
        text[buf->len] = '\0';
    }
    *buf = (struct buf)BUF_INIT;
    return text;
}

void buf_free(struct buf *buf)
{
    free(buf->data);
    *buf = (struct buf)BUF_INIT;
}
