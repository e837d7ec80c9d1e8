/* Answers to tasks that have asked their program for something. */
#include "launcher/program/requester.h"

#include <stdlib.h>
#include <string.h>

void requester_answer(const struct requester *requester, struct tree *tree,
                      const struct task_answer *answer)
{
    json_t *value = task_answer_to_json(answer);
    char *text = json_dumps(value, JSON_COMPACT);
    struct frame frame = {.type = FRAME_ANSWER,
                          .node = requester->node,
                          .rank = requester->number,
                          .group = requester->group,
                          .bytes = text,
                          .len = text ? strlen(text) : 0};
    tree_send_node(tree, requester->node, &frame);
    json_decref(value);
    free(text);
}
