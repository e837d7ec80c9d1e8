/* The front end, as the manager sees it: what is shown to it, and when it may send more. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "launcher/manager/state.h"

void viewer_show(struct manager *manager, const char *text, bool error)
{
    struct frame frame = {
        .type = FRAME_SHOW, .flags = error ? FRAME_STDERR : 0, .bytes = text, .len = strlen(text)};
    if (manager->front)
        link_send(manager->front, &frame);
}

void viewer_say(struct manager *manager, const char *fmt, ...)
{
    char text[512];
    va_list args;
    if (!manager->spec->verbose || !manager->front)
        return;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    viewer_note(manager, text);
}

void viewer_note(struct manager *manager, const char *text)
{
    struct frame frame = {.type = FRAME_NOTE, .bytes = text, .len = strlen(text)};
    if (manager->front)
        link_send(manager->front, &frame);
}

void viewer_tell_end(struct manager *manager)
{
    struct buf lines = BUF_INIT;
    int status = verdict_give(manager->verdict, &lines);
    silent_say(manager, &lines);
    json_t *end =
        json_pack("{s:i, s:o}", "status", status, "messages", frame_text(buf_text(&lines)));
    link_send_json(manager->front, FRAME_END, 0, 0, end);
    json_decref(end);
    buf_free(&lines);
}

void viewer_settle_input(struct manager *manager)
{
    if (!manager->input_owed || !manager->front ||
        (manager->input_nodes && !tree_room(manager->tree, manager->input_nodes)))
        return;
    link_consumed(manager->front, manager->input_owed);
    manager->input_owed = 0;
}
