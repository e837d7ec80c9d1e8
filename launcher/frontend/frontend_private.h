/*
 * frontend_private - a front end and its roles. Private to frontend.c and its parts: what the
 * manager is told (frontend_orders.c), what is shown (frontend_view.c), what signals mean
 * (frontend_signals.c), the two roles that are no more than that (frontend_background.c,
 * frontend_saved.c), and the way from one role to another (frontend_detach.c).
 */
#ifndef LAUNCHER_FRONTEND_FRONTEND_PRIVATE_H
#define LAUNCHER_FRONTEND_FRONTEND_PRIVATE_H

#include <ev.h>

#include "base/buf.h"
#include "base/error.h"
#include "launcher/frontend/foreground.h"
#include "launcher/frontend/frontend.h"
#include "launcher/frontend/progress.h"
#include "launcher/frontend/replay.h"
#include "launcher/frontend/user_terminal.h"
#include "launcher/process/signal_source.h"
#include "launcher/protocol/task_table.h"
#include "launcher/stdio/output.h"
#include "launcher/stdio/stdin_reader.h"
#include "launcher/tree/link.h"

struct frontend {
    struct ev_loop *loop;
    const struct spec *spec;
    enum frontend_role role;
    const char *id; /* NULL: who started the program hears it */
    bool (*wants)(void *arg, const struct frame *frame);
    void *wants_arg;
    struct frontend_result result;
    struct error err;
    char *(*lost)(void *arg);
    void (*on_guard)(void *arg);
    void *lost_arg;
    int (*open_saved)(const char *path, const char *file);
    struct link *manager;
    struct output *output;
    struct user_terminal terminal;
    struct progress progress;
    struct input *input;
    size_t unpaid; /* bulk bytes taken for which no credit was given back */
    size_t asked;  /* bytes of stdin asked for and not yet come */
    bool input_over;
    struct mapped *mapped;
    struct signal_source *signals;
    bool watched;       /* the manager: it is to end, and has to show signs of life */
    int ender;          /* the signal for which; 0: none */
    double interrupted; /* when the last SIGINT or SIGTERM came (s of the monotonic clock) */
    int interrupter;    /* which it was; 0: none */
    bool dropping;      /* told twice to end: output that nobody takes is not waited for */
    bool over;          /* the manager has said its last word, or is gone */
    ev_timer last_call; /* once it is over: until then somebody has to take something */
    bool runs;          /* in the background: the program goes on without a foreground */
    struct foreground *foreground; /* NULL without one, and once it is gone */
    bool relays;                   /* what cannot be saved goes to the foreground */
    bool guarded;          /* in the background: what ends this process leaves the program alone */
    bool shows;            /* in the background: so does what is saved, on another host */
    char *saved;           /* of a viewer: the program's directory; NULL: none yet */
    struct replay *replay; /* of it; NULL: none yet */
    size_t shown;          /* frames that it showed before it */
    struct buf held;       /* frames that come after what is replayed */
    struct buf results[FRAME_RESULTS]; /* files that options name, as far as they have come */
    struct buf unwritten;              /* lines on those that could not be written */
    ev_timer interrupt_due;            /* a Ctrl-C waits for what follows it */
    bool detaches;                     /* waits for output to be saved, and then goes */
};

/* ---- frontend_orders.c ---- */

/* The tasks end, with this grace in s, by this signal of the user (0: none). */
void frontend_order_end(struct frontend *front, double grace, int number);
/* From now on stdin goes to the tasks. 0, or -1 with a sentence. */
int frontend_start_input(struct frontend *front, struct error *err);
/* As much of stdin as the manager has room for. */
void frontend_ask_input(struct frontend *front);
void frontend_send_input(void *front, const void *bytes, size_t len);
void frontend_end_input(void *front);

/* ---- frontend_view.c ---- */

extern const struct output_ops frontend_output_ops;

/* Of the task with this rank, for labels and names of files. */
uint32_t frontend_node_of(void *front, uint32_t rank);
const char *frontend_host_of(void *front, uint32_t rank);

/* Lines of text, each after our name. */
void frontend_say(struct frontend *front, const char *text, size_t len);
/* Whether this output goes to a file of -o or -e. In the background nothing else is written. */
bool frontend_has_file(const struct frontend *front, const struct frame *frame);
/* Credit for the bytes that were taken, unless readers are too far behind. */
void frontend_pay(struct frontend *front);
bool frontend_is_full(const struct frontend *front);
/* After the last word: nobody has to be waited for. */
bool frontend_is_done(const struct frontend *front);
/* A frame of the manager, or one that was saved. */
void frontend_take(struct frontend *front, const struct frame *frame);
bool frontend_reads_input(const struct frontend *front);
/* How long the manager may be silent once it is to end, in s. */
double frontend_patience(const struct frontend *front);
/* The program is ended for this reason. */
void frontend_fail(void *front, const struct error *err);
/* Nothing more comes: what there is to say of it is said, and all of it waits for its readers. */
void frontend_wind_up(struct frontend *front, const char *messages);
/* The manager is lost, for the reason in front->err. */
void frontend_give_up(struct frontend *front);
/* The program goes on without this process; by signal `number`, or 0. */
void frontend_leave(struct frontend *front, int number);
/* What readers have not taken is dropped. */
void frontend_drop_rest(struct frontend *front, int number);
void frontend_last_call_init(struct frontend *front);

/* ---- frontend_background.c ---- */

extern const struct foreground_ops frontend_foreground_ops;

void frontend_take_in_background(struct frontend *front, const struct frame *frame);

/* ---- frontend_detach.c ---- */

/* This run shows tasks, and they can do without it. */
bool frontend_can_detach(const struct frontend *front);
/* Ask the manager to save output. Once it does a fork of this process goes on in the background,
 * and this one ends; or a sentence says why not. */
void frontend_detach(struct frontend *front);
/* Frames of the manager in between. */
void frontend_take_detaching(struct frontend *front, const struct frame *frame);

/* ---- frontend_saved.c ---- */

extern const struct replay_ops frontend_replay_ops;

/* Of the front end in the background: once output is saved, it is read from there. */
void frontend_take_at_terminal(struct frontend *front, const struct frame *frame);

/* ---- frontend_signals.c ---- */

extern const struct user_terminal_ops frontend_terminal_ops;

/* 0, or -1 with errno set. */
int frontend_signals_init(struct frontend *front);

#endif
