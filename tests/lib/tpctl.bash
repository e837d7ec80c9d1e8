# shellcheck shell=bash
# What bats files of tpctl load, behind common: a program that runs, and what is written about it.
#   TPCTL   the tpctl to test (default: the one beside tprun)
export TPCTL=${TPCTL:-$(dirname "$TPRUN")/tpctl}

tpctl() { timeout --foreground -k 5 "${LIMIT:-60}" "$TPCTL" "$@"; }
run_tpctl() { # -STATUS ARGUMENTS...: with stderr apart
    run "$1" --separate-stderr timeout --foreground -k 5 "${LIMIT:-60}" "$TPCTL" "${@:2}"
}

instance() { echo "$TPRUN_RUNTIME_DIR"/this-machine-*; }
# start_program N ARGUMENTS...: in the background; its tasks are to say "ready"; sets $id and $job.
start_program() {
    local n=$1
    shift
    start "$TPRUN" "$@"
    wait_for 20 said_ready "$n" || { cat err; return 1; }
    id=$(find "$(instance)/programs" -mindepth 1 -name "[0-9]*" -printf "%f\n" | sort -n | tail -n 1)
}
said_ready() { [ "$(grep -c '^ready' out)" -ge "$1" ]; }
# The events of a name, of a program that is there or complete: context after context.
events() { # NAME
    { cat "$(instance)/programs/$id/events" || cat "$XDG_STATE_HOME"/tprun/*/"$id"/events || cat "$(instance)/completed"; } 2>/dev/null |
        grep -a "^{\"timestamp\":[0-9.]*,\"name\":\"$1\"" | jq -c .context
}
# The state of a task's process: R, S, T, ...
state_of() { # RANK
    ps -o stat= -p "$(tpctl ps --format=json "$id" | jq ".tasks[] | select(.rank == $1) | .pid")" | cut -c1
}
