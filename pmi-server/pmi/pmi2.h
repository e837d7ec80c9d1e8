/*
 * pmi2 - PMI-2's wire protocol as a dialect: frames with a length, one reply for each.
 *
 * There is no RFC. What is served is what the libraries of MPICH and Slurm say and expect, which is
 * the same but for two things: MPICH looks for `port` in the answer to name-lookup and Slurm for
 * `value`, so both are there; and Slurm has a request `ring`.
 *
 * A request with a thrid= is one thread's: its reply bears the same thrid=, and later requests do
 * not wait for it. Frames that are none, requests before fullinit and unknown ones are protocol
 * errors; everything else is answered, with rc= and errmsg= where it failed.
 */
#ifndef PMI_SERVER_PMI_PMI2_H
#define PMI_SERVER_PMI_PMI2_H

struct dialect;

extern const struct dialect pmi2_dialect;

#endif
