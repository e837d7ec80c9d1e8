#!/bin/sh
# slurm.sh - a batch script for Slurm: two nodes, with four tasks of four cores on each.
#
#     sbatch slurm.sh ./app ARGUMENTS
#
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=4
#SBATCH --cpus-per-task=4
#SBATCH --hint=nomultithread
#SBATCH --time=10
set -eu
# tprun finds the nodes of the job by itself, has srun start its agents there, and ends before the job does: time to save is left.
tprun -N "$SLURM_JOB_NUM_NODES" -n "$SLURM_NTASKS" -c "$SLURM_CPUS_PER_TASK" --time-limit 9m "$@"
