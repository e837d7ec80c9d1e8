/* The front end, as the manager sees it: what it is shown, what it orders, and when it may send more. */
#include "launcher/manager/viewer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "launcher/instance/host_lines.h"
#include "launcher/manager/saver.h"

#define RESULT_PIECE (1u << 20) /* bytes of a frame */
#define NOTES_TOGETHER 0.2      /* s within which hosts that say the same share a line */

struct viewer {
    struct ev_loop *loop;
    struct link *link;   /* NULL once it is gone */
    struct saver *saver; /* NULL: nothing is saved */
    bool verbose;
    const struct viewer_ops *ops;
    void *owner;
    size_t input_owed; /* bulk bytes of stdin from it that have not gone down */
    struct host_lines
        *notes; /* of hosts, that are held back for a moment: others may say the same */
    ev_timer notes_due;
};

/* ---- what it is shown ---- */

/* Send it, then save it. If saving stops with this frame, the saver sends FRAME_SAVE and the frame
 * once more, and the viewer shows the second. */
static void viewer_send_frame(struct viewer *viewer, const struct frame *frame)
{
    if (viewer->link)
        link_send(viewer->link, frame);
    saver_take(viewer->saver, frame);
}

void viewer_send_text(struct viewer *viewer, enum frame_type type, const char *text)
{
    struct frame frame = {.type = type, .bytes = text, .len = strlen(text)};
    viewer_send_frame(viewer, &frame);
}

void viewer_note(struct viewer *viewer, const char *text)
{
    viewer_send_text(viewer, FRAME_NOTE, text);
}

void viewer_show(struct viewer *viewer, const char *text, bool error)
{
    struct frame frame = {
        .type = FRAME_SHOW, .flags = error ? FRAME_STDERR : 0, .bytes = text, .len = strlen(text)};
    viewer_send_frame(viewer, &frame);
}

void viewer_send(struct viewer *viewer, enum frame_type type, const json_t *value)
{
    char *text = json_dumps(value, JSON_COMPACT);
    viewer_send_text(viewer, type, text ? text : "");
    free(text);
}

int viewer_result(struct viewer *viewer, enum frame_result which, const char *text,
                  struct error *err)
{
    size_t left = strlen(text);
    if (!viewer->link)
        return error_set(err, "the tprun that was to write it is gone");
    do {
        size_t len = left < RESULT_PIECE ? left : RESULT_PIECE;
        struct frame frame = {.type = FRAME_RESULT,
                              .flags = len == left ? FRAME_RESULT_END : 0,
                              .rank = which,
                              .bytes = text,
                              .len = len};
        link_send(viewer->link, &frame);
        text += len;
        left -= len;
    } while (left);
    return 0;
}

void viewer_settle_notes(struct viewer *viewer)
{
    struct host_lines *notes = viewer->notes;
    if (!notes)
        return;
    viewer->notes = NULL;
    ev_timer_stop(viewer->loop, &viewer->notes_due);
    for (size_t i = 0; i < host_lines_count(notes); i++) {
        char *line = host_lines_nth(notes, i);
        viewer_note(viewer, line);
        free(line);
    }
    host_lines_free(notes);
}

static void viewer_on_notes_due(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop, (void)events;
    viewer_settle_notes(timer->data);
}

/* Notes of hosts that say the same become one line; not with -v, where their order counts. */
void viewer_host_note(struct viewer *viewer, const char *text)
{
    size_t len = strcspn(text, " ");
    if (viewer->verbose || len < 2 || text[len - 1] != ':' || !text[len]) {
        viewer_note(viewer, text);
        return;
    }
    if (!viewer->notes) {
        viewer->notes = host_lines_new();
        ev_timer_init(&viewer->notes_due, viewer_on_notes_due, NOTES_TOGETHER, 0);
        viewer->notes_due.data = viewer;
        ev_timer_start(viewer->loop, &viewer->notes_due);
    }
    char *host = mem_copy_text_n(text, len - 1);
    host_lines_add(viewer->notes, host, text + len + 1, -1);
    free(host);
}

