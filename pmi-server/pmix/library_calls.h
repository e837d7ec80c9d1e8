/*
 * library_calls - what openpmix's thread is asked for several times at once, and the wait for all of it: a
 * wait for each would be two turns of the scheduler a task.
 */
#ifndef PMI_SERVER_PMIX_LIBRARY_CALLS_H
#define PMI_SERVER_PMIX_LIBRARY_CALLS_H

#include <pthread.h>

#include "pmi-server/pmix/library.h"

struct library_calls {
    pthread_mutex_t lock;
    pthread_cond_t ended;
    size_t pending;
    pmix_status_t status; /* of the first that failed */
};

#define LIBRARY_CALLS_INIT                                                                         \
    {                                                                                              \
        PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, PMIX_SUCCESS                       \
    }

/* Before a call, which is given library_calls_end and these; and what it returned, after it. */
void library_calls_begin(struct library_calls *calls);
void library_calls_begun(struct library_calls *calls, pmix_status_t status);
void library_calls_end(pmix_status_t status, void *calls); /* openpmix's thread */
/* Until all have ended. */
pmix_status_t library_calls_wait(struct library_calls *calls);

#endif
