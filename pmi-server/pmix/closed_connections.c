/* What openpmix calls in place of close(), and of libevent's event_add() and event_del(). */
#include "pmi-server/pmix/closed_connections.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <unistd.h>

#include "base/mem.h"
#include "pmi-server/pmix/imported_symbols.h"

#define EVENT_SIGNAL 0x08  /* libevent's EV_SIGNAL: its descriptor is the number of a signal, */
#define EVENT_PERSIST 0x10 /* and EV_PERSIST: only event_del() ends it */
#define EVENTS 2           /* of a connection: to read, and to write */

struct event; /* libevent's */
struct timeval;

static int (*library_event_add)(struct event *event, const struct timeval *timeout);
static int (*library_event_del)(struct event *event);
static int (*event_descriptor)(const struct event *event);
static short (*event_kinds)(const struct event *event);

struct watched_connection {
    struct event *events[EVENTS]; /* NULL: none */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the list */
static struct watched_connection *by_descriptor;
static size_t count;

/* `was` becomes `is` in the events of this connection. */
static void watched_change(int fd, struct event *was, struct event *is)
{
    pthread_mutex_lock(&lock);
    if ((size_t)fd >= count) {
        size_t more = 2 * (size_t)fd + 16;
        by_descriptor = mem_resize(by_descriptor, more, sizeof(*by_descriptor));
        while (count < more)
            by_descriptor[count++] = (struct watched_connection){{NULL}};
    }
    struct event **at = by_descriptor[fd].events, **end = at + EVENTS;
    while (at < end && *at != was)
        at++;
    if (at < end)
        *at = is;
    pthread_mutex_unlock(&lock);
}

static int add_watched(struct event *event, const struct timeval *timeout)
{
    int fd = event_descriptor(event);
    if (fd >= 0 && (event_kinds(event) & (EVENT_SIGNAL | EVENT_PERSIST)) == EVENT_PERSIST) {
        watched_change(fd, event, NULL); /* it may be there already */
        watched_change(fd, NULL, event);
    }
    return library_event_add(event, timeout);
}

static int del_watched(struct event *event)
{
    int fd = event_descriptor(event);
    if (fd >= 0)
        watched_change(fd, event, NULL);
    return library_event_del(event);
}

static int close_unwatched(int fd)
{
    struct watched_connection watched = {{NULL}};
    pthread_mutex_lock(&lock);
    if (fd >= 0 && (size_t)fd < count) {
        watched = by_descriptor[fd];
        by_descriptor[fd] = (struct watched_connection){{NULL}};
    }
    pthread_mutex_unlock(&lock);
    for (size_t i = 0; i < EVENTS; i++)
        if (watched.events[i])
            library_event_del(watched.events[i]);
    return close(fd);
}

void closed_connections_install(void *handle)
{
    event_descriptor = (int (*)(const struct event *))dlsym(handle, "event_get_fd");
    event_kinds = (short (*)(const struct event *))dlsym(handle, "event_get_events");
    if (!event_descriptor || !event_kinds)
        return;
    library_event_del = (int (*)(struct event *))imported_function_replace(
        handle, "event_del", (imported_function *)del_watched, NULL);
    if (!library_event_del)
        return;
    library_event_add = (int (*)(struct event *, const struct timeval *))imported_function_replace(
        handle, "event_add", (imported_function *)add_watched, NULL);
    if (library_event_add)
        imported_function_replace(handle, "close", (imported_function *)close_unwatched, NULL);
}
