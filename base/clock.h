/*
 * clock - what time it is.
 */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>

/* For durations and deadlines: since some moment in the past, the same for all processes of this
 * machine. Never goes back. */
uint64_t clock_monotonic_ns(void);
double clock_monotonic_seconds(void);

/* Of the calendar: since 1970, UTC. May be set back. */
uint64_t clock_wall_ns(void);
double clock_wall_seconds(void);

#endif
