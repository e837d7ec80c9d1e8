/* The clients of connections, by file descriptor. */
#include "pmi-server/pmix/client_connections.h"

#include "base/mem.h"
#include "pmi-server/pmix/accept_check.h"
#include "pmi-server/pmix/lost_connections.h"
#include "pmi-server/pmix/namespace_private.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* held while a client is used */
static struct client **by_descriptor;
static int count;
static bool (*may_end_be_read)(struct client *client);

static bool may_be_read(int fd)
{
    bool may = true;
    pthread_mutex_lock(&lock);
    if (fd < count && by_descriptor[fd] && (may = may_end_be_read(by_descriptor[fd])))
        by_descriptor[fd] = NULL;
    pthread_mutex_unlock(&lock);
    return may;
}

void client_connections_ask(bool (*answer)(struct client *client))
{
    may_end_be_read = answer;
    lost_connections_ask(may_be_read);
}

void client_connections_opened(struct client *client)
{
    int fd = accept_check_greeted();
    if (fd < 0 || !client)
        return;
    pthread_mutex_lock(&lock);
    if (fd >= count) {
        int more = 2 * fd + 16;
        by_descriptor = mem_resize(by_descriptor, (size_t)more, sizeof(*by_descriptor));
        while (count < more)
            by_descriptor[count++] = NULL;
    }
    if (by_descriptor[fd]) /* openpmix has closed it without reading its end */
        by_descriptor[fd]->connections--;
    by_descriptor[fd] = client;
    client->connections++;
    pthread_mutex_unlock(&lock);
}

void client_connections_free(struct pmix_job *job)
{
    pthread_mutex_lock(&lock);
    for (int fd = 0; fd < count; fd++)
        if (by_descriptor[fd] && by_descriptor[fd]->job == job)
            by_descriptor[fd] = NULL;
    pthread_mutex_unlock(&lock);
}
