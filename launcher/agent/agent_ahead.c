/* An agent's time before it has a program. */
#include "launcher/agent/agent_ahead.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "launcher/process/descriptor_message.h"
#include "launcher/process/scratch_directory.h"
#include "pmi-server/pmix/server.h"

/* Where it fails the program's own will, and say why. */
static struct pmix_host *begin_server(const struct agent_config *config)
{
    struct error hidden = ERROR_INIT;
    const char *directory = scratch_directory_name(config->scratch, &hidden);
    const struct pmix_server_config server = {.program =
                                                  directory ? strrchr(directory, '/') + 1 : NULL,
                                              .hostname = config->ahead_on,
                                              .tmpdir = directory,
                                              .topology = config->machine,
                                              .quiet = true};
    struct pmix_host *host =
        directory && config->machine ? pmix_server_new_ahead(&server, &hidden) : NULL;
    error_clear(&hidden);
    return host;
}

/* False: its end comes, or the guard has gone. */
static bool await_link(const struct agent_config *config)
{
    struct pollfd ready[] = {{.fd = config->in, .events = POLLIN},
                             {.fd = config->guard, .events = POLLIN}};
    while (poll(ready, 2, -1) < 0 && errno == EINTR)
        ;
    return !ready[1].revents;
}

bool agent_ahead_wait(struct agent_config *config)
{
    char message[8]; /* the nursery's */
    int fds[DESCRIPTOR_MESSAGE_FDS], request = config->in;
    size_t nfds = 0;
    config->pmix = begin_server(config);
    bool comes = await_link(config) &&
                 descriptor_message_receive(request, message, sizeof(message), fds, &nfds) > 0 &&
                 nfds == 1;
    close(request);
    if (comes)
        config->in = config->out = fds[0];
    else
        pmix_server_free(config->pmix, 0);
    return comes;
}
