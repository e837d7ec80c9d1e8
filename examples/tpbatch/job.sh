#!/bin/sh
# job.sh - a script for tpbatch: three programs side by side, then twenty in sequence, through agents that are started
# once. Each node gets a copy of task.sh, and runs prolog.sh first and epilog.sh last.
#
#     cd examples/tpbatch && tpbatch job.sh                                 # this machine, or a batch job's nodes
#     cd examples/tpbatch && tpbatch -N 4 --hosts 'node[0-3]' job.sh        # four nodes over ssh
#
#TPRUN: --stage task.sh --prolog prolog.sh --epilog epilog.sh
#TPRUN: --time-limit 10m
set -eu

echo "three programs side by side"
running=
for name in left middle right; do
    tprun -n 1 task.sh "$name" & # on a core of its own; it waits where there are fewer
    running="$running $!"
done
for program in $running; do
    wait "$program" # a program that fails ends the script, and so the instance
done

echo "twenty programs in sequence"
for step in $(seq 20); do
    tprun -n all task.sh "step $step"
done
