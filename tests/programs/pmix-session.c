/*
 * pmix-session - tasks of a program of which the first has all signalled by PMIx_Session_control(), of
 * openpmix 6.0 and later. Each prints that it has heard the signal; the first, what other requests give.
 */
#include <pmix.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pmix-status.h"

#if PMIX_VERSION_MAJOR < 6
int main(void)
{
    return 77;
}
#else

static pmix_status_t control(uint32_t session, const char *key, int number)
{
    pmix_info_t info = {.value = {.type = PMIX_INT, .data.integer = number}};
    strcpy(info.key, key);
    pmix_status_t status = PMIx_Session_control(session, &info, 1, NULL, NULL);
    if (status == PMIX_OPERATION_SUCCEEDED)
        status = PMIX_SUCCESS;
    printf("%s of %u: %s\n", key, session, status ? status_name(status) : "ok");
    return status;
}

int main(void)
{
    pmix_proc_t me;
    sigset_t set;
    int number;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL); /* openpmix's threads, too */
    if (PMIx_Init(&me, NULL, 0) || PMIx_Fence(NULL, 0, NULL, 0))
        return 1;
    if (me.rank == 0) {
        control(4711, PMIX_SESSION_SIGNAL, SIGUSR1);
        control(0, PMIX_SESSION_COMPLETE, 0);
        if (control(0, PMIX_SESSION_SIGNAL, SIGUSR1))
            return 1;
    }
    sigwait(&set, &number);
    printf("rank %u: signal %d\n", me.rank, number == SIGUSR1);
    return PMIx_Finalize(NULL, 0) != PMIX_SUCCESS;
}
#endif