void viewer_end(struct viewer *viewer, int status, const char *lines)
{
    viewer_settle_notes(viewer);
    json_t *end = json_pack("{s:i, s:o}", "status", status, "messages", frame_text(lines));
    viewer_send(viewer, FRAME_END, end);
    json_decref(end);
}

void viewer_settle_input(struct viewer *viewer)
{
    if (!viewer->input_owed || !viewer->link || !viewer->ops->takes_input(viewer->owner))
        return;
    link_consumed(viewer->link, viewer->input_owed);
    viewer->input_owed = 0;
}

/* ---- what it orders ---- */

static void viewer_on_signal(struct viewer *viewer, const struct frame *frame)
{
    char *sender = mem_copy_text_n(frame->bytes ? frame->bytes : "", frame->len);
    viewer->ops->signal(viewer->owner, frame->flags, sender);
    free(sender);
}

static void viewer_on_terminate(struct viewer *viewer, const struct frame *frame)
{
    viewer->ops->terminate(
        viewer->owner, frame->rank == FRAME_ALL ? INFINITY : frame->rank / 1000.0, frame->flags);
}

static void viewer_on_stdin(struct viewer *viewer, const struct frame *frame)
{
    viewer->ops->input(viewer->owner, frame);
    viewer->input_owed += link_weight(frame);
    viewer_settle_input(viewer);
}

static void viewer_on_terminal(struct viewer *viewer, const struct frame *frame)
{
    viewer->ops->terminal(viewer->owner, frame);
}

static void viewer_on_end(struct viewer *viewer, const struct frame *frame)
{
    json_t *end = frame_json(frame, NULL);
    const char *messages = json_string_value(json_object_get(end, "messages"));
    viewer->ops->end(viewer->owner, (int)json_integer_value(json_object_get(end, "status")),
                     messages ? messages : "");
    json_decref(end);
}

static void viewer_on_save(struct viewer *viewer, const struct frame *frame)
{
    (void)frame;
    viewer->ops->save(viewer->owner);
}

static void (*const orders[])(struct viewer *viewer, const struct frame *frame) = {
    [FRAME_SIGNAL] = viewer_on_signal,     [FRAME_TERMINATE] = viewer_on_terminate,
    [FRAME_STDIN] = viewer_on_stdin,       [FRAME_STDIN_END] = viewer_on_stdin,
    [FRAME_TERMINAL] = viewer_on_terminal, [FRAME_END] = viewer_on_end,
    [FRAME_SAVE] = viewer_on_save,
};

static void viewer_on_frame(struct link *link, void *arg, const struct frame *frame)
{
    (void)link;
    if (frame->type < sizeof(orders) / sizeof(orders[0]) && orders[frame->type])
        orders[frame->type](arg, frame);
}

static void viewer_on_room(struct link *link, void *arg)
{
    struct viewer *viewer = arg;
    (void)link;
    viewer->ops->room(viewer->owner);
}

static void viewer_on_closed(struct link *link, void *arg, const struct error *why)
{
    struct viewer *viewer = arg;
    (void)why;
    link_free(link);
    viewer->link = NULL;
    viewer->ops->gone(viewer->owner);
}

static const struct link_ops viewer_link_ops = {viewer_on_frame, viewer_on_room, viewer_on_closed,
                                                NULL, NULL};

/* ---- life ---- */

struct viewer *viewer_new(struct ev_loop *loop, int fd, bool verbose, const struct viewer_ops *ops,
                          void *owner)
{
    struct viewer *viewer = mem_alloc(sizeof(*viewer));
    *viewer = (struct viewer){.loop = loop, .verbose = verbose, .ops = ops, .owner = owner};
    viewer->link = link_new(loop, fd, fd, &viewer_link_ops, viewer);
    return viewer;
}

void viewer_free(struct viewer *viewer)
{
    if (!viewer)
        return;
    if (viewer->notes)
        ev_timer_stop(viewer->loop, &viewer->notes_due);
    host_lines_free(viewer->notes);
    link_free(viewer->link);
    free(viewer);
}

void viewer_save(struct viewer *viewer, struct saver *saver)
{
    viewer->saver = saver;
}

void viewer_disown(struct viewer *viewer)
{
    link_disown(viewer->link);
}

struct link *viewer_link(const struct viewer *viewer)
{
    return viewer->link;
}
