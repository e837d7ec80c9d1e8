/*
 * clock-shift - preloaded, it sets the clock of the calendar, and no other, by $CLOCK_SHIFT seconds
 * once the file $CLOCK_SHIFT_FROM is there. Built as a shared object.
 */
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static time_t clock_shift(void)
{
    const char *file = getenv("CLOCK_SHIFT_FROM"), *seconds = getenv("CLOCK_SHIFT");
    return file && seconds && access(file, F_OK) == 0 ? (time_t)strtol(seconds, NULL, 10) : 0;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    int rc = (int)syscall(SYS_clock_gettime, clock, now);
    if (rc == 0 && clock == CLOCK_REALTIME)
        now->tv_sec += clock_shift();
    return rc;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
    int rc = (int)syscall(SYS_gettimeofday, now, zone);
    if (rc == 0)
        now->tv_sec += clock_shift();
    return rc;
}
