# shellcheck disable=SC2154 # bats sets stderr
# A process of a run that is killed anywhere: behind each event and each message of all of them (kill-at.c), or before
# any of its system calls of some kind (strace). The log is whole and true, the ledger free, and nothing is left.
#   KILLED_EVERY  the first tests kill behind each so many of the events and messages (1: each, 1,000 runs), not only
#                 behind one of them for each process
#   KILLED_RUNS   the last ones kill before the first so many calls of each kind (112: 1,000 runs)
load ../lib/common
setup_file() { build_programs; }
setup() {
    start_test
    PATH=${TPRUN%/*}:$PATH
    export TMPDIR=$BATS_TEST_TMPDIR/tmp
    mkdir tmp
    need_plain_build "nothing may be preloaded before their library, and strace and LeakSanitizer exclude each other"
}
teardown() { nothing_left 5; }

EVERY=${KILLED_EVERY:-0}
RUNS=${KILLED_RUNS:-2}

tpctl() { timeout --foreground -k 5 "${LIMIT:-60}" "$(dirname "$TPRUN")/tpctl" "$@"; }

# ---- what is true of a program in which a process was killed ----

all_are_complete() {
    tpctl list -a --format=json >list || return
    jq -e 'all(.programs[]; .state == "complete")' list >/dev/null || { cat list; return 1; }
}
# No file of a program but those that the next ones use again.
no_file_is_left() {
    local left
    left=$(find "$TPRUN_RUNTIME_DIR"/*/programs -mindepth 1 -maxdepth 1 ! -name '.spare-*'
        find "$TPRUN_RUNTIME_DIR"/*/programs/.spare-* "$TPRUN_RUNTIME_DIR"/*/saved tmp -mindepth 1 ! -name '.*.new')
    [ -z "$left" ] || { echo "files are left:"; echo "$left"; return 1; }
} 2>/dev/null
# Who comes first finds it dead: each second time tpctl, else the next run.
check_ledger() { # NUMBER
    (($1 % 2)) || wait_for 20 all_are_complete || return
    tprun --no-wait -n all true || { echo "cores are not free"; return 1; }
    wait_for 20 all_are_complete || return
}

# ---- behind each event and each message ----

# What the first task, and all others, end with; what is right of the whole.
# shellcheck disable=SC2016 # for the tasks' shell
run_ending() { # ARGUMENTS...
    status_of_all=3
    env LD_PRELOAD="$PROGRAMS/kill-at" "$TPRUN" --oversubscribe --on-failure=continue "$@" -n 2 sh -c '
        [ "$TPRUN_RANK" = 1 ] || exit 3
        echo one; sleep 0.02; echo two >&2' >out 2>err
}
run_spawning() { # ARGUMENTS...
    status_of_all=0
    env LD_PRELOAD="$PROGRAMS/kill-at" "$TPRUN" --oversubscribe "$@" "$PROGRAMS/pmi-spawn" tree 1 2 >out 2>err
}

