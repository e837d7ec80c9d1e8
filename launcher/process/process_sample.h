/*
 * process_sample - what processes use at this moment, with those of their process groups. [proc(5):
 * stat]
 */
#ifndef LAUNCHER_PROCESS_PROCESS_SAMPLE_H
#define LAUNCHER_PROCESS_PROCESS_SAMPLE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "launcher/process/process_set.h"

struct process_sample {
    char state; /* of the leader of the group: R, S, D, T, ...; Z: it has ended */
    uint64_t
        cpu_ms; /* user and system time of the group, with that of children it has waited for */
    uint64_t memory_kib; /* resident sets of the group; what they share counts for each */
};

/* samples[count] of the process groups of these numbers, by those of the set that are in one. */
void process_sample_groups(const struct process_set *set, const pid_t *groups, size_t count,
                           struct process_sample *samples);

#endif
