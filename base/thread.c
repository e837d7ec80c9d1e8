/* A thread that takes no signals; without one its function runs at once. */
#include "base/thread.h"

#include <signal.h>

void thread_begin(struct thread *thread, void *(*run)(void *arg), void *arg)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    thread->runs = pthread_create(&thread->id, NULL, run, arg) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!thread->runs)
        run(arg);
}

void thread_end(struct thread *thread)
{
    if (thread->runs)
        pthread_join(thread->id, NULL);
    thread->runs = false;
}
