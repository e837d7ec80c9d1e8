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
    struct requester asked;
    const struct job *job;
    uint32_t node; /* whose host has it */
};

static size_t direct_modex_count_of(const struct pmi_service *service, uint32_t node)
{
    size_t count = 0;
    for (const struct fetch *fetch = service->fetches; fetch; fetch = fetch->next)
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
    fetch->number = ++service->fetched;
    fetch->asked = *asked;
    fetch->job = job;
    fetch->node = pmi_service_node(job, wish->rank);
    fetch->next = service->fetches;
    service->fetches = fetch;
    pack_put_u64(&rest, fetch->number);
    message_put_proc(&rest, job->name, wish->rank);
    pack_put_u32(&rest, wish->wait);
    pack_put_text(&rest, wish->key);
    pmi_service_order(service, fetch->node, ORDER_MODEX, &rest);
    buf_free(&rest);
}

static void direct_modex_fetch(struct pmi_service *service, const struct requester *asked,
                               const struct job *job, const struct wish *wish)
{
    if (!job || wish->rank >= job->map->ntasks)
        pmi_service_answer(service, asked, REPLY_NOT_FOUND, NULL);
    else if (direct_modex_count_of(service, asked->node) >= SERVICE_FETCHES_MAX)
        pmi_service_answer(service, asked, REPLY_FULL, NULL);
    else
        order(service, asked, job, wish);
}

int pmi_service_fetch(struct pmi_service *service, const struct requester *asked,
                      struct message_up *talk)
{
    struct process_name proc = message_proc(&talk->rest);
    struct wish wish = {.rank = proc.rank, .wait = pack_u32(&talk->rest)};
    wish.key = pack_get_text(&talk->rest);
    bool bad = !pack_ends(&talk->rest) || !asked->token || strlen(wish.key) > SERVICE_KEY_MAX;
    if (!bad)
        direct_modex_fetch(service, asked, pmi_service_job(service, proc.job), &wish);
    free(wish.key);
    free(proc.job);
    return bad ? -1 : 0;
}

static void fetch_end(struct pmi_service *service, struct fetch **at, enum reply_status status,
                      const struct buf *rest)
{
    struct fetch *fetch = *at;
    *at = fetch->next;
    pmi_service_answer(service, &fetch->asked, status, rest);
    free(fetch);
}

/* One that is not there any more was given up. */
int pmi_service_found(struct pmi_service *service, const struct requester *asked,
                      struct message_up *talk)
{
    size_t len;
    uint64_t number = pack_u64(&talk->rest);
    uint8_t status = pack_u8(&talk->rest);
    const void *bytes = pack_bytes(&talk->rest, &len);
    if (!pack_ends(&talk->rest) || status >= REPLY_NSTATUS)
        return -1;
    struct fetch **at = &service->fetches;
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

void pmi_service_fetch_forget(struct pmi_service *service, const struct requester *asked)
{
    for (struct fetch **at = &service->fetches; *at; at = &(*at)->next)
        if ((*at)->asked.node == asked->node && (*at)->asked.token == asked->token) {
            struct fetch *fetch = *at;
            *at = fetch->next;
            free(fetch);
            return;
        }
}

/* From the start each time: who is told may ask. */
void pmi_service_fetch_removed(struct pmi_service *service, const struct job *job)
{
    struct fetch **at = &service->fetches;
    while (*at) {
        if ((*at)->job == job) {
            fetch_end(service, at, REPLY_GONE, NULL);
            at = &service->fetches;
        } else {
            at = &(*at)->next;
        }
    }
}

void pmi_service_fetch_free(struct pmi_service *service)
{
    while (service->fetches) {
        struct fetch *next = service->fetches->next;
        free(service->fetches);
        service->fetches = next;
    }
}
