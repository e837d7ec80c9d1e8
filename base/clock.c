/* The two clocks of a process, as integers and in seconds. */
#include "base/clock.h"

#include <time.h>

static uint64_t clock_read(clockid_t id)
{
    struct timespec now;
    clock_gettime(id, &now);
    return now.tv_sec < 0 ? 0 : (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t clock_monotonic_ns(void)
{
    return clock_read(CLOCK_MONOTONIC);
}

double clock_monotonic_seconds(void)
{
    return (double)clock_monotonic_ns() * 1e-9;
}

uint64_t clock_wall_ns(void)
{
    return clock_read(CLOCK_REALTIME);
}

double clock_wall_seconds(void)
{
    return (double)clock_wall_ns() * 1e-9;
}
