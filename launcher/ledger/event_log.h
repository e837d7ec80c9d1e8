/*
 * event_log - a log of events (RFC 18): one JSON object a line, written at the end only.
 *
 *     {"timestamp":1795255380.123456,"name":"start","context":{"ntasks":4}}
 *
 * Order is that of the lines: clocks may be set back. One process writes at a time. A last line
 * without a newline was cut by a crash: readers leave it out, and who opens the log to write
 * overwrites it. Source: RFC 18.
 */
#ifndef LAUNCHER_LEDGER_EVENT_LOG_H
#define LAUNCHER_LEDGER_EVENT_LOG_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

#define EVENT_LOG_MAX (1u << 30)     /* bytes of a log that readers take */
#define EVENT_LINE_MAX (64u << 20)   /* bytes of a line that readers take */
#define EVENT_UNSAVED_MAX (4u << 20) /* bytes that wait for space on the disk */

struct event {
    double timestamp; /* seconds since the epoch, above 0 */
    const char *name; /* not empty */
    json_t *context;  /* an object, or NULL; borrowed */
};

/* Append the event as a line with its newline. */
void event_encode(struct buf *out, const struct event *event);

/* ---- writing ---- */

struct event_log;

/* The log `name` of an open directory (borrowed for the call), made where it is missing; `path` is
 * its directory's, for messages. NULL with a sentence. */
struct event_log *event_log_open(int dir, const char *name, const char *path, struct error *err);
void event_log_close(struct event_log *log); /* NULL is fine; after event_log_write() */

/* Bytes that it has, with those that are not written yet. */
uint64_t event_log_size(const struct event_log *log);

/* The log of a program that is new: its events are kept until event_log_begin(). */
struct event_log *event_log_new(const char *name, const char *path);
/* Write them: the file `draft` of the directory, made where it is missing, becomes the log `name`,
 * whatever it held before. So a crash leaves the log with its first events, or none. 0; -1 with a
 * sentence where there is no file, and later calls do nothing; or as event_log_write(). */
int event_log_begin(struct event_log *log, int dir, const char *name, const char *draft,
                    struct error *err);

/* An event of now, which the next event_log_write() writes. Takes the context (NULL: none). */
void event_log_add(struct event_log *log, const char *name, json_t *context);
/* Write what was added in one call of the kernel. 0, or -1 with a sentence: for the first failure
 * of this log only, later ones return 0. What could not be written is tried again with the next
 * call, up to EVENT_UNSAVED_MAX; where it is more, nothing is written any more. The file never ends
 * in a part of a line, unless the process is killed at that moment. */
int event_log_write(struct event_log *log, struct error *err);

/* ---- reading ---- */

struct event_reader {
    const char *at; /* borrowed: what is left of the bytes */
    size_t left;
    size_t line;   /* of the last event, from 1 */
    bool is_cut;   /* at the end: a last line without a newline was left out */
    json_t *value; /* of the last event */
};

/* Any bytes; they stay the caller's and must outlive the reader. */
void event_reader_begin(struct event_reader *reader, const char *bytes, size_t len);
/* 1: the next event, whose texts are borrowed until the next call. 0: there is none. -1 with a
 * sentence that names the line: it is no event. The next call goes on behind that line. */
int event_reader_next(struct event_reader *reader, struct event *event, struct error *err);
void event_reader_end(struct event_reader *reader); /* frees the last event */

#endif
