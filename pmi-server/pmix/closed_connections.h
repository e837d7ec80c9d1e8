/*
 * closed_connections - openpmix's event loop lets go of a connection before it is closed.
 *
 * openpmix 4.2.2 to 6.1: where a namespace is deregistered before the server has read the end of a
 * client's connection, remove_client() closes it while the event loop (libevent) has it. The next
 * connection may get its number, for which the loop then asks the kernel for nothing: it takes the
 * old one to be still there. What that client sends is never read, and it waits in PMIx_Init() for
 * ever: one of some 1,000 spawns. So the close() that the library calls takes the connection from
 * the loop first (https://github.com/openpmix/openpmix/pull/4279 does the same).
 */
#ifndef PMI_SERVER_PMIX_CLOSED_CONNECTIONS_H
#define PMI_SERVER_PMIX_CLOSED_CONNECTIONS_H

/* From now on, for the library of this handle of dlopen(). Called before any thread of the library
 * runs. A library that has another event loop, or one of its own, is left as it is. */
void closed_connections_install(void *handle);

#endif
