/*
 * false-tree - a tree without agents, in place of launcher/tree/tree.c: it keeps a log of what it
 * is told, "LAUNCH.0@0-1" for a frame of group 0 to nodes 0 and 1, "early" before what is sent
 * early. The test says what agents say.
 */
#ifndef TESTS_UNIT_FALSE_TREE_H
#define TESTS_UNIT_FALSE_TREE_H

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "launcher/tree/tree.h"
#include "tests/unit/unit.h"

static bool false_tree_takes_early; /* all of its nodes do */

struct tree {
    struct buf log; /* words, with a blank between two */
    struct idset *up;
    json_t *launch; /* the last FRAME_LAUNCH, answer of a FRAME_ANSWER; or NULL */
    json_t *answer;
};

__attribute__((format(printf, 2, 3))) static void false_tree_log(struct tree *tree, const char *fmt,
                                                                 ...)
{
    char text[256];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    buf_printf(&tree->log, "%s%s", tree->log.len ? " " : "", text);
}

/* What was logged since the last call. */
static void assert_log(struct tree *tree, const char *want)
{
    if (strcmp(buf_text(&tree->log), want) != 0)
        fail_msg("log \"%s\", expected \"%s\"", buf_text(&tree->log), want);
    buf_free(&tree->log);
}

/* NULL: the frame is not logged. */
static const char *false_tree_word(const struct frame *frame)
{
    static const char *const words[FRAME_NTYPES] = {
        [FRAME_LAUNCH] = "LAUNCH", [FRAME_GO] = "GO",
        [FRAME_SIGNAL] = "SIGNAL", [FRAME_TERMINATE] = "TERMINATE",
        [FRAME_ANSWER] = "ANSWER", [FRAME_FENCE_DOWN] = "FENCE_DOWN"};
    return words[frame->type];
}

static void false_tree_keep(struct tree *tree, const struct frame *frame)
{
    json_t **kept = frame->type == FRAME_LAUNCH   ? &tree->launch
                    : frame->type == FRAME_ANSWER ? &tree->answer
                                                  : NULL;
    if (!kept)
        return;
    json_decref(*kept);
    struct frame value = *frame; /* of a launch without the environment behind it */
    value.len = strnlen(frame->bytes, frame->len);
    *kept = frame_json(&value, NULL);
}

struct tree *tree_new(struct ev_loop *loop, const struct bootstrap *boot,
                      const struct tree_ops *ops, void *arg)
{
    struct tree *tree = mem_alloc(sizeof(*tree));
    (void)loop, (void)boot, (void)ops, (void)arg;
    tree->up = idset_new();
    return tree;
}

void tree_free(struct tree *tree)
{
    buf_free(&tree->log);
    idset_free(tree->up);
    json_decref(tree->launch);
    json_decref(tree->answer);
    free(tree);
}

void tree_start(struct tree *tree, const struct tree_target *targets, size_t count,
                enum tree_try how)
{
    for (size_t i = 0; i < count; i++) {
        false_tree_log(tree, "%s@%u", how == TREE_LATE ? "late" : "start", targets[i].node);
        idset_add(tree->up, targets[i].node);
    }
}

void tree_send_nodes(struct tree *tree, const struct idset *nodes, const struct frame *frame)
{
    char *text = idset_encode(nodes);
    if (false_tree_word(frame))
        false_tree_log(tree, "%s.%u@%s", false_tree_word(frame), frame->group, text);
    false_tree_keep(tree, frame);
    free(text);
}

void tree_send_node(struct tree *tree, uint32_t node, const struct frame *frame)
{
    if (false_tree_word(frame))
        false_tree_log(tree, "%s.%u@%u", false_tree_word(frame), frame->group, node);
    false_tree_keep(tree, frame);
}

bool tree_takes_early(const struct tree *tree, uint32_t node)
{
    return false_tree_takes_early && idset_has(tree->up, node);
}

void tree_send_early(struct tree *tree, uint32_t node, const struct frame *frame)
{
    false_tree_log(tree, "early");
    tree_send_node(tree, node, frame);
}

void tree_send(struct tree *tree, const struct frame *frame)
{
    if (frame->type == FRAME_TERMINATE)
        false_tree_log(tree, "TERMINATE:%u", frame->rank);
    else if (false_tree_word(frame))
        false_tree_log(tree, "%s:%u", false_tree_word(frame), frame->flags);
}

void tree_end(struct tree *tree, double patience)
{
    (void)patience;
    false_tree_log(tree, "end");
}

void tree_add_nodes(const struct tree *tree, struct idset *nodes)
{
    idset_add_set(nodes, tree->up);
}

void tree_forget(struct tree *tree, const struct idset *nodes)
{
    IDSET_FOREACH(node, nodes)
    {
        idset_remove(tree->up, node);
    }
}

size_t tree_room(const struct tree *tree, const struct idset *nodes)
{
    (void)tree, (void)nodes;
    return SIZE_MAX;
}

void tree_consumed(struct tree *tree, uint32_t child, size_t bytes)
{
    (void)tree, (void)child, (void)bytes;
}

int64_t tree_clock_offset(const struct tree *tree, uint32_t child)
{
    (void)tree, (void)child;
    return 0;
}

#endif
