/*
 * authorize - who may do what to a program: its owner anything, nobody else anything. Root, too,
 * only to its own.
 *
 * The one place for this (RFC 8: instances arbitrate by policy and ownership). The modes of the
 * instance's directories are beneath it.
 */
#ifndef LAUNCHER_CONTROL_AUTHORIZE_H
#define LAUNCHER_CONTROL_AUTHORIZE_H

#include <sys/types.h>

#include "base/error.h"

/* `operation` is a word for the sentence ("signal"), `uid` whoever wants it, `target_uid` whose the
 * program is. 0, or -1 with a sentence. */
int authorize(const char *operation, uid_t uid, uid_t target_uid, struct error *err);

#endif
