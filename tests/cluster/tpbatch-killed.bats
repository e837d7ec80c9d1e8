# shellcheck disable=SC2154,SC2030,SC2031,SC2016,SC2012,SC2010 # bats sets output and stderr; scripts are quoted
# The table of tpbatch(1), "What ends when something is killed", row by row: what ends and what goes on, what tpbatch
# and the programs say, that nothing is left on any host and all is free again.
#   ROUNDS   how often each is killed (2; more than 3 as given)
load common
setup_file() { start_cluster 4; }
teardown_file() { stop_cluster; }
setup() {
    start_tpbatch_test
    [ "${ROUNDS:-2}" -gt 3 ] || ROUNDS=2
    export BESIDE='-N 4 -n 4' NEXT=--no-wait
}
teardown() { end_tpbatch_test; }

# Two programs: "beside", where $BESIDE says, and "victim", with a task on every node. When the victim has ended, two
# more: "next" may be anywhere, and needs a core that the victim had (at once, unless NEXT is empty); "all" needs every
# node. Then beside is let go.
write_script() {
    cat >s <<-'END'
	#!/bin/sh
	cd "$DIR"
	tprun $BESIDE --map-by node sh -c ': >beside.$TPRUN_RANK; until [ -e go ]; do sleep 0.1; done' 2>beside.err &
	beside=$!
	until [ -e beside.0 ] && [ -e beside.1 ]; do sleep 0.05; done
	tprun -N 4 -n 4 --map-by node "$PROGRAMS/stay" fork 2>victim.err
	echo "victim $?"
	tprun $NEXT -n 1 true 2>next.err
	echo "next $?"
	until [ -e all ]; do sleep 0.05; done
	tprun -N 4 -n 4 --map-by node --overlap true 2>all.err
	echo "all $?"
	: >go
	wait "$beside"
	echo "beside $?"
	END
    chmod +x s
}
start_batch() { # OPTIONS...
    rm -f beside.* go all ./*.err
    write_script
    start_on head "$BATCH" -N 4 -n all --hosts 'node[0-3]' "$@" ./s
    wait_for 20 lines_are out 4 || { cat err; return 1; }
}
said() { grep -v '^ready' out | paste -sd' '; } # by the script
all_free() { # what the instance held can be had at once
    tprun --no-wait -N 4 -n 8 --hosts 'node[0-3]' true || { "$CLUSTER" left; return 1; }
}
dump() {
    echo "status $status; the script: $(said)"
    grep . err ./*.err || true
}

# kill_rounds all|alone|some COMMAND...: whom the command prints for a round is killed in it.
#   all    all ends, and tpbatch with that status and line: $WANT_STATUS $WANT_LINE
#   alone  the victim, with $WANT_STATUS and the line $WANT_LINE; all else goes on, and tpbatch ends with 0
kill_rounds() {
    local round what=$1 victims
    shift
    for ((round = 1; round <= ROUNDS; round++)); do
        start_batch
        victims=$("$@" "$round")
        [ -n "$victims" ] || { echo "no victim: $*"; "$CLUSTER" left; return 1; }
        # shellcheck disable=SC2086 # pids
        kill -9 $victims
        touch all
        finish
        echo "round $round: $*:"
        dump
        "${what}_ends" || return
        hosts_clean 10
        all_free
    done
}
all_ends() {
    equal "$status" "$WANT_STATUS" && { [ -z "$WANT_LINE" ] || has_line "$(cat err)" "$WANT_LINE"; }
}
alone_ends() {
    equal "$status" 0 && equal "$(cat err)" "" &&
        equal "$(said)" "victim $WANT_STATUS next 0 all 0 beside 0" &&
        { [ -z "$WANT_LINE" ] || has_line "$(cat victim.err)" "$WANT_LINE"; }
}

lose_by_crash() { "$CLUSTER" crash "$1"; }
lose_by_link() { "$CLUSTER" link "$1" down; }
other_node() { echo "node$((1 + $1 % 3))"; }
front_end() { processes head tpbatch | head -n 1; }
manager() { processes head tprun-manager | head -n 1; }
script_itself() { processes node0 s | head -n 1; }
agent_of_first() { processes node0 tpagent | sed -n 2p; }
guard_of_first() { processes node0 tpagent | sed -n 1p; }
agent_of_other() { processes "$(other_node "$1")" tpagent | sed -n 2p; }
guard_of_other() { processes "$(other_node "$1")" tpagent | sed -n 1p; }
# Of the victim, which was started last.
program_front_end() { processes node0 tprun | tail -n 1; }
program_manager() { processes head tprun-manager | tail -n 1; }
program_agent_guard() { processes "node$(($1 % 4))" tpagent | tail -n 2 | head -n 1; }
program_guard() { processes head tprun | tail -n 1; }
program_agent() { processes "node$(($1 % 4))" tpagent | tail -n 1; }
manager_nursery() { processes head tprun-nursery | head -n 1; }
agent_nursery() { processes "$(other_node "$1")" tprun-nursery | head -n 1; }

@test "SIGKILL of the initial program ends all" {
    WANT_STATUS=137 WANT_LINE="tprun: rank 0 on node0: killed by signal 9 (Killed)"
    kill_rounds all script_itself
}
@test "SIGKILL of tpbatch ends all" {
    WANT_STATUS=137 WANT_LINE=""
    kill_rounds all front_end
}
@test "SIGKILL of the instance's manager ends all" {
    WANT_STATUS=1 WANT_LINE="tprun: the manager of this run is gone (killed, or out of memory); its tasks are being ended"
    kill_rounds all manager
}
@test "SIGKILL of the agent of the script's node ends all" {
    WANT_STATUS=1 WANT_LINE="tprun: node0: lost: *"
    kill_rounds all agent_of_first
}
@test "SIGKILL of the first process of the agent of the script's node ends all" {
    WANT_STATUS=1 WANT_LINE="tprun: node0: lost: *"
    kill_rounds all guard_of_first
}

@test "SIGKILL of the agent of another node ends what runs there, and it gets another one" {
    lose_rounds agent_of_other
}
@test "SIGKILL of the first process of an agent of another node ends what runs there, and it gets another one" {
    lose_rounds guard_of_other
}
# Beside is on two nodes that stay.
lose_rounds() {
    local round node
    for ((round = 1; round <= ROUNDS; round++)); do
        node=$(other_node "$round")
        BESIDE="-n 2 --hosts node0,node$((1 + (round + 1) % 3))"
        start_batch
        kill -9 "$("$1" "$round")"
        wait_for 20 grep -q "^tprun: $node: answers again; programs may run there$" err || { dump; return 1; }
        touch all
        finish
        echo "round $round: $*:"
        dump
        some_ends "$node" || return
        hosts_clean 10
        all_free
    done
}
some_ends() { # NODE; ssh may say itself that its connection broke
    equal "$status" 0 && has_line "$(cat err)" "tprun: $1: lost: *; programs run elsewhere until it answers" &&
        equal "$(grep -vc ": client_loop: send disconnect: " err)" 2 && equal "$(said)" "victim 1 next 0 all 0 beside 0" &&
        has_line "$(cat victim.err)" "tprun: $1: lost: *"
}

@test "a node that crashes, or is cut off, ends what runs there, and is used again when it answers" {
    local round node how
    for ((round = 1; round <= ROUNDS; round++)); do
        node=$(other_node "$round")
        BESIDE="-n 2 --hosts node0,node$((1 + (round + 1) % 3))"
        start_batch --node-timeout 3s --start-timeout 3s
        how=crash
        [ $((round % 2)) = 0 ] || how=link
        "lose_by_$how" "$node"
        wait_for 30 grep -q '^victim' out || { dump; return 1; }
        "$CLUSTER" heal 3>&-
        wait_for 60 grep -q "^tprun: $node: answers again; programs may run there$" err || { dump; return 1; }
        touch all
        finish
        echo "round $round: $how:"
        dump
        some_ends "$node" || return
        hosts_clean 10
        all_free
    done
}

@test "a script's node that crashes, or is cut off, ends all" {
    local round how
    for ((round = 1; round <= ROUNDS; round++)); do
        start_batch --node-timeout 3s
        how=crash
        [ $((round % 2)) = 0 ] || how=link
        "lose_by_$how" node0
        finish
        echo "round $round: $how:"
        dump
        equal "$status" 1
        has_line "$(cat err)" "tprun: node0: lost: *"
        # Also there, where nobody can be told; sshd does not know it yet.
        wait_for 20 eval '! "$CLUSTER" left | grep -v "sshd"' || { "$CLUSTER" left; return 1; }
        "$CLUSTER" heal 3>&-
        hosts_clean 10
        all_free
    done
}

@test "SIGKILL of a program's front end ends that program" {
    WANT_STATUS=137 WANT_LINE="" NEXT='' # its tasks end behind it
    kill_rounds alone program_front_end
}
@test "SIGKILL of a program's manager ends that program" {
    WANT_STATUS=1 WANT_LINE="tprun: the manager of this run is gone (killed, or out of memory); its tasks are being ended"
    kill_rounds alone program_manager
}
@test "SIGKILL of a program's agent ends that program" {
    WANT_STATUS=1 WANT_LINE="tprun: node[0-3]: lost: *"
    kill_rounds alone program_agent
}
@test "SIGKILL of the first process of a program's agent ends that program" {
    WANT_STATUS=1 WANT_LINE="tprun: node[0-3]: lost: *"
    kill_rounds alone program_agent_guard
}

# kill_and_go_on STATUS-OF-NEXT STATUS-OF-ALL COMMAND...: both programs go on; the victim until its tasks are killed.
kill_and_go_on() {
    local round next=$1 all=$2
    shift 2
    for ((round = 1; round <= ROUNDS; round++)); do
        start_batch
        kill -9 "$("$@" "$round")"
        sleep 0.5
        equal "$(processes node3 stay | wc -l)" 2
        kill -9 "$(processes node3 stay | head -n 1)"
        touch all
        finish
        echo "round $round: $*:"
        dump
        equal "$status" 0
        equal "$(said)" "victim 137 next $next all $all beside 0"
        go_on_said "$round"
        hosts_clean 10
        all_free
    done
}
@test "after SIGKILL of the process that starts managers programs go on, and no other starts" {
    go_on_said() {
        local file
        equal "$(cat err)" ""
        for file in next.err all.err; do
            equal "$(cat $file)" "tprun: the instance cannot start a manager for this run: the process that forks it is gone (killed, or out of memory)"
        done
    }
    kill_and_go_on 1 1 manager_nursery
}
@test "after SIGKILL of the process that starts agents on a node programs go on, and no other starts there" {
    go_on_said() {
        equal "$(cat err next.err)" ""
        has_line "$(cat all.err)" "tprun: $(other_node "$1"): not started: *the process that forks it is gone (killed, or out of memory)*"
    }
    kill_and_go_on 0 1 agent_nursery
}
@test "SIGKILL of the process beside a program's manager ends nothing" {
    go_on_said() { equal "$(cat err next.err all.err)" ""; }
    kill_and_go_on 0 0 program_guard
}

@test "SIGKILL of the manager of an instance in an instance ends that one" {
    local round
    for ((round = 1; round <= ROUNDS; round++)); do
        rm -f ready.* ./*.err
        cat >inner <<-'END'
	#!/bin/sh
	tprun -N 2 -n 2 --map-by node "$PROGRAMS/stay" fork
	END
        cat >s <<-'END'
	#!/bin/sh
	cd "$DIR"
	tpbatch -n 4 --hosts 'node[1-2]' ./inner 2>inner.err
	echo "inner $?"
	tprun --no-wait -N 4 -n 8 true 2>next.err
	echo "next $?"
	END
        chmod +x s inner
        start_on head "$BATCH" -N 4 -n all --hosts 'node[0-3]' ./s
        wait_for 20 lines_are out 2 || { cat err; return 1; }
        kill -9 "$(processes head tprun-manager | sed -n 2p)"
        finish
        echo "round $round:"
        dump
        equal "$status" 0
        equal "$(said)" "inner 1 next 0"
        has_line "$(cat inner.err)" "tprun: the manager of this run is gone (killed, or out of memory); its tasks are being ended"
        hosts_clean 10
        all_free
    done
}

@test "a program in the background that waits in line ends when tpbatch and the manager of the instance are killed at once" {
    local round
    for ((round = 1; round <= ROUNDS; round++)); do
        rm -f runs.*
        cat >s <<-'END'
	#!/bin/sh
	cd "$DIR"
	tprun -n all --map-by node sh -c ': >runs.$TPRUN_RANK; exec "$PROGRAMS/stay" fork' &
	until [ "$(ls | grep -c '^runs')" = 8 ]; do sleep 0.05; done
	tprun -d -n all "$PROGRAMS/stay" </dev/null &
	wait
	END
        chmod +x s
        start_on head "$BATCH" -N 4 -n all --hosts 'node[0-3]' ./s
        wait_for 20 eval '[ "$(processes head tprun-manager | wc -l)" = 3 ]' || { cat err; return 1; }
        sleep 0.3
        kill -9 "$(front_end)" "$(manager)"
        finish
        hosts_clean 10
        all_free
    done
}
