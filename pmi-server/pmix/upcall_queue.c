#include "pmi-server/pmix/upcall_queue.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/mem.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static struct event *first, **last = &first;
static void (*wake_owner)(void *arg);
static void *wake_arg;

struct event *event_new(void (*run)(struct pmix_host *, struct event *), const pmix_proc_t *proc)
{
    struct event *event = mem_alloc(sizeof(*event));
    event->run = run;
    if (proc)
        event->proc = *proc;
    return event;
}

struct event *event_move(struct event *event)
{
    struct event *copy = mem_alloc(sizeof(*copy));
    *copy = *event;
    event->procs = NULL;
    event->bytes = NULL;
    event->more = NULL;
    return copy;
}

void event_free(struct event *event)
{
    free(event->procs);
    free(event->bytes);
    if (event->more)
        event->free_more(event->more);
    free(event);
}

void queue_open(void (*wake)(void *arg), void *arg)
{
    pthread_mutex_lock(&lock);
    wake_owner = wake;
    wake_arg = arg;
    pthread_mutex_unlock(&lock);
}

struct event *queue_take(void)
{
    pthread_mutex_lock(&lock);
    struct event *all = first;
    first = NULL;
    last = &first;
    pthread_mutex_unlock(&lock);
    return all;
}

bool queue_await(const struct timespec *end)
{
    int rc = 0;
    pthread_mutex_lock(&lock);
    while (!first && rc == 0)
        rc = pthread_cond_timedwait(&filled, &lock, end);
    pthread_mutex_unlock(&lock);
    return rc == 0;
}

void queue_close(void)
{
    queue_open(NULL, NULL);
    struct event *next, *event = queue_take();
    for (; event; event = next) {
        next = event->next;
        event_free(event);
    }
}

void queue_push(struct event *event)
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
        event_free(event);
}
