/* Logs of events, written and read: what happened to a program, for those who ask later. */
#include "launcher/ledger/event_log.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"

/* Times of today take the short way: printf() computes with hundreds of digits. */
static void encode_timestamp(struct buf *out, double seconds)
{
    long long us = seconds < 1e12 ? llround(seconds * 1e6) : -1;
    if (us < 0)
        buf_printf(out, "%.6f", seconds);
    else
        buf_printf(out, "%lld.%06lld", us / 1000000, us % 1000000);
}

static void encode_name(struct buf *out, const char *name)
{
    if (!name[strspn(name, "abcdefghijklmnopqrstuvwxyz-")]) {
        buf_printf(out, "\"%s\"", name);
        return;
    }
    json_t *text = json_string(name);
    char *quoted = text ? json_dumps(text, JSON_ENCODE_ANY) : NULL;
    buf_add_text(out, quoted ? quoted : "\"?\"");
    json_decref(text);
    free(quoted);
}

void event_encode(struct buf *out, const struct event *event)
{
    char *context =
        event->context ? json_dumps(event->context, JSON_COMPACT | JSON_REAL_PRECISION(16)) : NULL;
    buf_add_text(out, "{\"timestamp\":");
    encode_timestamp(out, event->timestamp);
    buf_add_text(out, ",\"name\":");
    encode_name(out, event->name);
    if (context) {
        buf_add_text(out, ",\"context\":");
        buf_add_text(out, context);
    }
    buf_add_text(out, "}\n");
    free(context);
}

/* ---- writing ---- */

struct event_log {
    int fd;
    char *path;
    off_t end;       /* of the last whole line */
    bool is_longer;  /* something stands behind that */
    bool complained; /* a failure was told */
    bool given_up;   /* too much is unsaved */
    struct buf unsaved;
};

/* Where the last whole line ends. -1 with errno. */
static off_t find_end(int fd, off_t size)
{
    char bytes[4096];
    while (size > 0) {
        size_t len = size < (off_t)sizeof(bytes) ? (size_t)size : sizeof(bytes);
        ssize_t got = pread(fd, bytes, len, size - (off_t)len);
        if (got < 0 || (size_t)got < len)
            return got < 0 ? -1 : 0;
        const char *newline = memrchr(bytes, '\n', len);
        if (newline)
            return size - (off_t)len + (newline - bytes) + 1;
        size -= (off_t)len;
    }
    return 0;
}

struct event_log *event_log_new(const char *name, const char *path)
{
    struct event_log *log = mem_alloc(sizeof(*log));
    *log = (struct event_log){.fd = -1, .path = mem_format("%s/%s", path, name)};
    return log;
}

