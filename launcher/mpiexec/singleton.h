/*
 * singleton - an MPI process that was started without a launcher, and now wants one: to spawn, to
 * publish a name, to know the size of its universe.
 *
 * MPICH's client listens at a port of this machine, runs
 *     mpiexec [-v] -pmi_args PORT INTERFACE KEY PID
 * and waits until somebody connects. Here that becomes a program of one task: tpsingleton, which
 * stands in for the process. It speaks the client's singinit exchange and passes on what the two
 * say, so that agent and manager know of nothing special. Whoever does not come has to connect and
 * close, or the process waits for ever.
 */
#ifndef LAUNCHER_MPIEXEC_SINGLETON_H
#define LAUNCHER_MPIEXEC_SINGLETON_H

#include "base/error.h"

/* The port, 0 where this is no such command line, -1 with a sentence of kind ERROR_USAGE. */
int singleton_port(char *const argv[], struct error *err);

#define SINGLETON_STDIO "stdio" /* tpsingleton's word for: its input and output are ours */

/* tprun's command line for it, ending at a NULL; caller frees with string_list_free(). `stand_in`
 * is the path of tpsingleton. NULL with a sentence of kind ERROR_USAGE where TPRUN_SINGLETON_STDIO
 * of the environment is neither yes nor no. */
char **singleton_words(char *const argv[], int port, const char *stand_in, struct error *err);

/* A connection to this port of this machine, or -1 with errno. */
int singleton_connect(int port);

/* Let go who still waits there; whether somebody does is not known. */
void singleton_release(int port);

#endif
