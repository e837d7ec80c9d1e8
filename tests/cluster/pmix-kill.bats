# shellcheck disable=SC2154 # bats sets stderr
# One rank of an Open MPI program is killed, or leaves, at each stage of its life: tprun says which and
# how, in time, and nothing is left on any host.
#   ROUNDS   how often each is tried (1); the rank goes round
load common
setup_file() { start_cluster 4; }
teardown_file() { stop_cluster; }
setup() {
    start_cluster_test
    need_openmpi
    ROUNDS=${ROUNDS:-1}
    know_files
}
teardown() { hosts_clean 4; }

TASKS=4
MOST=5 # s that the end may take

# each STAGE COMMAND...: on 1, 2 and 4 hosts the program is at the stage with $rank; the command
# ends it.
each() {
    local stage=$1 nhosts round rank
    shift
    for nhosts in 1 2 4; do
        for ((round = 0; round < ROUNDS; round++)); do
            rank=$((round % TASKS))
            start_on head "$TPRUN" -n $TASKS --hosts "node[0-$((nhosts - 1))]" --map-by node \
                "$OPENMPI/mpi-stage" "$stage" $rank
            wait_for 20 lines_are out 1 && "$@" || {
                echo "round $round with rank $rank on $nhosts hosts: $(cat err)"
                return 1
            }
        done
    done
}
host_of() { echo "node$(($1 % nhosts))"; } # RANK
pid_of() {                                 # RANK
    local pid
    for pid in $(processes "$(host_of "$1")" mpi-stage); do
        ! grep -zqx "PMIX_RANK=$1" "/proc/$pid/environ" || echo "$pid"
    done
}
is_over() { ! kill -0 "$job" 2>/dev/null; }
# Within $MOST seconds tprun ends with this status and a line like this, and all is clean.
ends() { # STATUS LINE
    wait_for $MOST is_over || return
    finish
    equal "$status" "$1" && has_line "$(cat err)" "$2" && hosts_clean 2 && files_clean
}
kill_rank() { # RANK
    local pid
    pid=$(pid_of "$1")
    [ -n "$pid" ] || { echo "no process of rank $1"; return 1; }
    kill -9 "$pid" && ends 137 "tprun: rank $1 on $(host_of "$1"): killed by signal 9 (Killed)*"
}

@test "SIGKILL of a rank before MPI_Init ends all and names it" { each before kill_rank_chosen; }
kill_rank_chosen() { kill_rank $rank; }

in_a_while() {
    sleep "0.$(printf %03d $((RANDOM % 400)))"
    kill_rank_chosen
}
@test "SIGKILL of a rank at any time in MPI_Init ends all and names it" { each init in_a_while; }

# Open MPI sleeps a little and looks again while it waits in a fence, and does so nowhere else.
waits() { # PID: three times in a row
    local i call
    for i in 1 2 3; do
        read -r call _ <"/proc/$1/syscall" && [[ $call =~ ^(230|115)$ ]] || return # clock_nanosleep of x86-64, of arm64
        sleep 0.01
    done
}
another() {
    local other=$(((rank + 1) % TASKS))
    wait_for 10 waits "$(pid_of $other)" && kill_rank $other
}
@test "SIGKILL of a rank that waits in MPI_Init's fence ends all and names it" { each before another; }

@test "SIGKILL of a rank after MPI_Finalize ends all and names it" { each finalize kill_rank_chosen; }

leaves() {
    ends 1 "tprun: rank $rank on $(host_of $rank): PMI: ended without entering the PMIx fence that rank * waits in: *"
}
@test "a rank that ends well without MPI_Init ends the others, which wait for it there" { each leave leaves; }

# kill_process NAME WANT-LINE [last]: of tprun's processes, while its tasks are in MPI_Init or stay after
# it; on hosts that are reached, and on tprun's own. What a manager wrote into its instance the next run
# there removes.
kill_process() {
    local name=$1 want=$2 which=${3:-1} round where from
    for where in "--hosts node[0-3] --map-by node" ""; do
        for ((round = 0; round < ROUNDS; round++)); do
            # shellcheck disable=SC2086 # words
            start_on head "$TPRUN" -n $TASKS $where --kill-grace 1s "$OPENMPI/mpi-stage" init 0
            wait_for 20 lines_are out 1 || return
            sleep "$((RANDOM % 2)).$(printf %03d $((RANDOM % 400)))"
            from=head
            [[ -z $where || $name = tprun* ]] || from=node$((round % 4))
            kill -9 "$(processes $from "$name" | sed -n "${which}p")"
            # shellcheck disable=SC2086
            wait_for $MOST is_over && finish && [ "$status" != 0 ] && has_line "$(cat err)" "$want" &&
                hosts_clean 4 && tprun -n $TASKS $where true && files_clean || {
                echo "round $round, $name on $from: status ${status:-none}: $(cat err)"
                return 1
            }
        done
    done
}
@test "SIGKILL of the front end while Open MPI starts or runs leaves nothing" { kill_process tprun "*"; }
@test "SIGKILL of the manager while Open MPI starts or runs leaves nothing" { kill_process tprun-manager "tprun: *"; }
@test "SIGKILL of an agent while Open MPI starts or runs leaves nothing" { kill_process tpagent "tprun: *" '$'; }
@test "SIGKILL of an agent's first process while Open MPI starts or runs leaves nothing" { kill_process tpagent "tprun: *"; }
