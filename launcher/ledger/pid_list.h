/*
 * pid_list - process ids in the order of tasks, as text: "1000-1003,2000,0". A range counts
 * upwards; 0 is a task that was not started.
 */
#ifndef LAUNCHER_LEDGER_PID_LIST_H
#define LAUNCHER_LEDGER_PID_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

void pid_list_encode(struct buf *out, const uint32_t *pids, size_t count);
/* The text as exactly `count` ids, through put(arg, i, pid). False: it is malformed, or of another
 * number; what was put before that stays. */
bool pid_list_decode(const char *text, size_t count, void (*put)(void *arg, size_t i, uint32_t pid),
                     void *arg);

#endif
