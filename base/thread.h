/*
 * thread - something done beside, in a thread that leaves signals to the others.
 *
 * Where there can be no thread it is done at once.
 */
#ifndef BASE_THREAD_H
#define BASE_THREAD_H

#include <pthread.h>
#include <stdbool.h>

struct thread {
    pthread_t id;
    bool runs;
};

void thread_begin(struct thread *thread, void *(*run)(void *arg), void *arg);
void thread_end(struct thread *thread); /* once it is done */

#endif
