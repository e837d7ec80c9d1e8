/* Groups of targets in the order they came, in an array that what has left makes room in. */
#include "launcher/tree/start_queue.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct target_list *target_list_new(const struct tree_target *targets, size_t count)
{
    struct target_list *list = mem_alloc(sizeof(*list));
    *list = (struct target_list){mem_array(count, sizeof(*targets)), count, 1};
    for (size_t i = 0; i < count; i++) {
        list->targets[i] = targets[i];
        list->targets[i].host = mem_copy_text(targets[i].host);
        list->targets[i].login = mem_copy_text(targets[i].login);
        list->targets[i].cores = mem_copy_text(targets[i].cores);
        list->targets[i].digest = mem_copy_text(targets[i].digest);
    }
    return list;
}

void target_list_free(struct target_list *list)
{
    if (!list || --list->references)
        return;
    tree_targets_free(list->targets, list->count);
    free(list);
}

bool start_queue_group_is_shared(const struct start_queue_group *group)
{
    const struct tree_target *target = &group->list->targets[group->first];
    return target->together && !target->here;
}

void start_queue_add(struct start_queue *waiting, const struct start_queue_group *group)
{
    if (waiting->count == waiting->room) {
        /* What has left makes room for what comes. */
        waiting->count -= waiting->next;
        if (waiting->count)
            memmove(waiting->groups, waiting->groups + waiting->next,
                    waiting->count * sizeof(*waiting->groups));
        waiting->next = 0;
        if (waiting->count >= waiting->room / 2) {
            waiting->room = waiting->room ? 2 * waiting->room : 64;
            waiting->groups = mem_resize(waiting->groups, waiting->room, sizeof(*waiting->groups));
        }
    }
    group->list->references++;
    waiting->groups[waiting->count++] = *group;
}

const struct start_queue_group *start_queue_next(const struct start_queue *waiting)
{
    return waiting->next < waiting->count ? &waiting->groups[waiting->next] : NULL;
}

bool start_queue_take(struct start_queue *waiting, struct start_queue_group *group)
{
    if (waiting->next == waiting->count)
        return false;
    *group = waiting->groups[waiting->next++];
    return true;
}

void start_queue_clear(struct start_queue *waiting)
{
    struct start_queue_group group;
    while (start_queue_take(waiting, &group))
        target_list_free(group.list);
    free(waiting->groups);
    *waiting = (struct start_queue){0};
}
