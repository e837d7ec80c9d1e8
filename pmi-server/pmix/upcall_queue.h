/*
 * upcall_queue - what openpmix's thread has for the owner's: events, first in, first out.
 *
 * There is one, as there is one openpmix in a process.
 */
#ifndef PMI_SERVER_PMIX_UPCALL_QUEUE_H
#define PMI_SERVER_PMIX_UPCALL_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "pmi-server/pmix/library.h"

struct pmix_host;

struct upcall {
    struct upcall *next;
    void (*run)(struct pmix_host *host, struct upcall *event); /* in the owner's thread */
    pmix_proc_t proc;                                          /* who asks, or is asked for */
    pmix_proc_t *procs;                                        /* malloc()ed */
    size_t nprocs;
    pmix_status_t status;
    char *bytes; /* malloc()ed */
    size_t len;
    double timeout; /* seconds */
    double wait;    /* for a key, of them */
    pmix_op_cbfunc_t done;
    pmix_modex_cbfunc_t modex_done;
    pmix_lookup_cbfunc_t lookup_done;
    pmix_tool_connection_cbfunc_t tool_done;
    pmix_info_cbfunc_t info_done;
    void *cbdata; /* of any of these */
    uint32_t node;
    uint32_t number; /* whatever it means to who made it */
    uint16_t port;   /* that a tool's connection comes from; 0: not known */
    pmix_iof_channel_t channels;
    uint64_t token;
    bool error; /* a log's text is for stderr */
    void *more; /* what only its room knows of */
    void (*free_more)(void *more);
};

struct upcall *upcall_new(void (*run)(struct pmix_host *, struct upcall *),
                          const pmix_proc_t *proc);
/* The same, with what it owned: `event` owns nothing any more. */
struct upcall *upcall_move(struct upcall *event);
void upcall_set_procs(struct upcall *event, const pmix_proc_t procs[], size_t nprocs); /* copied */
void upcall_free(struct upcall *event);

/* From now on events are kept, and wake(arg) is called when there is a first one. */
void upcall_queue_open(void (*wake)(void *arg), void *arg);
void upcall_queue_close(void); /* what is kept is freed, and what comes */
void upcall_queue_push(struct upcall *event);
/* Until there is an event; false: there was none until then, by CLOCK_REALTIME. */
bool upcall_queue_await(const struct timespec *end);
struct upcall *upcall_queue_take(void); /* all of them, linked; NULL: none */

#endif
