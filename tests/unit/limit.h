/* Processor time of a unit test: one that takes more is ended by the kernel (SIGXCPU). */
#ifndef TESTS_UNIT_LIMIT_H
#define TESTS_UNIT_LIMIT_H

#include <sys/resource.h>

/* From now on so many seconds of processor time, ten times what the work takes. */
static inline void limit_cpu(unsigned seconds)
{
    struct rusage used;
    struct rlimit limit;
    getrusage(RUSAGE_SELF, &used);
    getrlimit(RLIMIT_CPU, &limit);
    limit.rlim_cur = (rlim_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec + 1) + seconds;
    setrlimit(RLIMIT_CPU, &limit);
}

#endif
