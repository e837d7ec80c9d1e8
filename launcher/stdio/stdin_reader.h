/*
 * stdin_reader - this process's stdin (or a file), read for the tasks.
 *
 * A terminal is read only while this process is in its foreground group (so a background run is
 * never stopped by it), and only when asked for: stdin_reader_want(n) lets at most n more bytes be
 * read. Works for terminals, pipes, sockets, regular files and /dev/null; a closed stdin is an end
 * of file at once, wanted or not. The descriptor's flags are left as they are.
 *
 * Either end or failed is called once, and nothing after it. All are called by the loop, never
 * from inside a function below, and may free the input.
 */
#ifndef LAUNCHER_STDIO_STDIN_READER_H
#define LAUNCHER_STDIO_STDIN_READER_H

#include <ev.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct stdin_reader_ops {
    void (*data)(void *arg, const void *bytes, size_t len);
    void (*end)(void *arg);
    void (*failed)(void *arg, const struct error *err);
};

struct input;

/* path NULL: descriptor 0. */
struct input *stdin_reader_new(struct ev_loop *loop, const char *path,
                               const struct stdin_reader_ops *ops, void *arg, struct error *err);
void stdin_reader_want(struct input *input, size_t bytes); /* adds to what may be read */
void stdin_reader_resume(struct input *input); /* after SIGCONT: look at the foreground again */
/* Whether what is typed is shown: it comes from a terminal that echoes. */
bool stdin_reader_echoes(const struct input *input);
void stdin_reader_free(struct input *input);

#endif
