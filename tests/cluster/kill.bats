# Whoever is killed, and however: nothing of the program is left on any host, and tprun says why.
#   ROUNDS   how often each is tried (3)
load common
setup_file() { start_cluster 4; }
teardown_file() { stop_cluster; }
setup() {
    start_cluster_test
    ROUNDS=${ROUNDS:-3}
}
teardown() {
    [ -z "${NO_CLUSTER:-}" ] || return 0
    "$CLUSTER" heal 3>&-
    hosts_clean 8
}

# A program on 4 hosts whose tasks take no notice of TERM, have children, and have let one escape.
start_program() { # OPTIONS...
    start_on head "$TPRUN" "$@" -n 4 --hosts 'node[0-3]' --map-by node "$PROGRAMS/stay" ignore fork escape
    wait_for 20 lines_are out 4 || { cat err; return 1; }
}

# rounds WHOSE-PIDS...: in every round the victim that the command prints is killed.
kill_rounds() { # WANT-MESSAGE FAN-OUT COMMAND...
    local round want=$1 fanout=$2 victims
    shift 2
    for ((round = 1; round <= ROUNDS; round++)); do
        start_program --fanout "$fanout"
        victims=$("$@" "$round")
        [ -n "$victims" ] || { echo "no victim: $*"; "$CLUSTER" left; return 1; }
        # shellcheck disable=SC2086
        kill -9 $victims
        hosts_clean 3 || { echo "round $round: $*"; return 1; }
        finish
        echo "round $round: status $status: $(cat err)"
        [ "$status" != 0 ]
        [ -z "$want" ] || has_line "$(cat err)" "$want"
    done
}

front_end() { processes head tprun | head -n 1; }
nth() { sed -n "$((($1 - 1) % $(wc -l <all) + 1))p" all; }
manager() {
    processes head tprun-manager >all
    nth "$1"
}
agent() { processes "node$((($1 - 1) % 4))" tpagent | tail -n 1; }
guard() { processes "node$((($1 - 1) % 4))" tpagent | head -n 1; }
all_of_agent() { processes "node$((($1 - 1) % 4))" tpagent; }
ssh_client() {
    processes head ssh >all
    nth "$1"
}
ssh_server() { # from OpenSSH 9.8 on sshd-session serves a connection: two of them, of which the second one has it
    processes "node$((($1 - 1) % 4))" sshd-session >all
    if [ -s all ]; then tail -n 1 all; else processes "node$((($1 - 1) % 4))" sshd | head -n 1; fi
}
task() { processes "node$((($1 - 1) % 4))" stay | head -n 1; }
escaped() { processes "node$((($1 - 1) % 4))" stay | tail -n 1; }

@test "tasks are in a cgroup on every host, where one can be made" {
    [ -e "$CLUSTER_DIR/cgroups" ] || skip "no cgroup can be made here"
    start_program -v --kill-grace 0s
    local host front
    for host in node0 node1 node2 node3; do
        has_line "$(cat err)" "tprun: $host: tasks in cgroup */$host/tprun.*"
        equal "$("$CLUSTER" cgroups "$host" | wc -l)" 1
    done
    front=$(front_end) # once: on a busy machine it takes longer than the second there is for the next
    kill -TERM "$front"
    sleep 0.2
    kill -TERM "$front"
    finish
    hosts_clean 3
}

@test "SIGKILL of the front end leaves nothing" {
    kill_rounds "" 32 front_end
}

@test "SIGKILL of the manager leaves nothing, and the front end says so" {
    kill_rounds "tprun: *" 32 manager
}

@test "SIGKILL of an agent leaves nothing, and its host is named" {
    kill_rounds "tprun: *node[0-3]*" 32 agent
}

@test "SIGKILL of an agent's first process leaves nothing, and its host is named" {
    kill_rounds "tprun: *node[0-3]*" 32 guard
}

@test "SIGKILL of an agent with children in the tree leaves nothing" {
    kill_rounds "tprun: *node[0-3]*" 2 agent
}

