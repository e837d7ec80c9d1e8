/*
 * listeners - the TCP socket on which openpmix listens.
 *
 * openpmix from 4.2.2 on (still so in 7.0.0 rc1): the server listens on this host for anybody, and
 * then reads from who connects until it has heard all, which nothing bounds: one who says nothing
 * holds up everybody.
 */
#ifndef PMI_SERVER_PMIX_LISTENERS_H
#define PMI_SERVER_PMIX_LISTENERS_H

#include <stdint.h>

#include "base/error.h"

/* Whether openpmix could listen: on a descriptor that select() takes, and on a port that is free.
 * All versions up to 7.0.0 rc1 abort where they cannot. 0, or -1 with a sentence. */
int listeners_check(struct error *err);

/* Where the library of this handle of dlopen() listens from now on, who says nothing is not
 * accepted, up to as many as the kernel lets wait (net.core.somaxconn), and who stops in the middle
 * is given up after 0.2 s. -1 with a sentence: the library calls listen() in another way, and is
 * not to be used. */
int listeners_install(void *handle, struct error *err);

/* Of openpmix's server on the loopback interface, as a task's environment has it; 0: not known yet,
 * or none of IPv4. */
void listeners_learn_port(char *const *environment);
uint16_t listeners_port(void); /* any thread */

#endif
