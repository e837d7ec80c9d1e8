/*
 * replay - saved output (launcher/saved) read by a loop: what there is, and then what comes, as
 * fast as it is taken.
 */
#ifndef LAUNCHER_FRONTEND_REPLAY_H
#define LAUNCHER_FRONTEND_REPLAY_H

#include <ev.h>
#include <stdbool.h>
#include <stdint.h>

#include "launcher/saved/saved_output.h"

struct replay;

#define REPLAY_GOES_ON (-2)

struct replay_ops { /* all from the loop; what is borrowed is so for the call */
    void (*frame)(void *owner, const struct frame *frame);
    bool (*full)(void *owner); /* no more can be taken until replay_resume() */
    /* So many bytes are missing here: removed (why is NULL), or not saved. The replay may be freed
     * here. */
    void (*missing)(void *owner, uint64_t bytes, const char *why);
    /* There is no more. Status -1: how the program ended is not known, and why is a sentence or
     * NULL; REPLAY_GOES_ON without `follow`. Once, and nothing after it; the replay may be freed
     * here. */
    void (*ended)(void *owner, int status, const char *why);
};

/* Takes the reader. The first `skip` frames are passed over. Without `follow` the end is what there
 * is now. */
struct replay *replay_new(struct ev_loop *loop, struct saved_reader *reader, size_t skip,
                          bool follow, const struct replay_ops *ops, void *owner);
void replay_free(struct replay *replay); /* NULL is fine */
void replay_resume(struct replay *replay);
/* There may be more, or the end: look now, not only after a while. */
void replay_look(struct replay *replay);

#endif
