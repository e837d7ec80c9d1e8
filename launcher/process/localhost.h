/*
 * localhost - which names and addresses are this machine's.
 *
 * Two questions: localhost_is_literal() answers from what this process knows (its host name, its
 * interfaces); localhost_resolve() asks the resolver what other names stand for, within a deadline.
 */
#ifndef LAUNCHER_PROCESS_LOCALHOST_H
#define LAUNCHER_PROCESS_LOCALHOST_H

#include <stdbool.h>
#include <stddef.h>

#define LOCALHOST_MAX_LOOKUPS 64   /* more names than this are not looked up at all */
#define LOCALHOST_LOOKUP_SECONDS 1 /* for all of them together */

/* localhost, the host name or its first label, a loopback address, an address of an interface. */
bool localhost_is_literal(const char *host);
/* here[i] becomes what localhost_is_literal() says of hosts[i]. */
void localhost_find_literals(const char *const *hosts, bool *here, size_t count);

/* here[i] becomes true for each names[i] that resolves to an address of this machine. What cannot
 * be told in time stays false: such a node is reached over ssh, which works as well. */
void localhost_resolve(const char *const *names, bool *here, size_t count);

/* What is resolved from now on is remembered, in memory that is shared with processes forked later:
 * many ask for the same few names. What could not be told in time is not asked for again: it would
 * take as long. */
void localhost_remember(void);

/* The same text for two names of one machine, and another for each container; caller frees. */
char *localhost_machine(void);
/* Read now what of it cannot change: processes that are forked later know it. */
void localhost_read_ahead(void);
char *localhost_name(void); /* the host name, "localhost" where there is none; caller frees */

#endif
