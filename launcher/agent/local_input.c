/* Frames of stdin, passed on and written; credit for them. */
#include "launcher/agent/local_input.h"

#include <stdlib.h>

#include "base/mem.h"
#include "launcher/protocol/input_choice.h"

struct local_input {
    const struct local_services *services;
    struct idset *nodes;   /* of the tree: where stdin is read; NULL: not known yet */
    struct idset *mine;    /* ranks on this node that had stdin */
    uint32_t number;       /* of the choice; 0: none yet */
    struct idset *ranks;   /* of it; NULL: all that read */
    struct idset *target;  /* nodes of it; NULL: all where stdin is read */
    struct idset *gone;    /* ranks of it that were reported */
    bool left;             /* the sender has ended: nobody waits for those who are behind */
    size_t unacknowledged; /* bytes that are given back as credit when they are taken */
};

struct local_input *local_input_new(const struct local_services *services)
{
    struct local_input *input = mem_alloc(sizeof(*input));
    *input = (struct local_input){.services = services, .mine = idset_new(), .gone = idset_new()};
    return input;
}

void local_input_free(struct local_input *input)
{
    idset_free(input->nodes);
    idset_free(input->mine);
    idset_free(input->ranks);
    idset_free(input->target);
    idset_free(input->gone);
    free(input);
}

void local_input_launched(struct local_input *input, const struct launch *launch)
{
    idset_free(input->nodes);
    input->nodes = launch_input_nodes(launch->spec, launch->map, launch->tree_node, launch->nnodes);
    for (uint32_t i = 0; i < launch->nlocal; i++)
        if (launch_reads_input(launch->spec, launch->input_ranks, launch->tasks[i].rank))
            idset_add(input->mine, launch->first_rank + launch->tasks[i].rank);
}

void local_input_send_down(struct local_input *input, const struct frame *frame)
{
    if (input->nodes)
        downlink_send_nodes(input->services->downlink, input->nodes, frame);
}

static void take_choice(struct local_input *input, const struct frame *frame)
{
    struct input_choice choice;
    json_t *value = frame_json(frame, NULL);
    if (value && input_choice_from_json(&choice, value, NULL) == 0) {
        idset_free(input->ranks);
        idset_free(input->target);
        idset_free(input->gone);
        input->gone = idset_new();
        input->ranks = choice.ranks;
        input->target = choice.nodes;
        input->number = frame->rank;
        input->left = false;
    } else if (value) {
        input_choice_clear(&choice);
    }
    json_decref(value);
}

/* Who sends hears that nobody reads what comes. */
static void report_gone(struct local_input *input, struct local_group *first)
{
    struct uplink *uplink = input->services->uplink;
    struct idset *gone = idset_intersect(input->ranks, input->mine);
    struct idset *reading = idset_new(), *lagging = idset_new();
    if (first)
        group_tasks_add_reading(local_group_tasks(first), gone, reading, lagging);
    idset_remove_set(gone, reading);
    idset_remove_set(gone, input->gone);
    if (!idset_empty(gone))
        uplink_send_json(uplink,
                         (struct frame){.type = FRAME_STDIN_GONE,
                                        .node = uplink_node(uplink),
                                        .rank = input->number},
                         json_pack("{s:o}", "ranks", idset_to_json(gone)));
    idset_add_set(input->gone, gone);
    idset_free(gone);
    idset_free(reading);
    idset_free(lagging);
}

void local_input_take(struct local_input *input, struct local_group *first,
                      const struct frame *frame)
{
    const struct idset *to = input->target ? input->target : input->nodes;
    if (frame->type == FRAME_STDIN_LEFT) { /* which comes before what waits for credit */
        local_input_send_down(input, frame);
        input->left = true;
        return;
    }
    if (frame->type == FRAME_STDIN_CHOOSE) {
        take_choice(input, frame);
        to = input->target;
    }
    if (to)
        downlink_send_nodes(input->services->downlink, to, frame);
    if (first && frame->type != FRAME_STDIN_CHOOSE)
        group_tasks_on_stdin(local_group_tasks(first), frame, input->ranks);
    if (input->number && frame->type == FRAME_STDIN)
        report_gone(input, first);
    input->unacknowledged += link_weight(frame);
}

bool local_input_lags(const struct local_input *input, const struct local_group *first)
{
    return first && !input->left && group_tasks_lag(local_group_tasks(first), input->ranks);
}

void local_input_settle(struct local_input *input, const struct local_group *first)
{
    const struct local_services *services = input->services;
    const struct idset *to = input->target ? input->target : input->nodes;
    if (!input->unacknowledged || uplink_is_lost(services->uplink))
        return;
    if (local_input_lags(input, first) || !downlink_has_room(services->downlink, to))
        return;
    uplink_consumed(services->uplink, input->unacknowledged);
    input->unacknowledged = 0;
}
