#!/bin/sh
# lsf.sh - a batch script for LSF: two hosts, with four tasks of four cores on each.
#
#     APP=./app bsub <lsf.sh
#
#BSUB -n 32
#BSUB -R span[ptile=16]
#BSUB -W 10
set -eu
# tprun finds the hosts of the job by itself, and ends before the job does: time to save is left.
tprun -n "${TASKS:-8}" -c "${CORES:-4}" --time-limit 9m "$APP"
