/*
 * calls - what openpmix's thread is asked for several times at once, and the wait for all of it: a
 * wait for each would be two turns of the scheduler a task.
 */
#ifndef PMI_SERVER_PMIX_LIBRARY_CALLS_H
#define PMI_SERVER_PMIX_LIBRARY_CALLS_H

#include <pthread.h>

#include "pmi-server/pmix/library.h"

struct calls {
    pthread_mutex_t lock;
    pthread_cond_t ended;
    size_t pending;
    pmix_status_t status; /* of the first that failed */
};

#define CALLS_INIT                                                                                 \
    {                                                                                              \
        PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, PMIX_SUCCESS                       \
    }

/* Before a call, which is given calls_end and these; and what it returned, after it. */
void calls_begin(struct calls *calls);
void calls_begun(struct calls *calls, pmix_status_t status);
void calls_end(pmix_status_t status, void *calls); /* openpmix's thread */
/* Until all have ended. */
pmix_status_t calls_wait(struct calls *calls);

#endif
