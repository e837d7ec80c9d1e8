/* At the terminal of a program that goes on without it: what is saved is shown. */
#include "launcher/frontend/frontend_private.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "launcher/stdio/terminal.h"

static void on_replayed(void *owner, const struct frame *frame)
{
    struct frontend *front = owner;
    if (front->over) /* it leaves, and writes what it has taken */
        return;
    if (frame->type != FRAME_MAPPED && (!front->wants || front->wants(front->wants_arg, frame)))
        frontend_take(front, frame);
}

static bool on_replay_full(void *owner)
{
    const struct frontend *front = owner;
    return front->over || frontend_is_full(front);
}

static void take_held_frames(struct frontend *front)
{
    struct frame frame;
    replay_free(front->replay);
    front->replay = NULL;
    while (!front->over && frame_decode(&front->held, &frame, NULL) > 0) {
        frontend_take(front, &frame);
        buf_consume(&front->held, FRAME_HEADER + frame.len);
    }
}

static void hold_frame(struct frontend *front, const struct frame *frame)
{
    unsigned char header[FRAME_HEADER];
    frame_encode_header(frame, header);
    buf_add(&front->held, header, sizeof(header));
    buf_add(&front->held, frame->bytes, frame->len);
}

/* The process in the background does, or has said it before it went. */
static bool knows_more(const struct frontend *front)
{
    return !front->id && (front->manager || front->held.len);
}

static void on_replay_missing(void *owner, uint64_t bytes, const char *why)
{
    struct frontend *front = owner;
    if (why && knows_more(front)) { /* what is not saved comes from there */
        char *note = mem_format("output is not saved any more: %s", why);
        frontend_say(front, note, strlen(note));
        free(note);
        take_held_frames(front);
        return;
    }
    char *line = why ? mem_format("%" PRIu64 " bytes of output were not saved: %s", bytes, why)
                     : mem_format("%" PRIu64 " bytes of output are not here any more: the limit of "
                                  "saved output was reached (--save-limit)",
                                  bytes);
    frontend_say(front, line, strlen(line));
    free(line);
}

/* What the program ended with came before, if it is known. */
static void on_replay_ended(void *owner, int status, const char *why)
{
    struct frontend *front = owner;
    replay_free(front->replay);
    front->replay = NULL;
    if (front->over)
        return;
    if (status == -1 && knows_more(front)) {
        if (why)
            frontend_say(front, why, strlen(why));
        take_held_frames(front);
        if (front->over || front->manager)
            return;
    }
    front->result.status = status == REPLAY_GOES_ON ? 0 : status < 0 ? 1 : status;
    frontend_wind_up(front, why ? why
                            : status == -1
                                ? "how the program ended is not known: the process that saved its "
                                  "output is gone"
                                : "");
}

const struct replay_ops frontend_replay_ops = {on_replayed, on_replay_full, on_replay_missing,
                                               on_replay_ended};

static int open_saved(void *arg, const char *name)
{
    const struct frontend *front = arg;
    return front->open_saved(front->saved, name);
}

static void view_saved(struct frontend *front, const struct frame *frame)
{
    struct error err = ERROR_INIT;
    free(front->saved);
    front->saved = mem_copy_text_n(frame->bytes, frame->len);
    struct saved_reader *reader = saved_reader_new(open_saved, front, &err);
    if (reader)
        front->replay =
            replay_new(front->loop, reader, front->shown, true, &frontend_replay_ops, front);
    error_clear(&err);
}

static void print_id(struct frontend *front)
{
    bool has_tasks = !front->spec->agents_only; /* whose id others want to know */
    char *line = mem_format("%s\n", task_table_program(front->mapped));
    int failed = has_tasks ? terminal_print(STDOUT_FILENO, line, strlen(line)) : 0;
    if (failed) {
        struct error err = ERROR_INIT;
        error_set(&err, "stdout: cannot write: %s; program %s goes on", strerror(failed),
                  task_table_program(front->mapped));
        frontend_say(front, error_text(&err), strlen(error_text(&err)));
        error_clear(&err);
    }
    free(line);
    front->result.status = failed != 0;
    front->result.goes_on = true;
    front->over = true;
    if (!output_pending(front->output))
        ev_break(front->loop, EVBREAK_ALL);
}

/* Of the front end in the background: once output is saved, it is read from there. */
void frontend_take_at_terminal(struct frontend *front, const struct frame *frame)
{
    bool saved = frame->type == FRAME_NOTE || frame->type == FRAME_SHOW;
    if (frame->type == FRAME_SAVE && front->role == FRONTEND_VIEWER)
        view_saved(front, frame);
    else if (frame->type == FRAME_RUNS && front->role == FRONTEND_STARTER)
        print_id(front);
    else if (!front->replay || frame->type == FRAME_MAPPED)
        frontend_take(front, frame);
    else if (saved || frame->type == FRAME_OUTPUT || frame->type == FRAME_END)
        hold_frame(front, frame);
    front->shown += saved && !front->replay;
}
