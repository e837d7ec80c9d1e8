#!/bin/sh
# batch.sh - a batch script: two steps one after the other, then two side by side. Steps that run
# at the same time are given different cores without saying so.
#
#     sh batch.sh [R.json]
set -eu
if [ $# -gt 0 ]; then
    TPRUN_R=$1
    export TPRUN_R
fi
: "${TPRUN:=tprun}"

echo "first step"
"$TPRUN" -n 2 sh -c 'echo "rank $TPRUN_RANK of $TPRUN_SIZE on $(hostname)"'

echo "second step"
"$TPRUN" -n 1 --display map sh -c 'grep Cpus_allowed_list /proc/self/status'

echo "two steps side by side"
"$TPRUN" -n 1 sh -c 'grep Cpus_allowed_list /proc/self/status; sleep 0.5' &
"$TPRUN" -n 1 sh -c 'grep Cpus_allowed_list /proc/self/status; sleep 0.5'
wait