task_is_over() { [ -z "$(processes "$1" sleep)" ]; } # HOST
@test "a lost host is named, though a task aborts before tprun hears of it" {
    local ssh
    start_on head "$TPRUN" --kill-grace 5s -n 3 --hosts 'node[0-2]' --map-by node sh -c '
        echo up
        [ $TPRUN_RANK = 1 ] || exec sleep 1000
        until [ -e abort ]; do sleep 0.05; done
        printf "cmd=init pmi_version=1 pmi_subversion=1\ncmd=abort exitcode=14\n" >&$PMI_FD
        exec sleep 1000'
    wait_for 20 lines_are out 3 || { cat err; return 1; }
    ssh=$(processes head ssh node2)
    kill -STOP "$ssh"
    kill -9 "$(processes node2 tpagent | tail -n 1)"
    touch abort
    wait_for 20 task_is_over node0
    kill -CONT "$ssh"
    finish
    echo "status $status: $(cat err)"
    equal "$status" 14
    has_line "$(cat err)" "tprun: rank 1 on node1: aborted the program with code 14"
    has_line "$(cat err)" "tprun: node2: lost: *"
}

@test "SIGKILL of an ssh leaves nothing, and its host is named" {
    kill_rounds "tprun: *node[0-3]*" 32 ssh_client
}

@test "SIGKILL of the sshd that serves an agent leaves nothing, and its host is named" {
    kill_rounds "tprun: *node[0-3]*" 32 ssh_server
}

@test "SIGKILL of a task ends the program and names it" {
    local round
    for ((round = 1; round <= ROUNDS; round++)); do
        start_on head "$TPRUN" -n 4 --hosts 'node[0-3]' --map-by node "$PROGRAMS/stay" fork
        wait_for 20 lines_are out 4
        kill -9 "$(task "$round")"
        hosts_clean 3
        finish
        equal "$status" 137
        has_line "$(cat err)" "tprun: rank $(((round - 1) % 4)) on node$(((round - 1) % 4)): killed by signal 9 (Killed)*"
    done
}

@test "SIGKILL of a task that had let one escape ends that too" {
    local round
    for ((round = 1; round <= ROUNDS; round++)); do
        start_program --kill-grace 1s
        kill -9 "$(task "$round")"
        hosts_clean 3
        finish
        equal "$status" 137
    done
}

@test "SIGKILL of what escaped changes nothing" {
    start_program
    kill -9 "$(escaped 1)"
    sleep 0.5
    [ -n "$(processes node1 stay)" ]
    kill -9 "$(front_end)"
    hosts_clean 3
    finish
}

@test "SIGKILL while the hosts are being reached leaves nothing" {
    local delay
    for delay in 0.02 0.05 0.1 0.2 0.4; do
        start_on head "$TPRUN" -n 4 --hosts 'node[0-3]' --map-by node "$PROGRAMS/stay" ignore
        sleep $delay
        kill -9 "$(front_end)" 2>/dev/null || true
        hosts_clean 3
        finish
    done
}

# A host is lost without a word: tprun ends, names it, and the others are clean.
lost() { # HOST COMMAND...
    local host=$1 others
    shift
    SECONDS=0
    "$@"
    wait_for 15 not_running "$job"
    finish
    local took=$SECONDS
    echo "status $status after $took s: $(cat err)"
    [ "$status" != 0 ]
    has_line "$(cat err)" "tprun: *$host*"
    others=$(tr ' ' '\n' <"$CLUSTER_DIR/names" | grep -vx "$host")
    # shellcheck disable=SC2086
    wait_for 3 nothing_on $others || { "$CLUSTER" left; return 1; }
}
not_running() { ! kill -0 "$1" 2>/dev/null; }
# sshd keeps a session whose other end is out of reach; that is not the program's.
nothing_on() { [ -z "$("$CLUSTER" left "$@" | grep -v ' sshd\(-session\)\?: ')" ]; }

@test "a host that loses power is named within 15 s, and nothing is left on the others" {
    start_program
    lost node2 "$CLUSTER" crash node2
}

@test "a host whose processes freeze is named within 15 s, and nothing is left on it either once it thaws" {
    start_program
    lost node1 "$CLUSTER" freeze node1
    "$CLUSTER" thaw node1
    wait_for 8 nothing_on node1
}

@test "a host whose link is cut is named within 15 s, and ends its part by itself" {
    start_program
    lost node3 "$CLUSTER" link node3 down
    wait_for 15 nothing_on node3
    "$CLUSTER" boot node3 3>&-
}

@test "a host in the middle of a tree that loses power is named, and nothing is left below it" {
    start_program --fanout 1
    lost node1 "$CLUSTER" crash node1
}

@test "a host that shuts down is named at once" {
    start_program
    "$CLUSTER" kill node0
    wait_for 5 not_running "$job"
    finish
    [ "$status" != 0 ]
    has_line "$(cat err)" "tprun: *node0*"
}

@test "--node-timeout says how long a host may be silent" {
    start_program --node-timeout 3s
    SECONDS=0
    lost node1 "$CLUSTER" freeze node1
    within 6 "$SECONDS"
}
