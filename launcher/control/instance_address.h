/*
 * instance_address - where an instance's agents let in those that run in the instance.
 */
#ifndef LAUNCHER_CONTROL_INSTANCE_ADDRESS_H
#define LAUNCHER_CONTROL_INSTANCE_ADDRESS_H

#include <sys/socket.h>
#include <sys/un.h>

#include "base/error.h"

/* That of the agent on this host, by the name that tasks are told; the length of the address. */
socklen_t instance_address(struct sockaddr_un *address, const char *name);
/* A connected socket; -1 with a sentence: there is no such agent here, or it is another user's. */
int instance_connect(const char *name, struct error *err);

#endif
