/* Wishes for agents, each one message. */
#include "launcher/tree/agent_broker.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/duration.h"
#include "base/mem.h"
#include "launcher/process/descriptor_message.h"

#define WITH_PMIX "pmix " /* before the host; no host's name has a space */

int agent_broker_ask(int broker, const char *host, bool pmix, int link, int words,
                     struct error *err)
{
    if (strlen(host) > AGENT_BROKER_HOST_MAX)
        return error_set(err, "the name of the host is too long");
    char *text = mem_format("%s%s", pmix ? WITH_PMIX : "", host);
    int rc = descriptor_message_send(broker, text, strlen(text), (const int[]){link, words}, 2);
    free(text);
    if (rc < 0)
        return error_set(err, "the manager of the instance cannot be asked: %s", strerror(errno));
    return 0;
}

int agent_broker_keep(int broker, double seconds, struct error *err)
{
    char *text = duration_encode(seconds);
    int rc = descriptor_message_send(broker, text, strlen(text), NULL, 0);
    free(text);
    return rc < 0 ? error_set(err, "cannot ask for agents that are kept: %s", strerror(errno)) : 0;
}

int agent_broker_take(int broker, struct agent_wish *wish)
{
    char text[sizeof(WITH_PMIX) + AGENT_BROKER_HOST_MAX];
    int fds[DESCRIPTOR_MESSAGE_FDS];
    size_t nfds;
    ssize_t got;
    do
        got = descriptor_message_receive(broker, text, sizeof(text) - 1, fds, &nfds);
    while (got < 0 && errno == EINTR);
    if (got < 0 && errno == EAGAIN)
        return 0;
    text[got > 0 ? got : 0] = '\0';
    if (got > 0 && nfds == 2) {
        wish->pmix = strncmp(text, WITH_PMIX, strlen(WITH_PMIX)) == 0;
        snprintf(wish->host, sizeof(wish->host), "%.*s", AGENT_BROKER_HOST_MAX,
                 text + (wish->pmix ? strlen(WITH_PMIX) : 0));
        wish->link = fds[0];
        wish->words = fds[1];
        return 1;
    }
    for (size_t i = 0; i < nfds; i++)
        close(fds[i]);
    wish->link = wish->words = -1;
    if (got > 0 && !nfds && duration_decode(text, &wish->keep, NULL) == 0)
        return 1;
    return got > 0 ? 0 : -1;
}
