#!/bin/sh
# pbs.sh - a batch script for OpenPBS and Torque: two nodes, with four tasks of four cores on each.
#
#     qsub -v APP=./app pbs.sh
#
# Under OpenPBS mpiprocs is the number of cores that tprun may use on a node. Under Torque write
# "#PBS -l nodes=2:ppn=16" in place of the line with select.
#PBS -l select=2:ncpus=16:mpiprocs=16
#PBS -l walltime=00:10:00
set -eu
cd "$PBS_O_WORKDIR"
# tprun finds the nodes of the job by itself, and ends before the job does: time to save is left.
tprun -n "${TASKS:-8}" -c "${CORES:-4}" --time-limit 9m "$APP"
