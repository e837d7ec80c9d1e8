/*
 * Fetches: what a task of another job has put, of which its host is asked.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "pmi-server/service/internal.h"

struct fetch {
    struct fetch *next;
    uint64_t number;
    struct asked asked;
    const struct job *job;
    uint32_t node; /* whose host has it */
};

static size_t count_of(const struct hub *hub, uint32_t node)
{
    size_t count = 0;
    for (const struct fetch *fetch = hub->fetches; fetch; fetch = fetch->next)
        count += fetch->asked.node == node;
    return count;
}

struct wish { /* for what the task is yet to put */
    uint32_t rank, wait;
    char *key;
};

static void order(struct hub *hub, const struct asked *asked, const struct job *job,
                  const struct wish *wish)
{
    struct buf rest = BUF_INIT;
    struct fetch *fetch = mem_alloc(sizeof(*fetch));
    fetch->number = ++hub->fetched;
    fetch->asked = *asked;
    fetch->job = job;
    fetch->node = hub_node(job, wish->rank);
    fetch->next = hub->fetches;
    hub->fetches = fetch;
    packet_put_u64(&rest, fetch->number);
    talk_put_proc(&rest, job->name, wish->rank);
    packet_put_u32(&rest, wish->wait);
    packet_put_text(&rest, wish->key);
    hub_order(hub, fetch->node, ORDER_MODEX, &rest);
    buf_free(&rest);
}

static void fetch(struct hub *hub, const struct asked *asked, const struct job *job,
                  const struct wish *wish)
{
    if (!job || wish->rank >= job->map->ntasks)
        hub_answer(hub, asked, HUB_NOT_FOUND, NULL);
    else if (count_of(hub, asked->node) >= HUB_FETCHES_MAX)
        hub_answer(hub, asked, HUB_FULL, NULL);
    else
        order(hub, asked, job, wish);
}

int hub_fetch(struct hub *hub, const struct asked *asked, struct talk_up *talk)
{
    struct hub_proc proc = talk_proc(&talk->rest);
    struct wish wish = {.rank = proc.rank, .wait = packet_u32(&talk->rest)};
    wish.key = packet_text(&talk->rest);
    bool bad = !packet_ends(&talk->rest) || !asked->token || strlen(wish.key) > HUB_KEY_MAX;
    if (!bad)
        fetch(hub, asked, hub_job(hub, proc.job), &wish);
    free(wish.key);
    free(proc.job);
    return bad ? -1 : 0;
}

static void fetch_end(struct hub *hub, struct fetch **at, enum hub_status status,
                      const struct buf *rest)
{
    struct fetch *fetch = *at;
    *at = fetch->next;
    hub_answer(hub, &fetch->asked, status, rest);
    free(fetch);
}

/* One that is not there any more was given up. */
int hub_found(struct hub *hub, const struct asked *asked, struct talk_up *talk)
{
    size_t len;
    uint64_t number = packet_u64(&talk->rest);
    uint8_t status = packet_u8(&talk->rest);
    const void *bytes = packet_bytes(&talk->rest, &len);
    if (!packet_ends(&talk->rest) || status >= HUB_NSTATUS)
        return -1;
    struct fetch **at = &hub->fetches;
    while (*at && ((*at)->number != number || (*at)->node != asked->node))
        at = &(*at)->next;
    if (!*at)
        return 0;
    struct buf rest = BUF_INIT;
    packet_put_bytes(&rest, bytes, len);
    fetch_end(hub, at, status, &rest);
    buf_free(&rest);
    return 0;
}

void hub_fetch_forget(struct hub *hub, const struct asked *asked)
{
    for (struct fetch **at = &hub->fetches; *at; at = &(*at)->next)
        if ((*at)->asked.node == asked->node && (*at)->asked.token == asked->token) {
            struct fetch *fetch = *at;
            *at = fetch->next;
            free(fetch);
            return;
        }
}

/* From the start each time: who is told may ask. */
void hub_fetch_removed(struct hub *hub, const struct job *job)
{
    struct fetch **at = &hub->fetches;
    while (*at) {
        if ((*at)->job == job) {
            fetch_end(hub, at, HUB_GONE, NULL);
            at = &hub->fetches;
        } else {
            at = &(*at)->next;
        }
    }
}

void hub_fetch_free(struct hub *hub)
{
    while (hub->fetches) {
        struct fetch *next = hub->fetches->next;
        free(hub->fetches);
        hub->fetches = next;
    }
}
