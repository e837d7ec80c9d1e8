/*
 * Direct modexes between jobs: the server of the task's node is asked, and the answer is passed on.
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

int direct_modexes_take(struct pmi_service *service, const struct requester *asked,
                        struct message_up *talk)
{
    struct direct_modexes *modexes = service->direct_modexes;
    struct process_name proc = message_proc(&talk->rest);
    uint32_t wait = pack_u32(&talk->rest); /* for what the task is yet to put */
    char *key = pack_get_text(&talk->rest);
    bool bad = !pack_ends(&talk->rest) || !asked->token || strlen(key) > SERVICE_KEY_MAX;
    const struct job *job = namespaces_find(service, proc.job);
    size_t count = 0;
    for (const struct fetch *fetch = modexes->open; fetch; fetch = fetch->next)
        count += fetch->asked.node == asked->node;
    if (!bad && (!job || proc.rank >= job->map->ntasks)) {
        outbox_reply(service, asked, REPLY_NOT_FOUND, NULL);
    } else if (!bad && count >= SERVICE_FETCHES_MAX) {
        outbox_reply(service, asked, REPLY_FULL, NULL);
    } else if (!bad) {
        struct buf rest = BUF_INIT;
        struct fetch *fetch = mem_alloc(sizeof(*fetch));
        *fetch = (struct fetch){modexes->open, ++modexes->numbers, *asked, job,
                                namespaces_node(job, proc.rank)};
        modexes->open = fetch;
        pack_put_u64(&rest, fetch->number);
        message_put_proc(&rest, job->name, proc.rank);
        pack_put_u32(&rest, wait);
        pack_put_text(&rest, key);
        outbox_order(service, fetch->node, ORDER_MODEX, &rest);
        buf_free(&rest);
    }
    free(key);
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
