/*
 * error - an error as a value, for all layers.
 *
 * A function that can fail returns -1 or NULL and fills the struct error it was given with one
 * sentence: the subject, what happened, the reason, and what would work, as in
 *     "node3: cannot bind rank 5: core 12 is not in this cgroup (0-7)"
 * No trailing period, no newline, no "tprun:" in front (main() adds that when it prints). Behind
 * the sentence may stand, on two lines of their own, a text and a caret under a place in it.
 *
 * The caller owns the struct, starts it as ERROR_INIT, and frees its text with error_clear().
 * Every function here accepts a NULL struct error and keeps errno.
 */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include <stdarg.h>
#include <stdbool.h>

enum error_kind {
    ERROR_REFUSED = 1, /* anything tprun itself refuses or loses; exit status 1 */
    ERROR_USAGE = 2,   /* a wrong command line; exit status 2 */
};

struct error {
    char *text; /* NULL until something failed; owned by the struct */
    enum error_kind kind;
    bool unreadable; /* it says that a file cannot be read */
};

#define ERROR_INIT                                                                                 \
    {                                                                                              \
        0, ERROR_REFUSED, false                                                                    \
    }

/* Set the sentence (an earlier one is freed), kind ERROR_REFUSED. Always returns -1. */
int error_set(struct error *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The same, kind ERROR_USAGE. */
int error_usage(struct error *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* A file that is named cannot be read: kind ERROR_REFUSED, whoever names it and wherever. */
int error_unreadable(struct error *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The sentence is about what was typed: kind ERROR_USAGE, unless it says that a file cannot be
 * read. */
void error_blame_words(struct error *err);

/* Put "TEXT: " in front of the sentence there is. Always returns -1, so that a caller can
 * `return error_prefix(err, "%s", path)`. The kind stays. */
int error_prefix(struct error *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Free the text; the struct is as ERROR_INIT made it. */
void error_clear(struct error *err);

/* The sentence, or "unknown error" where none was set. Borrowed. */
const char *error_text(const struct error *err);

#endif
