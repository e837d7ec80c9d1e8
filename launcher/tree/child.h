/*
 * child - one agent right below this process: the command that reaches it, its link, its words.
 * Private to the tree.
 */
#ifndef LAUNCHER_TREE_CHILD_H
#define LAUNCHER_TREE_CHILD_H

#include <ev.h>
#include <stdbool.h>
#include <sys/types.h>

#include "affinity/sets/idset.h"
#include "launcher/tree/bootstrap.h"
#include "launcher/tree/link.h"
#include "launcher/tree/start_queue.h"

struct child;
struct multi_host_start;

/* Whose children they are: what each of them needs to know, and whom it tells. */
struct child_owner {
    struct ev_loop *loop;
    const struct bootstrap *boot;
    void *arg;
    void (*frame)(void *arg, struct child *child, const struct frame *frame);
    void (*room)(void *arg);
    void (*note)(void *arg, const char *text); /* words of a host that is up */
    void (*unreached)(void *arg, struct child *child, const char *text);
    void (*lost)(void *arg, struct child *child, const char *why);
    void (*gone)(void *arg, struct child *child); /* link and process; once or more */
    int (*here)(void *arg, int fd);               /* in a forked child: be the agent */
};

struct child {
    const struct child_owner *owner;
    uint32_t number;
    uint32_t node;
    char *host;
    char *login; /* as the command that starts it knows the host */
    struct start_queue_group group;
    bool welcomed;
    bool reaching;       /* it counts for the fan-out: a command that has not come to its end */
    struct idset *nodes; /* its own and those behind it */
    pid_t pid;           /* 0 once reaped, or where it has no command of its own */
    struct link *link;   /* NULL once closed */
    enum bootstrap_stage stage;
    double started; /* s of the monotonic clock */
    bool silent;    /* its patience was not enough */
    int words_fd;   /* the command's stderr, or -1 */
    struct buf raw, words;
    struct buf noise;
    ev_io words_reader;
    ev_child exited;
    ev_timer timer; /* start deadline; then patience for the last words; then for the end */
    int status;     /* of the command */
    size_t owed;    /* bulk bytes passed on that still wait further up */
    bool here;      /* forked by this process */
    bool lent;      /* an instance has started its agent, and has its process */
    bool early;     /* its agent was sent work before it was up */
    bool settled;   /* up, or told as unreached or lost */
    char *lost;     /* why its link closed once it was up, until that is told */
    bool ending;
    bool killed; /* its time to end was over */
    /* Of a child whose agent is started together with others: by what, and what that has said. */
    struct multi_host_start *start;
    const struct buf *start_words;
};

/* The child for the first of the group, whose reference is the child's from now on. */
struct child *child_start(const struct child_owner *owner, uint32_t number,
                          const struct start_queue_group *group);
/* Of one that is started together with others: its agent has connected on fd, which is taken. */
void child_arrived(struct child *child, int fd);
/* The command that starts them has ended, or could not begin, for this reason. */
void child_start_over(struct child *child, const char *why);

/* As tree_takes_early() and tree_send_early(). */
bool child_takes_early(const struct child *child);
void child_send_early(struct child *child, const struct frame *frame);

void child_end(struct child *child, double patience);
void child_free(struct child *child);

#endif
