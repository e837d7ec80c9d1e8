/* The queue of what openpmix's thread has taken, for the owner's thread. */
#include "pmi-server/pmix/upcall_queue.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static struct upcall *first, **last = &first;
static void (*wake_owner)(void *arg);
static void *wake_arg;

struct upcall *upcall_new(void (*run)(struct pmix_host *, struct upcall *), const pmix_proc_t *proc)
{
    struct upcall *event = mem_alloc(sizeof(*event));
    event->run = run;
    if (proc)
        event->proc = *proc;
    return event;
}

struct upcall *upcall_move(struct upcall *event)
{
    struct upcall *copy = mem_alloc(sizeof(*copy));
    *copy = *event;
    event->procs = NULL;
    event->bytes = NULL;
    event->more = NULL;
    return copy;
}

void upcall_set_procs(struct upcall *event, const pmix_proc_t procs[], size_t nprocs)
{
    event->procs = mem_array(nprocs, sizeof(*procs));
    event->nprocs = nprocs;
    if (nprocs)
        memcpy(event->procs, procs, nprocs * sizeof(*procs));
}

void upcall_free(struct upcall *event)
{
    free(event->procs);
    free(event->bytes);
    if (event->more)
        event->free_more(event->more);
    free(event);
}

void upcall_queue_open(void (*wake)(void *arg), void *arg)
{
    pthread_mutex_lock(&lock);
    wake_owner = wake;
    wake_arg = arg;
    pthread_mutex_unlock(&lock);
}

struct upcall *upcall_queue_take(void)
{
    pthread_mutex_lock(&lock);
    struct upcall *all = first;
    first = NULL;
    last = &first;
    pthread_mutex_unlock(&lock);
    return all;
}

bool upcall_queue_await(const struct timespec *end)
{
    int rc = 0;
    pthread_mutex_lock(&lock);
    while (!first && rc == 0)
        rc = pthread_cond_timedwait(&filled, &lock, end);
    pthread_mutex_unlock(&lock);
    return rc == 0;
}

void upcall_queue_close(void)
{
    upcall_queue_open(NULL, NULL);
    struct upcall *next, *event = upcall_queue_take();
    for (; event; event = next) {
        next = event->next;
        upcall_free(event);
    }
}

void upcall_queue_push(struct upcall *event)
{
    pthread_mutex_lock(&lock);
    bool kept = wake_owner != NULL;
    if (kept) {
        if (!first)
            wake_owner(wake_arg);
        *last = event;
        last = &event->next;
        pthread_cond_signal(&filled);
    }
    pthread_mutex_unlock(&lock);
    if (!kept)
        upcall_free(event);
}
