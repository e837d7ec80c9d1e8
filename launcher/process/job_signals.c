/* What each process of tprun does with a batch system's signals. */
#include "launcher/process/job_signals.h"

#include <signal.h>
#include <stddef.h>

static const int job_signals[] = {SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGHUP, SIGQUIT};
enum { NSIGNALS = sizeof(job_signals) / sizeof(job_signals[0]), NIGNORED = 4 };

static void do_nothing(int number)
{
    (void)number;
}

void job_signals_survive(void)
{
    struct sigaction catch = {.sa_handler = do_nothing, .sa_flags = SA_RESTART}, now;
    for (size_t i = 0; i < NSIGNALS; i++) {
        sigaction(job_signals[i], NULL, &now);
        if (now.sa_handler != SIG_IGN)
            sigaction(job_signals[i], &catch, NULL);
    }
}

void job_signals_reset(void)
{
    for (size_t i = 0; i < NSIGNALS; i++)
        sigaction(job_signals[i], &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
}

void job_signals_ignore(void)
{
    for (size_t i = 0; i < NIGNORED; i++)
        sigaction(job_signals[i], &(struct sigaction){.sa_handler = SIG_IGN}, NULL);
}
