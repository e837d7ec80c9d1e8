/*
 * user_namespace - whether this process's user can be told from others.
 *
 * In a user namespace (user_namespaces(7)) all users that it does not map have one number, the
 * overflow uid, 65534 as a rule. A process that has this number as its own would take files and
 * sockets of any other user of the machine for its own.
 */
#ifndef LAUNCHER_PROCESS_USER_NAMESPACE_H
#define LAUNCHER_PROCESS_USER_NAMESPACE_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

/* 0, or -1 with a sentence where other users have this process's effective uid. Reads a line of
 * /proc. */
int user_namespace_check(struct error *err);

/* The same as a function of what /proc says: the text of a uid_map, and the overflow uid. */
bool user_namespace_is_ambiguous(const char *map, uid_t overflow, uid_t own);

#endif
