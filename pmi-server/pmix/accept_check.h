/*
 * accept_check - openpmix's server takes connections of this process's user alone.
 *
 * Any user of the machine can connect to a port of the loopback interface. openpmix believes what a
 * client says of its user, and reads from each connection before it knows whose it is, in the
 * thread that serves everybody. It offers no place to look at a connection before that, so accept()
 * of that one library is replaced by a function that asks the kernel who is at the other end. The
 * user's own connections may stop in the middle of a greeting: recv() of that library, which reads
 * greetings alone, gives them up when the time limit of the connection (listeners.h) has passed.
 */
#ifndef PMI_SERVER_PMIX_ACCEPT_CHECK_H
#define PMI_SERVER_PMIX_ACCEPT_CHECK_H

#include "base/error.h"

/* From now on accept(), as the library of this handle of dlopen() calls it, closes what comes from
 * another user and never blocks for it, and recv() takes a greeting that stops for one that was
 * closed. Called before any thread of the library runs. -1 with a sentence: the library calls
 * accept() in another way, and is not to be used. */
int accept_check_install(void *handle, struct error *err);
/* The connection whose greeting openpmix has read last: openpmix's thread, which then tells the
 * host whose it is. -1: not known. */
int accept_check_greeted(void);

#endif
