#!/bin/sh
# flux.sh - a batch script for Flux: two nodes, with four tasks of four cores on each.
#
#     APP=./app flux batch flux.sh
#
#flux: -N 2
#flux: -n 8
#flux: -c 4
#flux: -t 10m
set -eu
# tprun finds the nodes and cores of the job by itself, and ends before the job does: time to save is left.
tprun -n "${TASKS:-8}" -c "${CORES:-4}" --time-limit 9m "$APP"
