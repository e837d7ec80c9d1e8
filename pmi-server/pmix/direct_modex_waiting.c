/* The direct modexes that openpmix waits for: opened in its thread, closed in the owner's. */
#include "pmi-server/pmix/direct_modex_waiting.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct waiting {
    struct waiting *next;
    uint64_t number;
    pmix_nspace_t name;
    pmix_rank_t rank;
    pmix_modex_cbfunc_t done;
    void *cbdata;
};

struct leaving { /* a namespace that openpmix has yet to deregister */
    struct leaving *next;
    pmix_nspace_t name;
    pmix_op_cbfunc_t left;
    void *cbdata;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of all of these */
static struct waiting *waitings;
static struct leaving *leavings;
static uint64_t numbers;

/* ---- asked ---- */

pmix_status_t waiting_open(const pmix_proc_t *proc, pmix_modex_cbfunc_t done, void *cbdata,
                           uint64_t *number)
{
    pthread_mutex_lock(&lock);
    const struct leaving *leaving = leavings;
    while (leaving && strcmp(leaving->name, proc->nspace) != 0)
        leaving = leaving->next;
    struct waiting **at = &waitings;
    while (*at && (*at)->cbdata != cbdata)
        at = &(*at)->next;
    *number = 0;
    if (!leaving && !*at) {
        *at = mem_alloc(sizeof(**at));
        (*at)->number = *number = ++numbers;
        memcpy((*at)->name, proc->nspace, sizeof((*at)->name));
        (*at)->rank = proc->rank;
        (*at)->done = done;
        (*at)->cbdata = cbdata;
    }
    pthread_mutex_unlock(&lock);
    return leaving ? PMIX_ERR_NOT_FOUND : PMIX_SUCCESS;
}

void waiting_forget(const char *name, uint32_t rank)
{
    struct waiting **at = &waitings, *waiting;
    pthread_mutex_lock(&lock);
    while ((waiting = *at)) {
        if (waiting->rank != rank || strcmp(waiting->name, name) != 0) {
            at = &waiting->next;
            continue;
        }
        *at = waiting->next;
        free(waiting);
    }
    pthread_mutex_unlock(&lock);
}

/* ---- answered ---- */

/* The first of this number, or, where that is 0, of this namespace. */
static struct waiting *waiting_take(uint64_t number, const char *name)
{
    struct waiting **at = &waitings;
    while (*at && (number ? (*at)->number != number : strcmp((*at)->name, name) != 0))
        at = &(*at)->next;
    struct waiting *waiting = *at;
    if (waiting)
        *at = waiting->next;
    return waiting;
}

static void waiting_answer(struct waiting *waiting, pmix_status_t status, const void *bytes,
                           size_t len)
{
    library_answer_modex(waiting->done, waiting->cbdata, status, bytes, len);
    free(waiting);
}

void waiting_close(uint64_t number, pmix_status_t status, const void *bytes, size_t len)
{
    pthread_mutex_lock(&lock);
    struct waiting *waiting = waiting_take(number, "");
    pthread_mutex_unlock(&lock);
    if (waiting)
        waiting_answer(waiting, status, bytes, len);
}

/* ---- not to be answered any more ---- */

/* openpmix's thread. */
static void namespace_deregistered(pmix_status_t status, void *cbdata)
{
    struct leaving *leaving = cbdata, **at = &leavings;
    pthread_mutex_lock(&lock);
    while (*at != leaving)
        at = &(*at)->next;
    *at = leaving->next;
    pthread_mutex_unlock(&lock);
    if (leaving->left)
        leaving->left(status, leaving->cbdata);
    free(leaving);
}

void waiting_deregister(const struct pmix_library *library, const char *name, pmix_op_cbfunc_t then,
                        void *cbdata)
{
    struct leaving *leaving = mem_alloc(sizeof(*leaving));
    struct waiting *all = NULL, *waiting;
    strncpy(leaving->name, name, sizeof(leaving->name) - 1);
    leaving->left = then;
    leaving->cbdata = cbdata;
    pthread_mutex_lock(&lock);
    leaving->next = leavings;
    leavings = leaving;
    while ((waiting = waiting_take(0, leaving->name))) {
        waiting->next = all;
        all = waiting;
    }
    pthread_mutex_unlock(&lock);
    while ((waiting = all)) {
        all = waiting->next;
        waiting_answer(waiting, PMIX_ERR_NOT_FOUND, NULL, 0);
    }
    library->deregister_nspace(leaving->name, namespace_deregistered, leaving);
}
