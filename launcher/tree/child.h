/*
 * child - one agent right below this process: the command that reaches it, its link, its words.
 * Private to the tree.
 */
#ifndef LAUNCHER_TREE_CHILD_H
#define LAUNCHER_TREE_CHILD_H

#include "launcher/tree/tree.h"

struct child {
    struct tree *tree;
    uint32_t number;
    uint32_t node;
    char *host;
    struct idset *nodes; /* its own and those behind it */
    pid_t pid;           /* 0 once reaped */
    struct link *link;   /* NULL once closed */
    enum bootstrap_stage stage;
    double started; /* loop time */
    double patience;
    bool silent;  /* that was not enough */
    int words_fd; /* the command's stderr, or -1 */
    struct buf raw, words;
    struct buf noise;
    ev_io words_reader;
    ev_child exited;
    ev_timer timer; /* start deadline; then patience for the last words; then for the end */
    int status;     /* of the command */
    size_t owed;    /* bulk bytes passed on that still wait further up */
    bool settled;   /* up, or told as unreached or lost */
    bool ending;
};

struct child_group { /* a child and those it is to start */
    const struct tree_target *target;
    const struct tree_target *below;
    size_t nbelow;
    double patience; /* s that it may take to answer */
};

struct child *child_start(struct tree *tree, uint32_t number, const struct child_group *group);
void child_end(struct child *child, double patience);
void child_free(struct child *child);

/* What a child needs of its tree. */
struct ev_loop *tree_loop(const struct tree *tree);
const struct bootstrap *tree_boot(const struct tree *tree);
void tree_child_frame(struct tree *tree, struct child *child, const struct frame *frame);
void tree_child_room(struct tree *tree);
void tree_child_note(struct tree *tree, const char *text);
void tree_child_unreached(struct tree *tree, struct child *child, const char *text);
void tree_child_lost(struct tree *tree, struct child *child, const char *why);
void tree_child_gone(struct tree *tree, struct child *child);
int tree_agent_here(struct tree *tree, int fd);

#endif
