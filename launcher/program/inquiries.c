/* Questions to agents: which are open, who has answered, whose time is over. */
#include "launcher/program/inquiries.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/mem.h"

struct open_inquiry {
    struct open_inquiry *next;
    struct inquiries *inquiries;
    uint32_t number;
    struct idset *unheard; /* nodes that have not answered */
    struct idset *lost;    /* that will not */
    struct inquiry_node *nodes;
    size_t nnodes;
    ev_timer patience; /* in the end: told from the loop */
    inquiry_done_fn *done;
    void *owner;
};

struct inquiries {
    struct ev_loop *loop;
    void (*send)(void *arg, const struct idset *nodes, const struct frame *frame);
    void *arg;
    struct open_inquiry *first; /* the oldest */
    uint32_t next_number;
};

/* ---- the end of one ---- */

static void open_inquiry_free(struct open_inquiry *open)
{
    ev_timer_stop(open->inquiries->loop, &open->patience);
    for (size_t i = 0; i < open->nnodes; i++)
        inquiry_answer_clear(&open->nodes[i].answer);
    free(open->nodes);
    idset_free(open->unheard);
    idset_free(open->lost);
    free(open);
}

static int compare_nodes(const void *a, const void *b)
{
    const struct inquiry_node *x = a, *y = b;
    return x->node < y->node ? -1 : x->node > y->node;
}

/* It is in no list any more. */
static void inquiry_tell(struct open_inquiry *open)
{
    idset_add_set(open->lost, open->unheard);
    if (open->nnodes)
        qsort(open->nodes, open->nnodes, sizeof(*open->nodes), compare_nodes);
    struct inquiry_result result = {open->nodes, open->nnodes, open->lost};
    open->done(open->owner, &result);
    open_inquiry_free(open);
}

static void inquiry_on_patience(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct open_inquiry *open = timer->data, **at = &open->inquiries->first;
    (void)loop, (void)events;
    while (*at != open)
        at = &(*at)->next;
    *at = open->next;
    inquiry_tell(open);
}

/* Told in the next turn of the loop. */
static void inquiry_end(struct open_inquiry *open)
{
    ev_timer_stop(open->inquiries->loop, &open->patience);
    ev_timer_set(&open->patience, 0, 0);
    ev_timer_start(open->inquiries->loop, &open->patience);
}

static void inquiry_check(struct open_inquiry *open)
{
    if (idset_empty(open->unheard))
        inquiry_end(open);
}

/* ---- what happens ---- */

void inquiries_ask(struct inquiries *inquiries, const struct inquiry *inquiry, double patience,
                   inquiry_done_fn *done, void *owner)
{
    struct open_inquiry *open = mem_alloc(sizeof(*open)), **last = &inquiries->first;
    *open = (struct open_inquiry){.inquiries = inquiries,
                                  .number = inquiries->next_number++,
                                  .unheard = idset_copy(inquiry->nodes),
                                  .lost = idset_new(),
                                  .done = done,
                                  .owner = owner};
    while (*last)
        last = &(*last)->next;
    *last = open;
    ev_timer_init(&open->patience, inquiry_on_patience, patience, 0);
    open->patience.data = open;
    ev_timer_start(inquiries->loop, &open->patience);
    json_t *value = inquiry_to_json(inquiry);
    char *text = json_dumps(value, JSON_COMPACT);
    struct frame frame = {
        .type = FRAME_INQUIRY, .rank = open->number, .bytes = text, .len = strlen(text)};
    inquiries->send(inquiries->arg, inquiry->nodes, &frame);
    inquiry_check(open);
    free(text);
    json_decref(value);
}

/* One that is malformed is none. */
void inquiries_answer(struct inquiries *inquiries, const struct frame *frame, const json_t *value)
{
    struct open_inquiry *open = inquiries->first;
    while (open && open->number != frame->rank)
        open = open->next;
    if (!open || !idset_has(open->unheard, frame->node))
        return;
    idset_remove(open->unheard, frame->node);
    open->nodes = array_grow(open->nodes, open->nnodes, sizeof(*open->nodes));
    struct inquiry_node *node = &open->nodes[open->nnodes];
    node->node = frame->node;
    if (inquiry_answer_from_json(&node->answer, value, NULL) == 0) {
        open->nnodes++;
    } else {
        idset_add(open->lost, frame->node);
        inquiry_answer_clear(&node->answer);
    }
    inquiry_check(open);
}

void inquiries_lost(struct inquiries *inquiries, const struct idset *nodes)
{
    for (struct open_inquiry *open = inquiries->first; open; open = open->next) {
        struct idset *both = idset_intersect(open->unheard, nodes);
        idset_add_set(open->lost, both);
        idset_remove_set(open->unheard, both);
        idset_free(both);
        inquiry_check(open);
    }
}

void inquiries_settle(struct inquiries *inquiries)
{
    for (struct open_inquiry *open = inquiries->first; open; open = open->next)
        inquiry_end(open);
}

/* ---- life ---- */

struct inquiries *inquiries_new(struct ev_loop *loop,
                                void (*send)(void *arg, const struct idset *nodes,
                                             const struct frame *frame),
                                void *arg)
{
    struct inquiries *inquiries = mem_alloc(sizeof(*inquiries));
    *inquiries = (struct inquiries){.loop = loop, .send = send, .arg = arg};
    return inquiries;
}

void inquiries_free(struct inquiries *inquiries)
{
    if (!inquiries)
        return;
    for (struct open_inquiry *open; (open = inquiries->first);) {
        inquiries->first = open->next;
        inquiry_tell(open);
    }
    free(inquiries);
}
