/* Chooses what is saved of a program, and from when on. */
#include "launcher/frontend/saver.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "launcher/saved/saved_output.h"

#define EARLY_MAX (16u << 20) /* bytes that are kept before there is a directory */

struct saver {
    const struct spec *spec;
    int dir;                     /* -1: none yet */
    struct saved_writer *writer; /* NULL until saver_open(), and where that failed */
    struct buf early;            /* frames */
    bool over;                   /* nothing is saved any more */
};

struct saver *saver_new(const struct spec *spec)
{
    struct saver *saver = mem_alloc(sizeof(*saver));
    *saver = (struct saver){.spec = spec, .dir = -1};
    return saver;
}

void saver_free(struct saver *saver)
{
    if (!saver)
        return;
    saved_writer_free(saver->writer);
    if (saver->dir >= 0)
        close(saver->dir);
    buf_free(&saver->early);
    free(saver);
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
    return rc;
}

int saver_open(struct saver *saver, const char *path, struct error *err)
{
    if (saver->writer || saver->over)
        return 0;
    saver->dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (saver->dir < 0)
        error_set(err, "cannot save output in %s: %s", path, strerror(errno));
    else
        saver->writer = saved_writer_new(saver->dir, saver->spec->save_limit, err);
    saver->over = !saver->writer;
    return saver->writer ? saver_write_early(saver, err) : -1;
}

/* What goes to files is there already. */
static bool saver_wants(const struct saver *saver, const struct frame *frame)
{
    const struct spec *spec = saver->spec;
    bool error = frame->flags & FRAME_STDERR && !spec->merge;
    switch (frame->type) {
    case FRAME_OUTPUT:
        return !(error ? spec->error : spec->output) || spec->tee;
    case FRAME_SHOW:
    case FRAME_NOTE:
    case FRAME_MAPPED:
    case FRAME_END:
        return true;
    default:
        return false;
    }
}

int saver_take(struct saver *saver, const struct frame *frame, struct error *err)
{
    unsigned char header[FRAME_HEADER];
    if (saver->over || !saver_wants(saver, frame))
        return 0;
    if (saver->writer)
        return saved_writer_add(saver->writer, frame, err);
    if (saver->early.len + frame->len > EARLY_MAX)
        return 0;
    frame_encode_header(frame, header);
    buf_add(&saver->early, header, sizeof(header));
    buf_add(&saver->early, frame->bytes, frame->len);
    return 0;
}

void saver_end(struct saver *saver, int status, const char *messages)
{
    json_t *end = json_pack("{s:i, s:o}", "status", status, "messages", frame_text(messages));
    char *text = json_dumps(end, JSON_COMPACT);
    struct frame frame = {.type = FRAME_END, .bytes = text, .len = text ? strlen(text) : 0};
    if (saver->writer) {
        saved_writer_add(saver->writer, &frame, NULL);
        saved_writer_end(saver->writer, status);
    }
    saver->over = true;
    free(text);
    json_decref(end);
}
