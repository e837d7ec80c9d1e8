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
# All that is known of the last program is whole, and what it held is free.
check_ledger() {
    local lists
    tprun --no-wait -n all true || { echo "cores are not free"; return 1; }
    lists=$(tpctl list -a --format=json) || return
    jq -e 'all(.programs[]; .state == "complete")' <<<"$lists" >/dev/null || { echo "$lists"; return 1; }
    tpctl reap --all
    nothing_left 5
}
@test "a process that is killed before it writes an event, a file or a message leaves a whole log and free cores" {
    local kind number killed=0
    for kind in pwrite64 write renameat2 ftruncate; do
        for ((number = 1; number <= RUNS; number++)); do
            killed_at "$kind" "$number" || killed=$((killed + 1))
            check_ledger || { echo "killed at $kind number $number; stderr: $(cat err)"; return 1; }
        done
    done
    [ "$killed" -ge 10 ] || { echo "only $killed runs were cut"; return 1; }
}

@test "a process that is killed before it forks, waits or hears a message leaves a whole log and free cores" {
    local kind number killed=0
    for kind in clone3 clone wait4 epoll_wait read; do
        for ((number = 1; number <= RUNS; number++)); do
            killed_at "$kind" "$number" || killed=$((killed + 1))
            check_ledger || { echo "killed at $kind number $number; stderr: $(cat err)"; return 1; }
        done
    done
    [ "$killed" -ge 10 ] || { echo "only $killed runs were cut"; return 1; }
}
