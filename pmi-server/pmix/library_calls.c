#include "pmi-server/pmix/library_calls.h"

void calls_begin(struct calls *calls)
{
    pthread_mutex_lock(&calls->lock);
    calls->pending++;
    pthread_mutex_unlock(&calls->lock);
}

void calls_end(pmix_status_t status, void *arg)
{
    struct calls *calls = arg;
    pthread_mutex_lock(&calls->lock);
    if (status != PMIX_SUCCESS && status != PMIX_OPERATION_SUCCEEDED &&
        calls->status == PMIX_SUCCESS)
        calls->status = status;
    if (--calls->pending == 0)
        pthread_cond_signal(&calls->ended);
    pthread_mutex_unlock(&calls->lock);
}

/* Only after PMIX_SUCCESS its end is still to be told. */
void calls_begun(struct calls *calls, pmix_status_t status)
{
    if (status != PMIX_SUCCESS)
        calls_end(status, calls);
}

pmix_status_t calls_wait(struct calls *calls)
{
    pthread_mutex_lock(&calls->lock);
    while (calls->pending)
        pthread_cond_wait(&calls->ended, &calls->lock);
    pthread_mutex_unlock(&calls->lock);
    return calls->status;
}
