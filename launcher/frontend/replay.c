/* Reads saved output a piece at a time, so that signals are heard meanwhile. */
#include "launcher/frontend/replay.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define PIECE (1u << 20) /* bytes that are taken in one turn of the loop */
#define FLOWS 0.005 /* s until it is looked again where there was something: not at every write */
#define SLOWS 1.5   /* factor: a pause in which nothing came makes the next one longer */
#define WATCH 0.05  /* s: after a pause longer than this the kernel is asked to tell of changes */
#define LOOK 1.0    /* s between looks then: the kernel does not tell of all ends */

struct replay {
    struct ev_loop *loop;
    struct saved_reader *reader;
    size_t skip;
    bool follow;
    const struct replay_ops *ops;
    void *owner;
    ev_timer turn; /* the next */
    double pause;  /* s to it, while there is nothing to read */
    ev_io more;    /* once that has lasted */
    bool watches;
};

static void replay_stop(struct replay *replay)
{
    ev_timer_stop(replay->loop, &replay->turn);
    if (replay->watches)
        ev_io_stop(replay->loop, &replay->more);
    replay->watches = false;
}

static void replay_next_turn(struct replay *replay, double seconds)
{
    ev_timer_stop(replay->loop, &replay->turn);
    ev_timer_set(&replay->turn, seconds, 0);
    ev_timer_start(replay->loop, &replay->turn);
}

void replay_look(struct replay *replay)
{
    replay_stop(replay);
    replay_next_turn(replay, 0);
}

static void replay_on_more(struct ev_loop *loop, ev_io *io, int events)
{
    (void)loop, (void)events;
    replay_look(io->data);
}

static void replay_watch(struct replay *replay, int fd)
{
    replay_next_turn(replay, LOOK);
    ev_io_init(&replay->more, replay_on_more, fd, EV_READ);
    replay->more.data = replay;
    ev_io_start(replay->loop, &replay->more);
    replay->watches = true;
}

/* There is no more now. What has come before the watch began is seen at the next turn. */
static void replay_wait(struct replay *replay, bool flows)
{
    bool watches = !flows && replay->pause > WATCH, was = saved_reader_is_watched(replay->reader);
    if (!watches)
        replay->pause = flows ? FLOWS : replay->pause * SLOWS;
    int fd = watches ? saved_reader_watch(replay->reader) : -1;
    if (fd >= 0 && was)
        replay_watch(replay, fd);
    else
        replay_next_turn(replay, fd >= 0 ? 0 : watches ? LOOK : replay->pause);
}

static void replay_on_turn(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct replay *replay = timer->data;
    struct saved_item item;
    struct error err = ERROR_INIT;
    size_t taken = 0;
    (void)loop, (void)events;
    replay_stop(replay);
    while (taken < PIECE) {
        if (replay->ops->full(replay->owner))
            return;
        enum saved_result result = saved_reader_next(replay->reader, &item, &err);
        if (result == SAVED_FRAME) {
            taken += FRAME_HEADER + item.frame.len;
            if (replay->skip)
                replay->skip--;
            else
                replay->ops->frame(replay->owner, &item.frame);
        } else if (result == SAVED_DROPPED || result == SAVED_STOPPED) {
            const char *why = result == SAVED_DROPPED ? NULL : strerror(item.error);
            replay_next_turn(replay, 0);
            replay->ops->missing(replay->owner, item.dropped, why); /* may free it */
            return;
        } else if (result == SAVED_WAIT && replay->follow) {
            replay_wait(replay, taken > 0);
            return;
        } else { /* may free it */
            int status = result == SAVED_END    ? item.status
                         : result == SAVED_WAIT ? REPLAY_GOES_ON
                                                : -1;
            replay->ops->ended(replay->owner, status,
                               result == SAVED_BAD ? error_text(&err) : NULL);
            error_clear(&err);
            return;
        }
    }
    replay_next_turn(replay, 0);
}

struct replay *replay_new(struct ev_loop *loop, struct saved_reader *reader, size_t skip,
                          bool follow, const struct replay_ops *ops, void *owner)
{
    struct replay *replay = mem_alloc(sizeof(*replay));
    *replay = (struct replay){.loop = loop,
                              .reader = reader,
                              .skip = skip,
                              .follow = follow,
                              .ops = ops,
                              .owner = owner,
                              .pause = FLOWS};
    ev_timer_init(&replay->turn, replay_on_turn, 0, 0);
    replay->turn.data = replay;
    replay_next_turn(replay, 0);
    return replay;
}

void replay_resume(struct replay *replay)
{
    if (!ev_is_active(&replay->turn))
        replay_next_turn(replay, 0);
}

void replay_free(struct replay *replay)
{
    if (!replay)
        return;
    replay_stop(replay);
    saved_reader_free(replay->reader);
    free(replay);
}
