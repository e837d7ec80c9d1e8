/* What hosts of openpmix on different nodes post to each other, by way of the agents between them. */
#include <stdlib.h>

#include "base/mem.h"
#include "launcher/agent/pmix_room.h"

struct pmix_post { /* that came before the group was started here */
    struct pmix_post *next;
    uint32_t from;
    struct buf bytes;
};

static void deliver(struct group *group, uint32_t from, const void *bytes, size_t len)
{
    struct error err = ERROR_INIT;
    if (group->pmix && pmix_job_posted(group->pmix, from, bytes, len, &err) < 0)
        pmix_broken(group, &err);
    if (group->pmix)
        pmix_set_deadline(group->agent->pmix);
    error_clear(&err);
}

static void hold(struct group *group, const struct frame *frame)
{
    struct pmix_post **last = &group->posts;
    while (*last)
        last = &(*last)->next;
    *last = mem_alloc(sizeof(**last));
    (*last)->from = frame->rank;
    buf_add(&(*last)->bytes, frame->bytes, frame->len);
}

static void each_post(struct group *group, void (*use)(struct group *, struct pmix_post *))
{
    struct pmix_post *next;
    for (struct pmix_post *post = group->posts; post; post = next) {
        next = post->next;
        if (use)
            use(group, post);
        buf_free(&post->bytes);
        free(post);
    }
    group->posts = NULL;
}

static void deliver_held(struct group *group, struct pmix_post *post)
{
    deliver(group, post->from, buf_bytes(&post->bytes), post->bytes.len);
}

static void deliver_parted(struct agent *agent, const struct frame *frame)
{
    struct pmix_place *place = agent->pmix ? place_find(agent->pmix->parted, frame->group) : NULL;
    if (!place)
        return;
    pmix_job_posted(place->job, frame->rank, frame->bytes, frame->len, NULL);
    pmix_set_deadline(agent->pmix);
}

void pmix_take(struct agent *agent, const struct frame *frame)
{
    struct group *group = frame->node == agent->node ? group_find(agent, frame->group) : NULL;
    if (group && group->phase == GROUP_WAITING)
        hold(group, frame);
    else if (group)
        deliver(group, frame->rank, frame->bytes, frame->len);
    else if (agent->below && idset_has(agent->below, frame->node))
        tree_send_node(agent->tree, frame->node, frame);
    else if (frame->node != agent->node)
        report_send(agent, frame);
    else
        deliver_parted(agent, frame);
}

void pmix_posts_deliver(struct group *group)
{
    each_post(group, deliver_held);
}

void pmix_posts_free(struct group *group)
{
    each_post(group, NULL);
}
