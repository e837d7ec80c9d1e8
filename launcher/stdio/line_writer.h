/*
 * line_writer - one place where lines of several writers end, and who has the floor there.
 *
 * A writer is a rank's stream. One that is inside an unfinished line has the floor: what others
 * send waits, apart for each writer, and is printed in the order in which they began to wait.
 * The floor goes on when the line is finished, the writer ends, or it has been silent for
 * `patience` seconds with others waiting. Its silence does not count while this side has not yet
 * written what it sent, or was itself asleep (suspended, or held up by a slow disk).
 *
 * Where the last byte printed is not a newline and another rank follows, or tprun itself, a newline
 * is put between: they share no line. The line that was parted goes on as one of its own. The two
 * streams of one rank are parted only where lines are labelled: without labels a rank's output is
 * what it would be without tprun. Without labels a `raw` destination takes what ranks write as it
 * comes, and parts only what tprun says from it.
 *
 * Where rank 0 has a terminal (`pty`), what that shows is passed on as it comes, at once, whoever
 * has the floor.
 *
 * `changed` is called when the loop printed something on its own (from sink.left and sink.error
 * the user sees what). Calls made by the user don't call back.
 */
#ifndef LAUNCHER_STDIO_LINE_WRITER_H
#define LAUNCHER_STDIO_LINE_WRITER_H

#include <ev.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "launcher/stdio/nonblocking_writer.h"

/* A rank and its stream in one number. */
#define LINE_WRITER_WRITER(rank, stream) ((uint64_t)(rank) << 1 | (unsigned)(stream))
#define LINE_WRITER_NOBODY UINT64_MAX
#define LINE_WRITER_PTY LINE_WRITER_WRITER(0, 0)
#define LINE_WRITER_TPRUN (UINT64_MAX - 1) /* what tprun has to say: no rank, no label */

struct dest_waiter;

struct line_writer {
    struct nonblocking_writer sink;
    unsigned labels; /* LINE_LABEL_* of line_label.h */
    bool raw;
    bool pty;       /* LINE_WRITER_PTY shows what a terminal shows; for the user to set */
    size_t held;    /* bytes that wait for the floor */
    bool open;      /* the last byte printed was not a newline */
    bool is_long;   /* that line is longer than what line_buffer.h sends whole */
    bool returned;  /* but a carriage return */
    uint64_t last;  /* who printed it */
    uint64_t floor; /* who is inside a line, or LINE_WRITER_NOBODY: then nobody waits */
    double heard;   /* s of the monotonic clock: when the floor's owner was last heard of */
    double patience;
    double due;     /* when the timer should run */
    ev_timer timer; /* runs while somebody waits */
    TAILQ_HEAD(dest_waiters, dest_waiter) waiting;
    void *by_writer; /* the waiting ones, a tsearch() tree */
    void *in_long;   /* those inside a line that is_long, likewise */
    void (*changed)(void *arg, struct line_writer *dest);
    void *arg;
};

void line_writer_init(struct line_writer *dest, struct ev_loop *loop, unsigned labels, bool raw,
                      double patience, void (*changed)(void *arg, struct line_writer *dest),
                      void *arg);
void line_writer_put(struct line_writer *dest, uint64_t writer, const char *bytes, size_t len,
                     bool unfinished);
void line_writer_end(struct line_writer *dest, uint64_t writer);
/* Nothing more comes of any rank: nobody waits for another. */
void line_writer_end_all(struct line_writer *dest);
/* Somebody typed a newline on the terminal that this may be: the next line begins. */
void line_writer_typed(struct line_writer *dest);
/* Somebody waits, or something is queued. */
bool line_writer_busy(const struct line_writer *dest);
/* Print all that waits, unfinished or not, and write the queue, blocking. */
void line_writer_flush(struct line_writer *dest);
/* What waits is dropped, and what comes: sink.error is set. */
void line_writer_drop(struct line_writer *dest);
void line_writer_free(struct line_writer *dest);

#endif
