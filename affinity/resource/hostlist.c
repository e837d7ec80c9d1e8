#include "affinity/resource/hostlist.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Names lie one behind another in blocks that never move, so that a borrowed name stays good. */
#define HOSTLIST_BLOCK_MIN 256
#define HOSTLIST_BLOCK_MAX 1048576

struct hostlist_block {
    struct hostlist_block *older;
    size_t used, room;
    char bytes[];
};

struct hostlist {
    const char **hosts;
    size_t count, room;
    size_t bytes;
    struct hostlist_block *block; /* the one being filled */
};

struct hostlist *hostlist_new(void)
{
    return mem_alloc(sizeof(struct hostlist));
}

void hostlist_free(struct hostlist *list)
{
    if (!list)
        return;
    while (list->block) {
        struct hostlist_block *older = list->block->older;
        free(list->block);
        list->block = older;
    }
    free(list->hosts);
    free(list);
}

/* Room for len bytes in the newest block; a new one is twice the size of the last. */
static char *hostlist_room(struct hostlist *list, size_t len)
{
    struct hostlist_block *block = list->block;
    if (!block || block->room - block->used < len) {
        size_t room = block ? block->room * 2 : HOSTLIST_BLOCK_MIN;
        if (room > HOSTLIST_BLOCK_MAX)
            room = HOSTLIST_BLOCK_MAX;
        if (room < len)
            room = len;
        struct hostlist_block *fresh = mem_resize(NULL, sizeof(*fresh) + room, 1);
        *fresh = (struct hostlist_block){.older = block, .room = room};
        list->block = block = fresh;
    }
    char *bytes = block->bytes + block->used;
    block->used += len;
    return bytes;
}

void hostlist_append(struct hostlist *list, const char *host)
{
    size_t len = strlen(host) + 1;
    if (list->count == list->room) {
        list->room = list->room ? list->room * 2 : 8;
        list->hosts = mem_resize(list->hosts, list->room, sizeof(*list->hosts));
    }
    list->hosts[list->count++] = memcpy(hostlist_room(list, len), host, len);
    list->bytes += len;
}

size_t hostlist_count(const struct hostlist *list)
{
    return list->count;
}

size_t hostlist_bytes(const struct hostlist *list)
{
    return list->bytes;
}

const char *hostlist_nth(const struct hostlist *list, size_t index)
{
    return index < list->count ? list->hosts[index] : NULL;
}

ssize_t hostlist_find(const struct hostlist *list, const char *host)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->hosts[i], host) == 0)
            return (ssize_t)i;
    return -1;
}
