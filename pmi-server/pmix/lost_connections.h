/*
 * lost_connections - openpmix's server learns of one lost connection at a time.
 *
 * openpmix 4.2.2 to 6.1: where a task dies that others on its node wait for, in a fence, a connect
 * or a group of this node alone, the server answers those (lost_connection()). The answer is an
 * event of its own, and frees what they wait in. A connection that is lost before that event has
 * run lets the server answer once more, and that answer uses what the first has freed: the server
 * hangs or crashes. The library's read() and writev() are where it finds out, so the ones that it
 * calls keep a second loss back until the first was answered.
 */
#ifndef PMI_SERVER_PMIX_LOST_CONNECTIONS_H
#define PMI_SERVER_PMIX_LOST_CONNECTIONS_H

#include "pmi-server/pmix/library.h"

/* From now on, for the library of this handle of dlopen(). Called before any thread of the library
 * runs. A library that reads in another way is left as it is. The library is borrowed for good. */
void lost_connections_install(void *handle, const struct pmix_library *library);
/* From now on a loss is kept back as well while this says false of its connection, in openpmix's
 * thread. */
void lost_connections_ask(bool (*may_be_read)(int fd));

#endif
