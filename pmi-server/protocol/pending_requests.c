/* What waits for somebody elsewhere, in one list: questions to the program's service, direct modexes, spawns. */
#include "pmi-server/protocol/pending_requests.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"

struct pending_requests {
    struct pending_request *first; /* the newest */
    uint64_t tokens;               /* that were given */
};

struct pending_requests *pending_requests_new(void)
{
    return mem_alloc(sizeof(struct pending_requests));
}

void pending_requests_clear(struct pending_requests *requests)
{
    struct pending_request *next;
    for (struct pending_request *request = requests->first; request; request = next) {
        next = request->next;
        request->kind->free(request);
    }
    requests->first = NULL;
}

void pending_requests_free(struct pending_requests *requests)
{
    if (requests)
        pending_requests_clear(requests);
    free(requests);
}

uint64_t pending_requests_token(struct pending_requests *requests)
{
    return ++requests->tokens;
}

void pending_requests_add(struct pending_requests *requests, struct pending_request *request,
                          const struct pending_request_kind *kind, const char *owner,
                          double timeout)
{
    request->kind = kind;
    request->owner = owner;
    request->token = pending_requests_token(requests);
    request->end = timeout > 0 ? pending_requests_clock() + timeout : 0;
    request->next = requests->first;
    requests->first = request;
}

static bool pending_request_is(const struct pending_request *request,
                               const struct pending_request_kind *kind, const char *owner)
{
    return request->kind == kind && (!owner || strcmp(request->owner, owner) == 0);
}

struct pending_request *pending_requests_take(struct pending_requests *requests,
                                              const struct pending_request_kind *kind,
                                              const char *owner, uint64_t token)
{
    struct pending_request **at = &requests->first, *request;
    while ((request = *at) &&
           (request->token != token || !pending_request_is(request, kind, owner)))
        at = &request->next;
    if (request)
        *at = request->next;
    return request;
}

uint32_t pending_requests_count(const struct pending_requests *requests,
                                const struct pending_request_kind *kind, const char *owner)
{
    uint32_t count = 0;
    for (const struct pending_request *request = requests->first; request; request = request->next)
        count += pending_request_is(request, kind, owner);
    return count;
}

void pending_requests_drop(struct pending_requests *requests, const char *owner)
{
    for (struct pending_request **at = &requests->first, *request; (request = *at);) {
        if (strcmp(request->owner, owner) != 0) {
            at = &request->next;
            continue;
        }
        *at = request->next;
        request->kind->free(request);
    }
}

/* From the start each time: who is told may ask, and others may be answered meanwhile. */
void pending_requests_expire(struct pending_requests *requests)
{
    struct pending_request **at = &requests->first, *request;
    double now = requests->first ? pending_requests_clock() : 0;
    while ((request = *at)) {
        if (!request->end || request->end > now) {
            at = &request->next;
            continue;
        }
        *at = request->next;
        request->kind->expire(request);
        at = &requests->first;
    }
}

double pending_requests_deadline(const struct pending_requests *requests)
{
    double soonest = 0;
    for (const struct pending_request *request = requests->first; request; request = request->next)
        if (request->end && (!soonest || request->end < soonest))
            soonest = request->end;
    return soonest;
}

double pending_requests_clock(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}
