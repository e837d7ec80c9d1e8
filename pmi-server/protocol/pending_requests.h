/*
 * pending_requests - what waits for somebody elsewhere: each has a token, which goes along with the
 * question and comes back with the answer, and may have an end.
 *
 * A request is the first member of a struct of whoever asks. Requests are few: all is linear in
 * their number.
 */
#ifndef PMI_SERVER_PROTOCOL_PENDING_REQUESTS_H
#define PMI_SERVER_PROTOCOL_PENDING_REQUESTS_H

#include <stdbool.h>
#include <stdint.h>

struct pending_request;
struct pending_requests;

struct pending_request_kind {
    /* Its end has passed: it is out of the table, and belongs to this function. NULL: no such has
     * an end. */
    void (*expire)(struct pending_request *request);
    /* Who asked is gone: it is freed, and nobody is answered. */
    void (*free)(struct pending_request *request);
};

struct pending_request { /* pending_requests_add() fills it */
    struct pending_request *next;
    const struct pending_request_kind *kind;
    const char *owner; /* borrowed: a namespace; "": nobody's */
    uint64_t token;
    double end; /* as pending_requests_clock() counts; 0: never */
};

struct pending_requests *pending_requests_new(void);
void pending_requests_clear(struct pending_requests *requests); /* nobody is answered */
void pending_requests_free(struct pending_requests *requests);  /* with what waits; NULL: nothing */
/* A number that no request has. */
uint64_t pending_requests_token(struct pending_requests *requests);
/* It is the table's from here on; `timeout` in seconds, 0: for ever. */
void pending_requests_add(struct pending_requests *requests, struct pending_request *request,
                          const struct pending_request_kind *kind, const char *owner,
                          double timeout);
/* Out of the table, and the caller's. NULL: no request of this kind and owner (NULL: of any) has
 * the token, as it was given up, or never was. */
struct pending_request *pending_requests_take(struct pending_requests *requests,
                                              const struct pending_request_kind *kind,
                                              const char *owner, uint64_t token);
uint32_t pending_requests_count(const struct pending_requests *requests,
                                const struct pending_request_kind *kind, const char *owner);
void pending_requests_drop(struct pending_requests *requests, const char *owner); /* all of its */
/* Those whose end has passed; and when the first has. 0: there is none. */
void pending_requests_expire(struct pending_requests *requests);
double pending_requests_deadline(const struct pending_requests *requests);

double pending_requests_clock(void); /* seconds, of the monotonic clock */

#endif
