#!/bin/sh
# prolog.sh - run once on each node before job.sh starts. All programs of the instance find what it puts beside the
# staged files. "tpctl info" shows what it writes.
echo "$TPRUN_NODE" >"$TPRUN_STAGE_DIR/prepared" && echo "prepared"
