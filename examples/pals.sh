#!/bin/sh
# pals.sh - a batch script for PBS on HPE's Cray systems: two nodes, with four tasks of four cores on
# each, whose agents PALS starts.
#
#     qsub -v APP=./app pals.sh
#
# With its own mpiexec in PATH, as "module load cray-pals" has it, PALS is used without being named.
#PBS -l select=2:ncpus=16:mpiprocs=16
#PBS -l walltime=00:10:00
set -eu
cd "$PBS_O_WORKDIR"
# tprun finds the nodes of the job by itself, and ends before the job does: time to save is left.
tprun --bootstrap "${BOOTSTRAP:-pals}" -n "${TASKS:-8}" -c "${CORES:-4}" --time-limit 9m "$APP"
