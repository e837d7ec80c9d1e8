/* An error as a value: one sentence, its kind, and prefixes that callers put in front. */
#include "base/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static int error_fill(struct error *err, enum error_kind kind, const char *fmt, va_list args)
{
    int saved = errno;
    char *text = NULL;
    if (err) {
        if (vasprintf(&text, fmt, args) < 0)
            text = NULL;
        free(err->text);
        err->text = text;
        err->kind = kind;
        err->unreadable = false;
    }
    errno = saved;
    return -1;
}

int error_set(struct error *err, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    error_fill(err, ERROR_REFUSED, fmt, args);
    va_end(args);
    return -1;
}

int error_usage(struct error *err, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    error_fill(err, ERROR_USAGE, fmt, args);
    va_end(args);
    return -1;
}

int error_unreadable(struct error *err, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    error_fill(err, ERROR_REFUSED, fmt, args);
    va_end(args);
    if (err)
        err->unreadable = true;
    return -1;
}

void error_blame_words(struct error *err)
{
    if (err && !err->unreadable)
        err->kind = ERROR_USAGE;
}

int error_prefix(struct error *err, const char *fmt, ...)
{
    int saved = errno;
    char *front = NULL, *whole = NULL;
    if (!err)
        return -1;
    va_list args;
    va_start(args, fmt);
    if (vasprintf(&front, fmt, args) < 0)
        front = NULL;
    va_end(args);
    if (front && asprintf(&whole, "%s: %s", front, error_text(err)) >= 0) {
        free(err->text);
        err->text = whole;
    }
    free(front);
    errno = saved;
    return -1;
}

void error_clear(struct error *err)
{
    int saved = errno;
    if (err) {
        free(err->text);
        *err = (struct error)ERROR_INIT;
    }
    errno = saved;
}

const char *error_text(const struct error *err)
{
    return err && err->text ? err->text : "unknown error";
}
