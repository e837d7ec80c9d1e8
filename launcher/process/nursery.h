/*
 * nursery - a process that forks others on request, each with descriptors that were sent along.
 *
 * It is forked before its maker has threads, tasks or links, so what it forks later has none of
 * these, and starts at once: all that was read and loaded before is there. It ends when its maker
 * has closed it, or is gone, and all that it forked has ended; what it forked ends by itself, when
 * its descriptors close.
 */
#ifndef LAUNCHER_PROCESS_NURSERY_H
#define LAUNCHER_PROCESS_NURSERY_H

#include <ev.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"
#include "launcher/process/descriptor_message.h"

struct nursery;

struct nursery_ops { /* `arg` is what nursery_new() was given */
    /* In each forked process, which has the descriptors that were sent (and owns them), 0 to 2, and
     * no others; the result is the exit status. */
    int (*child)(void *arg, const int *fds, size_t nfds);
    /* In the nursery: what nursery_tell() has handed over; it is closed afterwards. A process that is
     * asked for later is forked after that, unless it was forked ahead before. NULL: nothing is
     * handed over. */
    void (*told)(void *arg, int fd);
    /* In the nursery, at the first request: what it reads now those that it forks have read. NULL:
     * nothing. */
    void (*prepare)(void *arg);
    /* In the nursery, after each fork until it returns true: what takes time, of use to later ones.
     * NULL: nothing. */
    bool (*warm)(void *arg);
    /* In a process that was forked ahead of a request, as child(): the descriptors come over
     * `request` (descriptor_message.h), which has an end instead where it was not needed for a while.
     * NULL: none is. */
    int (*child_ahead)(void *arg, int request);
    int ahead_kept; /* so long, in ms */
};

/* The loop is the maker's, or NULL: it has none yet, see nursery_attach(). NULL with a sentence. */
struct nursery *nursery_new(struct ev_loop *loop, const struct nursery_ops *ops, void *arg,
                            struct error *err);
void nursery_shut(struct nursery *nursery); /* nothing is asked of it any more */
void nursery_free(struct nursery *nursery); /* its process is ended. NULL is fine */
void nursery_disown(
    struct nursery *nursery); /* in a forked process: close this copy. NULL is fine */
pid_t nursery_pid(const struct nursery *nursery);
/* The maker has a loop now: requests that the nursery is too slow for wait there. */
void nursery_attach(struct nursery *nursery, struct ev_loop *loop);
/* Blocks never. The descriptors stay the caller's. 0, or -1 with a sentence. */
int nursery_start(struct nursery *nursery, const int *fds, size_t nfds, struct error *err);
/* The same by a process that was forked ahead, if there is one; and another one is forked after it,
 * once the nursery is warm. */
int nursery_start_ahead(struct nursery *nursery, const int *fds, size_t nfds, struct error *err);
/* Hand a file to the nursery itself: ops->told(). The rest is as for nursery_start(). */
int nursery_tell(struct nursery *nursery, int fd, struct error *err);

#endif
