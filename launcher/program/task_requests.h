/*
 * task_requests - what tasks that speak PMI-1 or PMI-2 ask of their program, and the answers.
 *
 * Names that are published and ranks that ended badly are answered at once; a spawn is answered
 * when its tasks have been started, or cannot be.
 */
#ifndef LAUNCHER_PROGRAM_TASK_REQUESTS_H
#define LAUNCHER_PROGRAM_TASK_REQUESTS_H

#include "launcher/program/outcome.h"
#include "launcher/program/program_service.h"
#include "launcher/protocol/task_request.h"
#include "launcher/tree/tree.h"

/* A task that has asked its program for something, and waits for the answer. */
struct requester {
    uint32_t node, group;
    uint32_t number; /* of its request, on its node */
    uint32_t rank;   /* in its group */
    bool aloud;      /* a refusal is shown in any case */
};

/* Send the answer to its node. */
void requester_answer(const struct requester *requester, struct tree *tree,
                      const struct task_answer *answer);

struct task_requests;

struct task_requests_ops {
    /* As spawn_take(). */
    void (*spawn)(void *owner, struct task_request *request, const struct requester *requester);
    void (*note)(void *owner, const char *text);
};

/* All is borrowed. */
struct task_requests *task_requests_new(struct tree *tree, struct task_groups *groups,
                                        struct program_service *service,
                                        const struct outcome *outcome,
                                        const struct task_requests_ops *ops, void *owner);
void task_requests_free(struct task_requests *requests); /* NULL is fine */

/* FRAME_ASK, and its JSON (frame_check.h). */
void task_requests_take(struct task_requests *requests, const struct frame *frame,
                        const json_t *value);

#endif
