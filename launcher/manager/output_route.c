/* Sends what is shown, saves it, or does both; and changes from one to another while the program runs. */
#include "launcher/manager/output_route.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "launcher/manager/saver.h"

struct output_route {
    struct ev_loop *loop;
    const struct spec *spec;
    struct viewer *viewer;
    struct saver *saver; /* NULL: nothing is saved */
    bool saves;          /* its files are read by whoever wants to see the output */
    bool copies;         /* it was opened for who attached: the front end shows it, too */
    bool shows;          /* the front end is on another host, and does not read what is saved */
    bool finished;
};

static bool is_sent_too(const struct output_route *route)
{
    return route->copies || route->shows;
}

/* From now on it is sent, too. */
static void route_on_stopped(void *owner, const struct error *why)
{
    struct output_route *route = owner;
    (void)why; /* who reads the files finds it there */
    if (!is_sent_too(route))
        viewer_send_text(route->viewer, FRAME_SAVE, "");
}

/* The table of tasks was sent in any case. */
static void route_on_unsaved(void *owner, const struct frame *frame)
{
    struct output_route *route = owner;
    struct link *link = viewer_link(route->viewer);
    if (link && frame->type != FRAME_MAPPED && !is_sent_too(route))
        link_send(link, frame);
}

static const struct saver_ops route_saver_ops = {route_on_stopped, route_on_unsaved};

/* NULL: nothing is saved any more. */
static void use_saver(struct output_route *route, struct saver *saver)
{
    route->saver = saver;
    viewer_save(route->viewer, saver);
}

struct output_route *output_route_new(struct ev_loop *loop, const struct spec *spec,
                                      struct viewer *viewer)
{
    struct output_route *route = mem_alloc(sizeof(*route));
    *route = (struct output_route){.loop = loop,
                                   .spec = spec,
                                   .viewer = viewer,
                                   .shows = spec->is_sent && spec_saves(spec) && !spec->detach};
    if (spec_saves(spec))
        use_saver(route, saver_new(loop, spec, &route_saver_ops, route));
    return route;
}

void output_route_free(struct output_route *route)
{
    if (!route)
        return;
    viewer_save(route->viewer, NULL);
    saver_free(route->saver);
    free(route);
}

void output_route_disown(struct output_route *route)
{
    saver_disown(route->saver);
}

/* ---- saving begins ---- */

static bool route_save(struct output_route *route, const char *path)
{
    struct error err = ERROR_INIT;
    bool good = saver_open(route->saver, path, &err) == 0;
    route->saves = true;
    viewer_send_text(route->viewer, FRAME_SAVE, good ? path : "");
    if (!good)
        viewer_note(route->viewer, error_text(&err));
    error_clear(&err);
    return good;
}

void output_route_open(struct output_route *route, const char *path)
{
    if (spec_saves(route->spec) && !route->saves)
        route_save(route, path);
}

/* For who reads what was not saved from the beginning. */
static void save_note(struct saver *saver)
{
    char text[64];
    time_t now = time(NULL);
    struct tm local;
    strftime(text, sizeof(text), "output before %H:%M:%S was not saved", localtime_r(&now, &local));
    saver_take(saver, &(struct frame){.type = FRAME_NOTE, .bytes = text, .len = strlen(text)});
}

int output_route_copy(struct output_route *route, const char *path, struct error *err)
{
    if (route->saver)
        return 0;
    struct saver *saver = saver_new(route->loop, route->spec, &route_saver_ops, route);
    if (saver_open(saver, path, err) < 0) {
        saver_free(saver);
        return -1;
    }
    save_note(saver);
    route->copies = true;
    use_saver(route, saver);
    return 0;
}

/* ---- while it runs ---- */

bool output_route_take(struct output_route *route, const struct frame *frame)
{
    return saver_take(route->saver, frame) && !is_sent_too(route);
}

bool output_route_saves(const struct output_route *route)
{
    return route->saves;
}

bool output_route_copies(const struct output_route *route)
{
    return route->copies;
}

/* In place of a copy that has stopped, if there was one: who reads that finds the new files before the old one goes. */
static bool save_anew(struct output_route *route, const char *path)
{
    struct saver *stopped = route->saver;
    saver_remove(stopped);
    use_saver(route, saver_new(route->loop, route->spec, &route_saver_ops, route));
    bool good = route_save(route, path);
    saver_free(stopped);
    if (good) {
        save_note(route->saver);
        return true;
    }
    struct saver *failed = route->saver;
    use_saver(route, NULL);
    saver_free(failed);
    route->saves = false;
    return false;
}

void output_route_leave(struct output_route *route, const char *path)
{
    struct link *link = viewer_link(route->viewer);
    if (route->shows) { /* nobody sees it any more: the process in the background stays */
        route->shows = false;
        return;
    }
    if (route->saves && saver_is_stopped(route->saver))
        viewer_send_text(route->viewer, FRAME_SAVE, "");
    if (route->finished || route->saves || !link)
        return;
    bool saved = route->copies && !saver_is_stopped(route->saver);
    route->copies = false;
    if (saved) { /* for who attached */
        route->saves = true;
        viewer_send_text(route->viewer, FRAME_SAVE, path);
    } else if (!save_anew(route, path)) {
        return;
    }
    link_send(link, &(struct frame){.type = FRAME_SENT});
}

void output_route_go_alone(struct output_route *route)
{
    route->shows = false;
    saver_keep_all(route->saver);
}

/* ---- the end ---- */

void output_route_finish(struct output_route *route)
{
    route->finished = true;
    saver_flush(route->saver);
}

void output_route_end(struct output_route *route, int status, const char *messages)
{
    saver_end(route->saver, status, messages);
}
