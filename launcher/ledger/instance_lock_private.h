/*
 * instance_lock_private - the lock that changes of the ledger take, for its files.
 */
#ifndef LAUNCHER_LEDGER_INSTANCE_LOCK_PRIVATE_H
#define LAUNCHER_LEDGER_INSTANCE_LOCK_PRIVATE_H

#include <stdint.h>

#include "launcher/ledger/instance_lock.h"

/* The instance's lock, or another of its files that serves as one. */
struct ledger_lock {
    struct instance *instance;
    int fd;
    double since;
};
/* 0, or -1 with a sentence. It is opened anew each time, so that no process forked meanwhile can
 * keep it. */
int ledger_lock(struct instance *instance, const char *name, struct ledger_lock *lock,
                struct error *err);
void ledger_unlock(struct ledger_lock *lock);

/* A hash of an identity or a key. It is another in a version of tprun whose directories have
 * another layout. */
uint64_t ledger_hash(const char *text);

#endif
