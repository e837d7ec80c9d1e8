/*
 * process_usage - what a child had used when it was reaped.
 *
 * libev reaps children by waitpid(), which does not say that. So this file defines waitpid(), in
 * place of libc's, for the programs that call process_usage_of(): it does the same, and keeps what
 * wait4() says.
 */
#ifndef LAUNCHER_PROCESS_PROCESS_USAGE_H
#define LAUNCHER_PROCESS_PROCESS_USAGE_H

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

/* Of the child that this thread reaped last, and of the descendants that it had reaped itself. The
 * largest resident set is no less than this process had when it started the child, whose memory was
 * this one's until it executed its program. False: that was another. */
bool process_usage_of(pid_t pid, struct rusage *usage);

#endif
