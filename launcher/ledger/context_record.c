/* A context as one record: made of files, and read. */
#include "launcher/ledger/context_record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/number.h"
#include "launcher/ledger/ledger_entry.h"

#define RECORD_HEAD "tprun-context 1 "
#define RECORD_HEAD_MAX 160      /* bytes of the first line at most */
#define RECORD_TAIL "\nend %s\n" /* the id */

const char *const context_file_names[CONTEXT_FILES] = {"spec.json", "R.json", "slots.json",
                                                       ENTRY_EVENTS};

/* ---- making ---- */

bool context_record_add_file(struct buf *out, int dir, const char *name)
{
    struct stat st;
    int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    bool good = fd >= 0 && fstat(fd, &st) == 0;
    if (good && (!S_ISREG(st.st_mode) || st.st_size > (off_t)CONTEXT_MAX)) {
        good = false;
        errno = EFBIG;
    }
    size_t left = good ? (size_t)st.st_size : 0;
    while (good && left) {
        ssize_t n = read(fd, buf_reserve(out, left), left);
        good = n > 0;
        buf_added(out, good ? (size_t)n : 0);
        left -= good ? (size_t)n : 0;
    }
    int why = errno;
    if (fd >= 0)
        close(fd);
    errno = why;
    return good;
}

bool context_record_make(struct buf *out, const char *id, int dir, const struct buf *events)
{
    struct buf body = BUF_INIT;
    bool good = true;
    buf_printf(out, RECORD_HEAD "%s", id);
    for (int i = 0; good && i < CONTEXT_EVENTS; i++) {
        size_t before = body.len;
        bool there = context_record_add_file(&body, dir, context_file_names[i]);
        good = there || errno == ENOENT;
        if (there)
            buf_printf(out, " %zu", body.len - before);
        else
            buf_add_text(out, " -");
    }
    buf_printf(out, " %zu\n", events->len);
    buf_add(out, buf_bytes(&body), body.len);
    buf_add(out, buf_bytes(events), events->len);
    buf_printf(out, RECORD_TAIL, id);
    buf_free(&body);
    return good;
}

/* ---- reading ---- */

/* The header at the beginning of the bytes; *size is of the record. */
static bool read_head(const char *bytes, size_t len, struct completed_context *context,
                      size_t *size)
{
    const char *at = bytes;
    const char *end = memchr(bytes, '\n', len < RECORD_HEAD_MAX ? len : RECORD_HEAD_MAX);
    uint64_t number;
    size_t head = strlen(RECORD_HEAD), digits;
    *context = (struct completed_context){0};
    if (!end || (size_t)(end - at) <= head || memcmp(at, RECORD_HEAD, head) != 0)
        return false;
    at += head;
    digits = number_read(at, end, UINT64_MAX - 2, &number);
    if (!digits || digits >= sizeof(context->id))
        return false;
    memcpy(context->id, at, digits);
    at += digits;
    const char *body = end + 1;
    for (int i = 0; i < CONTEXT_FILES; i++) {
        if (end - at < 2 || *at++ != ' ')
            return false;
        if (*at == '-') {
            at++;
            continue;
        }
        digits = number_read(at, end, CONTEXT_MAX, &number);
        if (!digits || number > (size_t)(bytes + len - body))
            return false;
        at += digits;
        context->files[i] = body;
        context->lens[i] = number;
        body += number;
    }
    char tail[sizeof(RECORD_TAIL) + sizeof(context->id)];
    size_t tail_len = (size_t)snprintf(tail, sizeof(tail), RECORD_TAIL, context->id);
    *size = (size_t)(body - bytes) + tail_len;
    return at == end && *size <= len && memcmp(body, tail, tail_len) == 0;
}

bool context_record_next(const char *bytes, size_t len, size_t *at,
                         struct completed_context *context)
{
    size_t size;
    while (*at < len) {
        if (read_head(bytes + *at, len - *at, context, &size)) {
            *at += size;
            return true;
        }
        /* one that was cut may end anywhere, and the next begins right behind it */
        const char *next = memmem(bytes + *at + 1, len - *at - 1, RECORD_HEAD, strlen(RECORD_HEAD));
        *at = next ? (size_t)(next - bytes) : len;
    }
    return false;
}
