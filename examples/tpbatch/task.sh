#!/bin/sh
# task.sh - what the tasks of job.sh run: "left: rank 0 of 1 on node0, cores 3, with what node0 has prepared".
cores=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status)
echo "$1: rank $TPRUN_RANK of $TPRUN_SIZE on $(uname -n), cores $cores, with what $(cat "$TPRUN_STAGE_DIR/prepared") has prepared"