# The log says what happened: once that it is over, and how; of a task that ended what it ended with.
log_is_true() { # VICTIM STATUS-OF-TPRUN IS-DETACHED
    local id log
    id=$(jq -r '.programs[] | select(.command != ["true"]) | .id' list)
    if [ -z "$id" ]; then # nothing was written yet
        [ "$(jq -r '.programs | length' list)" = 1 ] || { cat list; return 1; }
        return
    fi
    log=$(echo "$XDG_STATE_HOME"/tprun/this-machine-*/"$id"/events)
    [ "$(grep -c '"name":"\(complete\|lost\)"' "$log")" = 1 ] || { echo "its end is not said once: $(cat "$log")"; return 1; }
    tpctl info --format=json "$id" >info || return
    jq -e --arg who "$1" --argjson all "$status_of_all" --argjson status "$2" --argjson detached "$3" '
        (if .lost then $who != "foreground" and .status == null and
            .reason == "the manager of the program was gone before its end\n"
        else .status != null end) and
        (if $who == "agent" or $who == "guard" then
            .status == $all or (.status == 1 and (.reason | test("not started|lost: ")))
        else true end) and
        all(.tasks[]; .state != "running" and
            (.state != "ended" or .by_tprun or .status == (if .rank == 0 then $all else 0 end))) and
        ($status == .status or $who == "foreground" or $who == "frontend" or ($detached and $status == 0) or
            ($status == 1 and (.lost or $who == "manager")))' info >/dev/null ||
        { echo "not true, with status $2:"; jq -c 'del(.spec, .R)' info; cat "$log"; return 1; }
}
# kill_behind NUMBER VICTIM RUN-FUNCTION ARGUMENTS...: sets $place to where that was; "": there is no such.
kill_behind() {
    local number=$1 victim=$2 status=0 is_detached=false
    [[ $* != *--detach* ]] || is_detached=true
    head -c 4096 /dev/zero >count
    KILL_COUNT=$PWD/count KILL_WHO=$victim KILL_AT=$number "${@:3}" || status=$?
    place=$(head -c 256 count | tr -d '\0')
    { nothing_left 10 && check_ledger "$number" && log_is_true "$victim" "$status" "$is_detached" && tpctl reap --all &&
        no_file_is_left; } || {
        echo "$victim was killed $place, of ${*:3}; stderr: $(cat err)"
        return 1
    }
    [ -z "$place" ] || killed=$((killed + 1))
}
kill_behind_each_of() { # ARGUMENTS... -- VICTIM...
    local arguments=() run number place killed=0 victims=0
    while [ "$1" != -- ]; do arguments+=("$1"); shift; done
    shift
    for victim; do
        for run in run_ending run_spawning; do
            # of a sample each process has one number, of another part of the run
            victims=$((victims + 1)) number=1
            if [ "$EVERY" = 0 ]; then
                [ $((victims / 2 % 2)) = 1 ] || continue
                number=$((1 + victims * 7 % 13))
            fi
            for (( ; ; number += EVERY)); do
                kill_behind "$number" "$victim" "$run" "${arguments[@]}" || return
                [ -n "$place" ] && [ "$EVERY" != 0 ] || break
            done
        done
    done
    echo "# $killed runs were cut" >&3
    [ "$killed" -ge $# ]
}

@test "killed behind any event or message, attached: the log is true, cores are free, nothing is left" {
    kill_behind_each_of --on-disconnect=terminate -- frontend manager agent
}

@test "killed behind any event or message, with a guard of the agent: the same" {
    kill_behind_each_of --bootstrap '{agent}' -- agent guard manager
}

@test "killed behind any event or message, detached: the same" {
    kill_behind_each_of --detach -- frontend foreground manager agent
}

@test "killed behind any event or message, with --on-disconnect=continue: the same" {
    kill_behind_each_of --on-disconnect=continue -- frontend foreground manager agent
}

# ---- before system calls ----

# Every process is killed at its own call number $2 of the kind $1: the first that gets there ends the run.
killed_at() { # SYSCALL NUMBER
    strace -qq -f -o /dev/null -e "trace=$1" -e "inject=$1:signal=KILL:when=$2" \
        "$TPRUN" -n 2 --oversubscribe sh -c 'echo $TPRUN_RANK' >out 2>err
}
kill_at_each() { # SYSCALL...
    local kind number killed=0
    command -v strace >/dev/null || skip "no strace here"
    for kind; do
        for ((number = 1; number <= RUNS; number++)); do
            killed_at "$kind" "$number" || killed=$((killed + 1))
            { check_ledger "$number" && tpctl reap --all && nothing_left 5; } ||
                { echo "killed at $kind number $number; stderr: $(cat err)"; return 1; }
        done
    done
    [ "$killed" -ge 6 ] || { echo "only $killed runs were cut"; return 1; }
}

@test "a process that is killed before it writes an event, a file or a message leaves a whole log and free cores" {
    kill_at_each pwrite64 write renameat2 ftruncate
}

@test "a process that is killed before it forks, waits or hears a message leaves a whole log and free cores" {
    kill_at_each clone3 clone wait4 epoll_wait read
}
