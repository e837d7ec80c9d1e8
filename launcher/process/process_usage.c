#include "launcher/process/process_usage.h"

#include <sys/wait.h>

static _Thread_local pid_t reaped;
static _Thread_local struct rusage reaped_usage;

pid_t waitpid(pid_t pid, int *status, int options)
{
    struct rusage usage;
    pid_t found = wait4(pid, status, options, &usage);
    if (found > 0) {
        reaped = found;
        reaped_usage = usage;
    }
    return found;
}

bool process_usage_of(pid_t pid, struct rusage *usage)
{
    *usage = reaped_usage;
    return pid > 0 && pid == reaped;
}