struct event_log *event_log_open(int dir, const char *name, const char *path, struct error *err)
{
    struct stat st;
    off_t end = -1;
    int fd = openat(dir, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    if (fd >= 0 && fstat(fd, &st) == 0) {
        errno = EINVAL;
        end = S_ISREG(st.st_mode) ? find_end(fd, st.st_size) : -1;
    }
    if (end < 0) {
        error_set(err, "cannot open %s/%s: %s", path, name, strerror(errno));
        if (fd >= 0)
            close(fd);
        return NULL;
    }
    struct event_log *log = event_log_new(name, path);
    log->fd = fd;
    log->end = end;
    log->is_longer = st.st_size > end;
    return log;
}

void event_log_close(struct event_log *log)
{
    if (!log)
        return;
    if (log->fd >= 0)
        close(log->fd);
    buf_free(&log->unsaved);
    free(log->path);
    free(log);
}

uint64_t event_log_size(const struct event_log *log)
{
    return (uint64_t)log->end + log->unsaved.len;
}

void event_log_add(struct event_log *log, const char *name, json_t *context)
{
    struct event event = {clock_wall_seconds(), name, context};
    if (!log->given_up)
        event_encode(&log->unsaved, &event);
    json_decref(context);
}

/* All or nothing: what a full disk took of it is cut off again. */
static int write_unsaved(struct event_log *log)
{
    size_t done = 0, len = log->unsaved.len;
    int why = 0;
    while (done < len && !why) {
        ssize_t n =
            pwrite(log->fd, buf_bytes(&log->unsaved) + done, len - done, log->end + (off_t)done);
        if (n > 0)
            done += (size_t)n;
        else if (n == 0 || errno != EINTR)
            why = n == 0 ? ENOSPC : errno;
    }
    off_t end = log->end + (why ? 0 : (off_t)len);
    if (done && (why || log->is_longer) && ftruncate(log->fd, end) == 0)
        log->is_longer = false;
    else if (why && done)
        log->is_longer = true;
    log->end = end;
    errno = why;
    return why ? -1 : 0;
}

int event_log_write(struct event_log *log, struct error *err)
{
    if (!log->unsaved.len || write_unsaved(log) == 0) {
        buf_clear(&log->unsaved);
        return 0;
    }
    int why = errno;
    if (log->unsaved.len > EVENT_UNSAVED_MAX) {
        log->given_up = true;
        buf_free(&log->unsaved);
    }
    if (log->complained)
        return 0;
    log->complained = true;
    return error_set(err, "cannot write %s: %s; the program goes on", log->path, strerror(why));
}

int event_log_begin(struct event_log *log, int dir, const char *name, const char *draft,
                    struct error *err)
{
    log->fd = openat(dir, draft, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    log->is_longer = log->fd >= 0;
    int rc = log->fd >= 0 ? event_log_write(log, err) : -1;
    /* nothing of an earlier log may stay, even where nothing could be written */
    bool whole = log->fd >= 0 && (!log->is_longer || ftruncate(log->fd, log->end) == 0);
    if (whole && renameat2(dir, draft, dir, name, RENAME_NOREPLACE) == 0) {
        log->is_longer = false;
        return rc;
    }
    log->given_up = log->complained = true;
    buf_clear(&log->unsaved);
    return rc < 0 && log->fd >= 0 ? -1
                                  : error_set(err, "cannot make %s: %s; the program goes on",
                                              log->path, strerror(errno));
}

/* ---- reading ---- */

void event_reader_begin(struct event_reader *reader, const char *bytes, size_t len)
{
    *reader = (struct event_reader){.at = bytes, .left = len};
}

static int event_read_line(struct event_reader *reader, const char *line, size_t len,
                           struct event *event, struct error *err)
{
    json_error_t why;
    if (len > EVENT_LINE_MAX)
        return error_set(err, "line %zu: longer than %u bytes", reader->line, EVENT_LINE_MAX);
    reader->value = json_loadb(line, len, JSON_REJECT_DUPLICATES, &why);
    if (!reader->value)
        return error_set(err, "line %zu: %s", reader->line, why.text);
    const json_t *timestamp = json_object_get(reader->value, "timestamp");
    const char *name = json_string_value(json_object_get(reader->value, "name"));
    json_t *context = json_object_get(reader->value, "context");
    if (!json_is_object(reader->value))
        return error_set(err, "line %zu: expected an object", reader->line);
    if (!json_is_number(timestamp) || !isfinite(json_number_value(timestamp)) ||
        json_number_value(timestamp) <= 0)
        return error_set(err, "line %zu: timestamp: expected a number above 0", reader->line);
    if (!name || !*name)
        return error_set(err, "line %zu: name: expected a text that is not empty", reader->line);
    if (context && !json_is_object(context))
        return error_set(err, "line %zu: context: expected an object", reader->line);
    *event = (struct event){json_number_value(timestamp), name, context};
    return 1;
}

int event_reader_next(struct event_reader *reader, struct event *event, struct error *err)
{
    const char *line = reader->at;
    const char *newline = reader->left ? memchr(line, '\n', reader->left) : NULL;
    json_decref(reader->value);
    reader->value = NULL;
    if (!newline) {
        reader->is_cut = reader->left > 0;
        return 0;
    }
    size_t len = (size_t)(newline - line);
    reader->at += len + 1;
    reader->left -= len + 1;
    reader->line++;
    return event_read_line(reader, line, len, event, err);
}

void event_reader_end(struct event_reader *reader)
{
    json_decref(reader->value);
    reader->value = NULL;
}
