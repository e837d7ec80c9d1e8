/*
 * Fetches: what a task of another job has put, of which its host is asked.
 */
#include "pmi-server/service/direct_modex.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "pmi-server/protocol/published_name.h" /* SERVICE_KEY_MAX */
#include "pmi-server/service/namespaces.h"
#include "pmi-server/service/outbox.h"

struct direct_modexes {
    struct fetch *open; /* that wait for the host of a task */
    uint64_t numbers;   /* that they were given */
};

struct fetch {
    struct fetch *next;
    uint64_t number;
    struct requester asked;
    const struct job *job;
    uint32_t node; /* whose host has it */
};

static size_t direct_modex_count_of(const struct pmi_service *service, uint32_t node)
{
    size_t count = 0;
    for (const struct fetch *fetch = service->direct_modexes->open; fetch; fetch = fetch->next)
        count += fetch->asked.node == node;
    return count;
}

struct wish { /* for what the task is yet to put */
    uint32_t rank, wait;
    char *key;
};

static void order(struct pmi_service *service, const struct requester *asked, const struct job *job,
                  const struct wish *wish)
{
    struct buf rest = BUF_INIT;
    struct fetch *fetch = mem_alloc(sizeof(*fetch));
    fetch->number = ++service->direct_modexes->numbers;
    fetch->asked = *asked;
    fetch->job = job;
    fetch->node = namespaces_node(job, wish->rank);
    fetch->next = service->direct_modexes->open;
    service->direct_modexes->open = fetch;
    pack_put_u64(&rest, fetch->number);
    message_put_proc(&rest, job->name, wish->rank);
    pack_put_u32(&rest, wish->wait);
    pack_put_text(&rest, wish->key);
    outbox_order(service, fetch->node, ORDER_MODEX, &rest);
    buf_free(&rest);
}

static void direct_modex_fetch(struct pmi_service *service, const struct requester *asked,
                               const struct job *job, const struct wish *wish)
{
    if (!job || wish->rank >= job->map->ntasks)
        outbox_reply(service, asked, REPLY_NOT_FOUND, NULL);
    else if (direct_modex_count_of(service, asked->node) >= SERVICE_FETCHES_MAX)
        outbox_reply(service, asked, REPLY_FULL, NULL);
    else
        order(service, asked, job, wish);
}

int direct_modexes_take(struct pmi_service *service, const struct requester *asked,
                        struct message_up *talk)
{
    struct process_name proc = message_proc(&talk->rest);
    struct wish wish = {.rank = proc.rank, .wait = pack_u32(&talk->rest)};
    wish.key = pack_get_text(&talk->rest);
    bool bad = !pack_ends(&talk->rest) || !asked->token || strlen(wish.key) > SERVICE_KEY_MAX;
    if (!bad)
        direct_modex_fetch(service, asked, namespaces_find(service, proc.job), &wish);
    free(wish.key);
    free(proc.job);
    return bad ? -1 : 0;
}

static void fetch_end(struct pmi_service *service, struct fetch **at, enum reply_status status,
                      const struct buf *rest)
{
    struct fetch *fetch = *at;
    *at = fetch->next;
    outbox_reply(service, &fetch->asked, status, rest);
    free(fetch);
}

/* One that is not there any more was given up. */
int direct_modexes_take_found(struct pmi_service *service, const struct requester *asked,
                              struct message_up *talk)
{
    size_t len;
    uint64_t number = pack_u64(&talk->rest);
    uint8_t status = pack_u8(&talk->rest);
    const void *bytes = pack_bytes(&talk->rest, &len);
    if (!pack_ends(&talk->rest) || status >= REPLY_NSTATUS)
        return -1;
    struct fetch **at = &service->direct_modexes->open;
    while (*at && ((*at)->number != number || (*at)->node != asked->node))
        at = &(*at)->next;
    if (!*at)
        return 0;
    struct buf rest = BUF_INIT;
    pack_put_bytes(&rest, bytes, len);
    fetch_end(service, at, status, &rest);
    buf_free(&rest);
    return 0;
}

void direct_modexes_forget(struct pmi_service *service, const struct requester *asked)
{
    for (struct fetch **at = &service->direct_modexes->open; *at; at = &(*at)->next)
        if ((*at)->asked.node == asked->node && (*at)->asked.token == asked->token) {
            struct fetch *fetch = *at;
            *at = fetch->next;
            free(fetch);
            return;
        }
}

/* From the start each time: who is told may ask. */
void direct_modexes_job_removed(struct pmi_service *service, const struct job *job)
{
    struct fetch **at = &service->direct_modexes->open;
    while (*at) {
        if ((*at)->job == job) {
            fetch_end(service, at, REPLY_GONE, NULL);
            at = &service->direct_modexes->open;
        } else {
            at = &(*at)->next;
        }
    }
}

void direct_modexes_open(struct pmi_service *service)
{
    service->direct_modexes = mem_alloc(sizeof(*service->direct_modexes));
}

void direct_modexes_close(struct pmi_service *service)
{
    while (service->direct_modexes->open) {
        struct fetch *next = service->direct_modexes->open->next;
        free(service->direct_modexes->open);
        service->direct_modexes->open = next;
    }
    free(service->direct_modexes);
}
