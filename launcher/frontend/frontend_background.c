/* The process in the background guards the manager and writes files; the one at the terminal gives orders. */
#include "launcher/frontend/frontend_private.h"

#include <signal.h>
#include <stdlib.h>

#include "base/mem.h"

/* The process at the terminal is sent the start, the end, and what could not be saved. All else it reads from the
 * files of saved output. */
void frontend_take_in_background(struct frontend *front, const struct frame *frame)
{
    bool shows = frame->type == FRAME_NOTE || frame->type == FRAME_SHOW ||
                 frame->type == FRAME_PROGRESS || frame->type == FRAME_MAPPED;
    bool saves = frame->type == FRAME_SAVE && frame->len;
    front->runs |= frame->type == FRAME_RUNS;
    if (frame->type == FRAME_SAVE) {
        front->runs = true;
        front->relays = !saves || front->shows;
    }
    bool start =
        frame->type == FRAME_MAPPED || frame->type == FRAME_RUNS || (saves && !front->shows);
    bool output =
        frame->type == FRAME_OUTPUT && (front->spec->tee || !frontend_has_file(front, frame));
    if (start || (front->relays && (shows || output)) || (shows && !front->runs))
        foreground_send(front->foreground, frame);
    if (frame->type == FRAME_OUTPUT || frame->type == FRAME_MAPPED || frame->type == FRAME_RESULT ||
        frame->type == FRAME_END)
        frontend_take(front, frame);
}

static void on_order(void *owner, const struct frame *frame)
{
    struct frontend *front = owner;
    front->input_over |= frame->type == FRAME_STDIN_END;
    if (front->manager)
        link_send(front->manager, frame);
}

static bool on_takes_input(void *owner)
{
    const struct frontend *front = owner;
    return !front->manager || link_room(front->manager);
}

/* Before the program runs nobody knows its id, so it ends with the terminal. */
static void on_foreground_gone(void *owner)
{
    struct frontend *front = owner;
    foreground_free(front->foreground);
    front->foreground = NULL;
    if (front->shows && front->runs && front->manager) /* nobody looks any more */
        link_send(front->manager, &(struct frame){.type = FRAME_SAVE});
    front->relays &= !front->shows;
    front->shows = false;
    frontend_pay(front);
    if (front->over && frontend_is_done(front))
        ev_break(front->loop, EVBREAK_ALL);
    else if (!front->runs)
        frontend_order_end(front, 0, SIGHUP);
    else if (!frontend_reads_input(front) && !front->input_over)
        frontend_end_input(front); /* nobody types any more */
}

static void on_foreground_room(void *owner)
{
    frontend_pay(owner);
}

const struct foreground_ops frontend_foreground_ops = {on_order, on_takes_input, on_foreground_room,
                                                       on_foreground_gone};
