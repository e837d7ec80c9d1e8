#!/bin/sh
# sge.sh - a batch script for Grid Engine: 32 slots, on which eight tasks of four cores run.
#
#     qsub -v APP=./app sge.sh
#
# The name of the parallel environment is the site's; one with control_slaves lets Grid Engine's own
# qrsh start the agents, so that they belong to the job. qconf -spl lists what there is.
#$ -pe mpi 32
#$ -l h_rt=00:10:00
#$ -cwd
#$ -S /bin/sh
set -eu
# tprun finds the hosts of the job by itself, and ends before the job does: time to save is left.
tprun -n "${TASKS:-8}" -c "${CORES:-4}" --time-limit 9m "$APP"
