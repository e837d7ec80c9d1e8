/* The front end, as the manager sees it: what is shown to it, and when it may send more. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "launcher/manager/internal.h"

#define NOTES_TOGETHER 0.2 /* s within which hosts that say the same share a line */

void viewer_show(struct manager *manager, const char *text, bool error)
{
    struct frame frame = {
        .type = FRAME_SHOW, .flags = error ? FRAME_STDERR : 0, .bytes = text, .len = strlen(text)};
    if (manager->front)
        link_send(manager->front, &frame);
}

void viewer_say(struct manager *manager, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    viewer_say_args(manager, fmt, args);
    va_end(args);
}

void viewer_say_args(struct manager *manager, const char *fmt, va_list args)
{
    char text[512];
    if (!manager->spec->verbose || !manager->front)
        return;
    vsnprintf(text, sizeof(text), fmt, args);
    viewer_note(manager, text);
}

void viewer_note(struct manager *manager, const char *text)
{
    struct frame frame = {.type = FRAME_NOTE, .bytes = text, .len = strlen(text)};
    if (manager->front)
        link_send(manager->front, &frame);
}

static void on_notes_due(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    viewer_host_note_now(timer->data);
}

/* With -v the order tells something, too. */
void viewer_host_note(struct manager *manager, const char *text)
{
    size_t len = strcspn(text, " ");
    if (manager->spec->verbose || len < 2 || text[len - 1] != ':' || !text[len]) {
        viewer_note(manager, text);
        return;
    }
    if (!manager->notes) {
        manager->notes = host_lines_new();
        ev_timer_init(&manager->notes_due, on_notes_due, NOTES_TOGETHER, 0);
        manager->notes_due.data = manager;
        ev_timer_start(manager->loop, &manager->notes_due);
    }
    char *host = mem_copy_text_n(text, len - 1);
    host_lines_add(manager->notes, host, text + len + 1, -1);
    free(host);
}

void viewer_host_note_now(struct manager *manager)
{
    struct host_lines *notes = manager->notes;
    if (!notes)
        return;
    manager->notes = NULL;
    ev_timer_stop(manager->loop, &manager->notes_due);
    for (size_t i = 0; i < host_lines_count(notes); i++) {
        char *line = host_lines_nth(notes, i);
        viewer_note(manager, line);
        free(line);
    }
    host_lines_free(notes);
}

void viewer_tell_end(struct manager *manager)
{
    viewer_host_note_now(manager);
    struct buf lines = BUF_INIT;
    int status = outcome_status(manager->outcome, &lines);
    if (plan_layout(manager->plan) && !manager->terminating && outcome_is_clean(manager->outcome))
        no_pmi_explain(manager->no_pmi, manager->spec, plan_layout(manager->plan), &lines);
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
