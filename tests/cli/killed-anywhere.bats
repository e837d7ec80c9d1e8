# shellcheck disable=SC2154 # bats sets stderr
# A process of a run that is killed at any of its system calls of some kind: strace(1) sends the signal. Whatever it
# was about to write, the log is whole, the ledger free, and nothing is left.
load ../lib/common
setup() {
    start_test
    PATH=${TPRUN%/*}:$PATH
    command -v strace >/dev/null || skip "no strace here"
    need_plain_build "strace and LeakSanitizer exclude each other"
}
teardown() { nothing_left 5; }

RUNS=${KILLED_RUNS:-6} # at the first so many calls of each kind

# Every process is killed at its own call number $2 of the kind $1: the first that gets there ends the run.
killed_at() { # SYSCALL NUMBER
    strace -qq -f -o /dev/null -e "trace=$1" -e "inject=$1:signal=KILL:when=$2" \
        "$TPRUN" -n 2 --oversubscribe sh -c 'echo $TPRUN_RANK' >out 2>err
}
all_are_complete() {
    local lists
    lists=$(tpctl list -a --format=json) || return
    jq -e 'all(.programs[]; .state == "complete")' <<<"$lists" >/dev/null || { echo "$lists"; return 1; }
}
# All that is known of the last program is whole, and what it held is free. Who comes first finds it dead: each second
# time tpctl, else the next run.
check_ledger() { # NUMBER
    (($1 % 2)) || all_are_complete || return
    tprun --no-wait -n all true || { echo "cores are not free"; return 1; }
    all_are_complete || return
    tpctl reap --all
    nothing_left 5
}
kill_at_each() { # SYSCALL...
    local kind number killed=0
    for kind; do
        for ((number = 1; number <= RUNS; number++)); do
            killed_at "$kind" "$number" || killed=$((killed + 1))
            check_ledger "$number" || { echo "killed at $kind number $number; stderr: $(cat err)"; return 1; }
        done
    done
    [ "$killed" -ge 10 ] || { echo "only $killed runs were cut"; return 1; }
}

@test "a process that is killed before it writes an event, a file or a message leaves a whole log and free cores" {
    kill_at_each pwrite64 write renameat2 ftruncate
}

@test "a process that is killed before it forks, waits or hears a message leaves a whole log and free cores" {
    kill_at_each clone3 clone wait4 epoll_wait read
}
