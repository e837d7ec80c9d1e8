#include "pmi-server/pmix/library_calls.h"

void library_calls_begin(struct library_calls *calls)
{
    pthread_mutex_lock(&calls->lock);
    calls->pending++;
    pthread_mutex_unlock(&calls->lock);
}

void library_calls_end(pmix_status_t status, void *arg)
{
    struct library_calls *calls = arg;
    pthread_mutex_lock(&calls->lock);
    if (status != PMIX_SUCCESS && status != PMIX_OPERATION_SUCCEEDED &&
        calls->status == PMIX_SUCCESS)
        calls->status = status;
    if (--calls->pending == 0)
        pthread_cond_signal(&calls->ended);
    pthread_mutex_unlock(&calls->lock);
}

/* Only after PMIX_SUCCESS its end is still to be told. */
void library_calls_begun(struct library_calls *calls, pmix_status_t status)
{
    if (status != PMIX_SUCCESS)
        library_calls_end(status, calls);
}

pmix_status_t library_calls_wait(struct library_calls *calls)
{
    pthread_mutex_lock(&calls->lock);
    while (calls->pending)
        pthread_cond_wait(&calls->ended, &calls->lock);
    pthread_mutex_unlock(&calls->lock);
    return calls->status;
}
