/*
 * signal_name - signals by name: "SIGTERM", "TERM", "15".
 */
#ifndef LAUNCHER_PROCESS_SIGNAL_NAME_H
#define LAUNCHER_PROCESS_SIGNAL_NAME_H

#include <stdbool.h>
#include <stddef.h>

/* "SIGTERM"; "signal 40" of one without a name. Borrowed until the next call. */
const char *signal_name(int number);
/* Of text[0..len): a name with or without SIG, in letters of either case, or a number. 0: none. */
int signal_number(const char *text, size_t len);

/* Whether users send it to a program that is to end: how its tasks exit then is their answer to it,
 * and not a failure for which others have to end. */
bool signal_asks_for_end(int number);

#endif
