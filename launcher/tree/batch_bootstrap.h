/*
 * batch_bootstrap - the commands by which batch systems start a process on another host of a job.
 *
 *     name        batch system  command
 *     pals        PBS           HPE's PALS: mpiexec -n 1 --hosts HOST ... AGENT
 *     pbs         PBS           pbs_tmrsh HOST AGENT --call FILE, for each host
 *     flux        Flux          flux exec -r RANKS AGENT
 *     lsf         LSF           blaunch HOST -no-shell AGENT
 *     sge         Grid Engine   qrsh -inherit -noshell HOST AGENT
 *     kubernetes  MPI Operator  kubectl exec -i HOST -- AGENT
 *
 * What an agent does is then part of the job: the batch system accounts for it, limits it and ends
 * it, and no ssh is needed on the nodes of the job. Each command is a template of bootstrap.h. All
 * nodes are reached from the one where tprun runs: most of these systems let no other node of a job
 * start anything.
 *
 * Sources: IBM Spectrum LSF, "blaunch"; sge_submit(1), "-inherit", "-noshell"; HPE Cray PALS,
 * "mpiexec"; kubectl-exec(1).
 */
#ifndef LAUNCHER_TREE_BATCH_BOOTSTRAP_H
#define LAUNCHER_TREE_BATCH_BOOTSTRAP_H

#include <stdbool.h>

#include "base/error.h"

struct batch_bootstrap {
    const char *name;         /* of --bootstrap */
    const char *system;       /* as launcher/source/batch_system.h calls it */
    const char *command;      /* the program that is looked for */
    const char *only_in;      /* a part of the paths that it may have; NULL: any */
    bool (*is_meant)(void);   /* auto takes it; NULL: always */
    char *(*directory)(void); /* where it is, beside PATH; NULL or a path, caller frees */
    const char *before;       /* words before the command, or "" */
    const char *words;        /* behind the command: with {agent}, and {host}, {hosts} or {ranks} */
};

/* Static; NULL: there is no such name. */
const struct batch_bootstrap *batch_bootstrap_named(const char *name);
/* Those of a batch system, the first one for `last` NULL; NULL: no more. */
const struct batch_bootstrap *batch_bootstrap_of(const char *system,
                                                 const struct batch_bootstrap *last);
/* Whether one command of this template starts many agents: it has {hosts} or {ranks}. */
bool batch_bootstrap_is_for_many(const char *template);
/* "pals, pbs, flux, lsf, sge or kubernetes"; caller frees. */
char *batch_bootstrap_names(void);
/* Whether --bootstrap may say this: one of these names, auto, local, ssh or slurm, or a template
 * whose quotes and placeholders go together. -1 with a sentence. */
int batch_bootstrap_check(const char *method, struct error *err);

#endif
