/*
 * listeners - the TCP sockets of this process that listen.
 *
 * openpmix from 4.2.2 on (still so in 7.0.0 rc1): the server listens on this host for anybody, and then
 * reads from who connects until it has heard all, which nothing bounds: one who says nothing holds up
 * everybody.
 */
#ifndef PMI_SERVER_PMIX_LISTENERS_H
#define PMI_SERVER_PMIX_LISTENERS_H

#include <stdint.h>

#include "affinity/sets/idset.h"

struct idset *listeners_find(void); /* file descriptors; caller frees */
/* Those that were not there before: who says nothing is not accepted, up to as many as the kernel
 * lets wait (net.core.somaxconn), and who stops in the middle is given up after 0.2 s. */
void listeners_guard(const struct idset *before);

/* Of openpmix's server on the loopback interface, as a task's environment has it; 0: not known yet, or none of IPv4. */
void listeners_learn_port(char *const *environment);
uint16_t listeners_port(void); /* any thread */

#endif
