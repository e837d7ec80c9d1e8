/*
 * job_signals - the signals by which a batch system warns or ends all processes of a job: SIGINT,
 * SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2.
 *
 * The front end takes them for its run, and passes them on to the tasks. All other parts of tprun
 * have to survive them.
 */
#ifndef LAUNCHER_PROCESS_JOB_SIGNALS_H
#define LAUNCHER_PROCESS_JOB_SIGNALS_H

/* Catch them and do nothing. They are not ignored: what this process executes would ignore them,
 * too. A signal that is ignored already stays so, for tasks are to ignore it as well. */
void job_signals_survive(void);

/* The default for all of them, also for those that the parent ignored. */
void job_signals_reset(void);

/* In a child that is about to execute a command which starts agents: ignore those that are sent to
 * all processes of a job. SIGHUP and SIGQUIT still end it. System calls only. */
void job_signals_ignore(void);

#endif
