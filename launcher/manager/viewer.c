/* The front end, as the manager sees it: what is shown to it, and when it may send more. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "launcher/manager/internal.h"

#define NOTES_TOGETHER 0.2 /* s within which hosts that say the same share a line */

void viewer_note(struct manager *manager, const char *text)
{
    struct frame frame = {.type = FRAME_NOTE, .bytes = text, .len = strlen(text)};
    if (manager->viewer.link)
        link_send(manager->viewer.link, &frame);
}

static void viewer_on_note(void *owner, const char *text)
{
    viewer_note(owner, text);
}

static void viewer_on_show(void *owner, const char *text, bool error)
{
    struct manager *manager = owner;
    struct frame frame = {
        .type = FRAME_SHOW, .flags = error ? FRAME_STDERR : 0, .bytes = text, .len = strlen(text)};
    if (manager->viewer.link)
        link_send(manager->viewer.link, &frame);
}

static bool viewer_on_progress(void *owner, const json_t *progress)
{
    struct manager *manager = owner;
    if (manager->viewer.link)
        link_send_json(manager->viewer.link, FRAME_PROGRESS, 0, 0, progress);
    return manager->viewer.link;
}

static void viewer_on_mapped(void *owner, const json_t *table)
{
    struct manager *manager = owner;
    if (manager->viewer.link)
        link_send_json(manager->viewer.link, FRAME_MAPPED, 0, 0, table);
}

const struct program_ops viewer_program_ops = {viewer_on_note, viewer_on_note, viewer_on_show,
                                               viewer_on_progress, viewer_on_mapped};

static void viewer_host_note_now(struct manager *manager);

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
    if (!manager->viewer.notes) {
        manager->viewer.notes = host_lines_new();
        ev_timer_init(&manager->viewer.notes_due, on_notes_due, NOTES_TOGETHER, 0);
        manager->viewer.notes_due.data = manager;
        ev_timer_start(manager->loop, &manager->viewer.notes_due);
    }
    char *host = mem_copy_text_n(text, len - 1);
    host_lines_add(manager->viewer.notes, host, text + len + 1, -1);
    free(host);
}

static void viewer_host_note_now(struct manager *manager)
{
    struct host_lines *notes = manager->viewer.notes;
    if (!notes)
        return;
    manager->viewer.notes = NULL;
    ev_timer_stop(manager->loop, &manager->viewer.notes_due);
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
    int status = program_outcome(manager->program, &lines);
    json_t *end =
        json_pack("{s:i, s:o}", "status", status, "messages", frame_text(buf_text(&lines)));
    link_send_json(manager->viewer.link, FRAME_END, 0, 0, end);
    json_decref(end);
    buf_free(&lines);
}

void viewer_settle_input(struct manager *manager)
{
    if (!manager->viewer.input_owed || !manager->viewer.link ||
        !program_takes_input(manager->program))
        return;
    link_consumed(manager->viewer.link, manager->viewer.input_owed);
    manager->viewer.input_owed = 0;
}

void viewer_close(struct manager *manager)
{
    host_lines_free(manager->viewer.notes);
    link_free(manager->viewer.link);
}
