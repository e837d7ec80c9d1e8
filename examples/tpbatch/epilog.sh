#!/bin/sh
# epilog.sh - run once on each node when all programs of the instance have ended, also where job.sh has failed.
rm "$TPRUN_STAGE_DIR/prepared" && echo "cleared up"
