/*
 * output - where tasks' output ends: this process's stdout and stderr, or files.
 *
 * Lines of different tasks are never mixed: a task that is inside an unfinished line holds its
 * destination until the line ends (or until it has been silent for OUTPUT_PATIENCE seconds while
 * others wait: then they go on). Where what was written last did not end its line, a newline is put
 * before something of another task, or of tprun itself, that follows in the same destination. With
 * labels one goes before each line.
 *
 * Writing never blocks the loop: destinations are written as they take data; pipes and terminals
 * are reopened non-blocking so that the caller's descriptors stay as they were. What waits is
 * counted: output_pending() is how many bytes have been taken and not yet written, and `drained`
 * is called with how many bytes left the process, so that credit can be given back. With `tee`
 * bytes count once for the file and once for the descriptor.
 *
 * The process ignores SIGPIPE, and has descriptors 0, 1 and 2 open (on /dev/null if need be):
 * where one were missing, the next file opened would take its place. The functions of output_ops
 * are also called from inside output_write(), output_end() and output_flush(); they may not free
 * the output. When every stream has ended, output_pending() comes down to 0 by the loop alone:
 * output_flush() then has only files to close.
 *
 * Templates: %r rank, %R rank zero-padded to the width of the largest, %h host, %n node id,
 * %p program id, %% a percent sign. Files are created (0666 less umask, truncated) on first use;
 * a file named by several tasks, or by several names, is opened once. When there are more files
 * than descriptors, they are closed and opened again as needed.
 */
#ifndef LAUNCHER_STDIO_OUTPUT_H
#define LAUNCHER_STDIO_OUTPUT_H

#include <ev.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define OUTPUT_PATIENCE 2.0
#define OUTPUT_IDLE_TERMINAL 0.05
#define OUTPUT_IDLE 0.1

enum output_stream { OUTPUT_STDOUT, OUTPUT_STDERR };

struct output_config {
    bool label;
    bool timestamp; /* before the label */
    bool merge;     /* stderr goes where stdout goes */
    bool tee;       /* what goes into files goes to this process's own descriptors, too, */
    bool make_dirs; /* and directories are made: else they have to be there */
    bool raw; /* without labels, what tasks write is passed on as it comes, and nothing added */
    bool pty; /* stdout of rank 0 is what a terminal shows: it is passed on as it comes, to our own
                stdout; with `tee` to its file, too */
    const char *templates[2]; /* by stream; NULL: this process's own descriptor */
    uint32_t ntasks;          /* 0: see output_grow() */
    const char *program;      /* %p; NULL: see output_name() */
    /* Host and node id of a rank, for templates. */
    const char *(*host)(void *arg, uint32_t rank);
    uint32_t (*node)(void *arg, uint32_t rank);
};

struct output_ops {
    void (*drained)(void *arg, size_t bytes);
    /* The reader of stdout or stderr is gone (EPIPE): end quietly, as any filter would. */
    void (*closed)(void *arg, enum output_stream stream);
    /* A destination cannot be written (disk full, ...): the sentence names it. That something
     * which tprun itself had to say is lost on stderr is not told. */
    void (*failed)(void *arg, const struct error *err);
};

struct output;

/* 0 or -1 with a sentence: of kind ERROR_USAGE for a template with an unknown %-letter, and where
 * the part of its directory that is the same for all tasks cannot be written to; with make_dirs,
 * what is there of that part. */
int output_check_template(const char *text, bool make_dirs, struct error *err);

struct output *output_new(struct ev_loop *loop, const struct output_config *config,
                          const struct output_ops *ops, void *arg, struct error *err);
void output_free(struct output *output);
/* There are so many tasks now, not fewer than before. %R stays as wide as it was first. */
void output_grow(struct output *output, uint32_t ntasks);
void output_name(struct output *output, const char *program); /* that is what %p is */

/* Take bytes (copied). `unfinished` as in line_buffer.h. Files are opened here: -1 with a
 * sentence. */
int output_write(struct output *output, uint32_t rank, enum output_stream stream, const void *bytes,
                 size_t len, bool unfinished, struct error *err);
/* The rank's stream has ended. */
void output_end(struct output *output, uint32_t rank, enum output_stream stream);

/* What tprun itself has to say to its stdout or stderr, whatever the templates: whole lines, which
 * are made printable. */
void output_say(struct output *output, enum output_stream stream, const char *bytes, size_t len);
/* Nothing more comes of any task, even of those whose streams did not end. */
void output_end_all(struct output *output);
/* What the terminal of stderr shows of a key stands in a line: end it. */
void output_break(struct output *output);
/* Somebody typed a newline, which the terminal shows. */
void output_typed(struct output *output);

/* The terminal that our own descriptors may be is in raw mode, or no longer: lines of text begin in
 * its first column all the same. */
void output_set_raw_terminal(struct output *output, bool raw);

/* How long an unfinished line that goes to this descriptor, or to this template, may wait for its
 * end, in seconds: a prompt is to be seen soon on a terminal, and lines in a file are whole. */
double output_idle(int fd, const char *template);

/* After fork() one of the two processes writes files, and the other what it was born with: what
 * waits for the rest is dropped, and what comes. `drained` is called for it, and nothing else. */
void output_keep_files(struct output *output);
void output_keep_descriptors(struct output *output);

size_t output_pending(const struct output *output);
/* Write what is left now, blocking; at the end of a run. */
void output_flush(struct output *output);

#endif
