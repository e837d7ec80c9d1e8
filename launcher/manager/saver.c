/* Chooses what is saved of a program, and from when on. */
#include "launcher/manager/saver.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "launcher/saved/saved_output.h"

#define EARLY_MAX (16u << 20) /* bytes that are kept before there is a directory */
#define TOGETHER 0.005 /* s after a write until the next: what comes meanwhile is written at once */

struct saver {
    const struct spec *spec;
    struct ev_loop *loop;
    const struct saver_ops *ops;
    void *owner;
    int dir;                     /* -1: none yet */
    struct saved_writer *writer; /* NULL until saver_open(), and where that failed */
    struct buf early;            /* frames */
    bool stopped;                /* nothing can be saved any more */
    bool ended;
    bool keeps_all; /* also what would go to files */
    ev_timer due;   /* while something waits to be written */
    double written; /* when something was last, in the loop's time */
};

static bool goes_to_a_file(const struct saver *saver, const struct frame *frame)
{
    const struct spec *spec = saver->spec;
    if (saver->keeps_all)
        return false;
    bool error = frame->flags & FRAME_STDERR && !spec->merge;
    return frame->type == FRAME_OUTPUT && (error ? spec->error : spec->output);
}

static void saver_stop(struct saver *saver, const struct error *why)
{
    struct frame frame;
    saver->stopped = true;
    saver->ops->stopped(saver->owner, why);
    while (saved_writer_unwritten(saver->writer, &frame))
        if (!goes_to_a_file(saver, &frame)) /* those were sent */
            saver->ops->unsaved(saver->owner, &frame);
}

void saver_flush(struct saver *saver)
{
    struct error err = ERROR_INIT;
    if (saver && saver->writer && !saver->stopped && saved_writer_flush(saver->writer, &err) < 0)
        saver_stop(saver, &err);
    error_clear(&err);
}

static void saver_on_due(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct saver *saver = timer->data;
    (void)events;
    saver->written = ev_now(loop);
    saver_flush(saver);
}

/* At the end of this turn of the loop, unless there was a write just now. */
static void set_due(struct saver *saver)
{
    double rest = saver->written + TOGETHER - ev_now(saver->loop);
    if (ev_is_active(&saver->due))
        return;
    if (rest > TOGETHER) /* the clock was set back */
        rest = TOGETHER;
    ev_timer_set(&saver->due, rest > 0 ? rest : 0, 0);
    ev_timer_start(saver->loop, &saver->due);
}

struct saver *saver_new(struct ev_loop *loop, const struct spec *spec, const struct saver_ops *ops,
                        void *owner)
{
    struct saver *saver = mem_alloc(sizeof(*saver));
    *saver = (struct saver){.spec = spec, .loop = loop, .ops = ops, .owner = owner, .dir = -1};
    ev_timer_init(&saver->due, saver_on_due, 0, 0);
    saver->due.data = saver;
    return saver;
}

void saver_free(struct saver *saver)
{
    if (!saver)
        return;
    ev_timer_stop(saver->loop, &saver->due);
    saved_writer_free(saver->writer);
    if (saver->dir >= 0)
        close(saver->dir);
    buf_free(&saver->early);
    free(saver);
}

void saver_disown(struct saver *saver)
{
    if (saver && saver->writer)
        saved_writer_disown(saver->writer);
    if (saver && saver->dir >= 0)
        close(saver->dir);
}

static int saver_write_early(struct saver *saver, struct error *err)
{
    struct frame frame;
    int rc = 0;
    while (rc == 0 && frame_decode(&saver->early, &frame, NULL) > 0) {
        rc = saved_writer_add(saver->writer, &frame, err);
        buf_consume(&saver->early, FRAME_HEADER + frame.len);
    }
    buf_free(&saver->early);
    return rc < 0 ? -1 : saved_writer_flush(saver->writer, err);
}

int saver_open(struct saver *saver, const char *path, struct error *err)
{
    saver->dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (saver->dir < 0)
        error_set(err, "cannot save output in %s: %s", path, strerror(errno));
    else
        saver->writer = saved_writer_new(saver->dir, saver->spec->save_limit, err);
    saver->stopped = !saver->writer || saver_write_early(saver, err) < 0;
    return saver->stopped ? -1 : 0;
}

bool saver_is_stopped(const struct saver *saver)
{
    return saver->stopped;
}

void saver_remove(struct saver *saver)
{
    if (saver && saver->writer)
        saved_writer_remove(saver->writer);
}

static bool saver_wants(const struct saver *saver, const struct frame *frame)
{
    return frame->type == FRAME_SHOW || frame->type == FRAME_NOTE || frame->type == FRAME_MAPPED ||
           (frame->type == FRAME_OUTPUT && (!goes_to_a_file(saver, frame) || saver->spec->tee));
}

static void keep_early(struct saver *saver, const struct frame *frame)
{
    unsigned char header[FRAME_HEADER];
    if (saver->early.len + frame->len > EARLY_MAX)
        return;
    frame_encode_header(frame, header);
    buf_add(&saver->early, header, sizeof(header));
    buf_add(&saver->early, frame->bytes, frame->len);
}

bool saver_take(struct saver *saver, const struct frame *frame)
{
    struct error err = ERROR_INIT;
    if (!saver || saver->ended || !saver_wants(saver, frame))
        return false;
    bool stopped = saver->stopped;
    if (!saver->writer && !stopped)
        keep_early(saver, frame);
    else if (saver->writer && saved_writer_add(saver->writer, frame, &err) < 0)
        saver_stop(saver, &err);
    else if (saver->writer && !stopped)
        set_due(saver);
    error_clear(&err);
    return !stopped && !goes_to_a_file(saver, frame);
}

void saver_keep_all(struct saver *saver)
{
    if (saver)
        saver->keeps_all = true;
}

void saver_end(struct saver *saver, int status, const char *messages)
{
    if (!saver || !saver->writer || saver->ended)
        return;
    json_t *end = json_pack("{s:i, s:o}", "status", status, "messages", frame_text(messages));
    char *text = json_dumps(end, JSON_COMPACT);
    struct frame frame = {.type = FRAME_END, .bytes = text, .len = text ? strlen(text) : 0};
    saved_writer_add(saver->writer, &frame, NULL);
    saved_writer_end(saver->writer, status);
    saver->ended = true;
    free(text);
    json_decref(end);
}
