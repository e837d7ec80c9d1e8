/* The link between the front end in the background and the process at the terminal. */
#include "launcher/frontend/foreground.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "launcher/tree/link.h"

#define LAST_WORDS 2.0 /* s */

struct foreground {
    struct link *link;
    const struct foreground_ops *ops;
    void *owner;
    size_t input_owed; /* bulk bytes from it that have not gone on */
};

void foreground_settle_input(struct foreground *foreground)
{
    if (!foreground || !foreground->input_owed || !foreground->ops->takes_input(foreground->owner))
        return;
    link_consumed(foreground->link, foreground->input_owed);
    foreground->input_owed = 0;
}

static void foreground_on_frame(struct link *link, void *arg, const struct frame *frame)
{
    struct foreground *foreground = arg;
    bool input = frame->type == FRAME_STDIN || frame->type == FRAME_STDIN_END;
    (void)link;
    if (!input && frame->type != FRAME_SIGNAL && frame->type != FRAME_TERMINATE)
        return;
    foreground->input_owed += input ? link_weight(frame) : 0;
    foreground->ops->order(foreground->owner, frame);
    foreground_settle_input(foreground);
}

static void foreground_on_closed(struct link *link, void *arg, const struct error *why)
{
    struct foreground *foreground = arg;
    (void)link, (void)why;
    foreground->ops->gone(foreground->owner);
}

static void foreground_on_room(struct link *link, void *arg)
{
    struct foreground *foreground = arg;
    (void)link;
    foreground->ops->room(foreground->owner);
}

static const struct link_ops foreground_link_ops = {foreground_on_frame, foreground_on_room,
                                                    foreground_on_closed, NULL, NULL};

struct foreground *foreground_new(struct ev_loop *loop, int fd, const struct foreground_ops *ops,
                                  void *owner)
{
    struct foreground *foreground = mem_alloc(sizeof(*foreground));
    *foreground = (struct foreground){.ops = ops, .owner = owner};
    foreground->link = link_new(loop, fd, fd, &foreground_link_ops, foreground);
    return foreground;
}

void foreground_refuse(int fd, const char *why)
{
    unsigned char header[FRAME_HEADER];
    json_t *end = json_pack("{s:i, s:o}", "status", 1, "messages", frame_text(why));
    char *text = json_dumps(end, JSON_COMPACT);
    struct frame frame = {.type = FRAME_END, .bytes = text, .len = text ? strlen(text) : 0};
    frame_encode_header(&frame, header);
    if (file_write_all(fd, (const char *)header, sizeof(header)) == 0)
        file_write_all(fd, text ? text : "", frame.len);
    free(text);
    json_decref(end);
}

void foreground_free(struct foreground *foreground)
{
    if (!foreground)
        return;
    link_flush(foreground->link, LAST_WORDS);
    link_free(foreground->link);
    free(foreground);
}

bool foreground_has_room(const struct foreground *foreground)
{
    return !foreground || link_room(foreground->link);
}

void foreground_send(struct foreground *foreground, const struct frame *frame)
{
    if (foreground)
        link_send(foreground->link, frame);
}
