# shellcheck disable=SC2154,SC2030,SC2031,SC2016,SC2012,SC2010,SC2001 # bats sets output and stderr; scripts are quoted
# An instance on several hosts: its script runs on node0, tpbatch was typed on head, which is none of them.
#   ROUNDS   how often each is killed (5)
load common
load ../lib/tpctl
setup_file() { start_cluster 4; }
teardown_file() { stop_cluster; }
setup() {
    start_cluster_test
    unset TPRUN_OPTIONS
    ROUNDS=${ROUNDS:-5}
    mkdir bin
    ln -s "$TPRUN" bin/tpbatch
    BATCH=$PWD/bin/tpbatch
    export PATH=$PWD/bin:${TPRUN%/*}:$PATH
    export PROGRAMS OPENMPI
    export DIR=$PWD
}
teardown() {
    [ -z "${NO_CLUSTER:-}" ] || return 0
    "$CLUSTER" heal 3>&-
    hosts_clean 10
}
tpctl() { on head "$TPCTL" "$@"; }

script() { # NAME: the commands come on stdin
    { printf '#!/bin/sh\n#TPRUN: -N 4 -n all --hosts node[0-3]\n'; cat; } >"$1"
    chmod +x "$1"
}
run_batch() { # -STATUS ARGUMENTS...
    run "$1" --separate-stderr "$CLUSTER" exec head timeout --foreground -k 5 "${LIMIT:-60}" "$BATCH" "${@:2}"
}

@test "the script runs on the first node, and programs inside on all, without ssh and a directory in common" {
    script s <<-'END'
	uname -n
	tprun --ssh /bin/false -N 4 -n 4 --map-by node uname -n | sort
	END
    run_batch -0 ./s
    equal "$output" "node0
node0
node1
node2
node3"
    equal "$stderr" ""
}

@test "programs at once are on disjoint cores of the nodes" {
    script s <<-'END'
	cd "$DIR"
	hold() { # NAME TASKS
	    tprun -n "$2" --map-by node --bind-to core sh -c \
	        '"$PROGRAMS/where"; : >"here.'$1'.$TPRUN_RANK"; until [ -e go ]; do sleep 0.05; done' >"cores.$1" &
	}
	hold a 4
	hold b 2
	hold c 2
	until [ "$(ls | grep -c '^here')" = 8 ]; do sleep 0.05; done
	: >go
	wait
	END
    run_batch -0 ./s
    equal "$(cat cores.*  | cut -d' ' -f2- | sort -u | wc -l)" 8
}

@test "twenty programs in sequence, and each says its status" {
    script s <<-'END'
	for i in $(seq 20); do
	    tprun -N 4 -n 4 --map-by node sh -c "echo $i" || exit
	    tprun -n 1 sh -c "exit $((i % 3))" 2>/dev/null
	    echo "status $?"
	done
	END
    run_batch -0 ./s
    equal "$(grep -vc status <<<"$output")" 80
    equal "$(grep -c 'status 0' <<<"$output")" 6
    equal "$(grep -c 'status [12]' <<<"$output")" 14
}

@test "tasks inside spawn others, on other nodes" {
    script s <<<'tprun -N 4 -n 4 --map-by node --oversubscribe "$PROGRAMS/pmi-spawn" tree 1 4'
    run_batch -0 ./s
    equal "$(grep -c '^depth 1 ' <<<"$output")" 4
    equal "$(grep -c '^depth 0 ' <<<"$output")" 16 # of each of these
    equal "$stderr" ""
}

@test "MPI programs run inside on all nodes" {
    need_openmpi
    script s <<<'tprun -N 4 -n 4 --map-by node "$OPENMPI/mpi-hello"; tprun -n 1 --oversubscribe "$OPENMPI/mpi-spawn" 2'
    run_batch -0 ./s
    has_line "$output" "parent 0 of 1: 2 on the other side, the sum is right"
}

@test "a program in the background goes on until the script ends" {
    script s <<-'END'
	cd "$DIR"
	tprun -d -N 4 -n 4 --map-by node sh -c ': >there.$TPRUN_RANK; exec sleep 1000' || exit
	until [ "$(ls | grep -c '^there')" = 4 ]; do sleep 0.05; done
	tprun -N 4 -n 4 --map-by node --overlap echo beside
	END
    run_batch -0 ./s
    equal "$(grep -c '^beside$' <<<"$output")" 4
    hosts_clean 6
}

@test "an instance in an instance has its script on another node" {
    script s <<<'cd "$DIR"; tpbatch -n 2 --hosts "node[2-3]" ./inner; echo "$?"'
    printf '#!/bin/sh\nuname -n\ntprun -n all --map-by node uname -n | sort -u\nexit 5\n' >inner
    chmod +x inner
    run_batch -0 ./s
    equal "$(head -n 1 <<<"$output")" node2
    equal "$(tail -n 1 <<<"$output")" 5
}

@test "output of programs inside on other nodes is whole, and input reaches them" {
    script s <<-'END'
	tprun -n 1 --hosts node3 head -c 67108864 /dev/zero | cksum
	head -c 67108864 /dev/zero | tprun -n 1 --hosts node2 cksum
	END
    run_batch -0 ./s
    local want
    want=$(head -c 67108864 /dev/zero | cksum)
    equal "$output" "$want
$want"
}

# What goes by files of the manager's host is said, or works: never silence.
@test "files that only the script's host has are used there, or refused in a sentence" {
    script s <<-'END'
	mkdir -p /tmp/own && cd /tmp/own
	refused() { "$@" >said 2>&1 </dev/null && echo "not refused: $*"; cat said; }
	tprun -n 1 --output out.%r --chdir / echo text && cat out.0
	echo "in text" >in
	tprun -n 1 --chdir / -i in cat
	echo nonsense >r.json
	echo node1 >hosts
	refused tprun -R r.json true
	refused tprun --on /tmp/own/r.json true
	refused tprun --hostfile hosts true
	refused tprun --report report.json true
	refused tprun --draw map.svg true
	refused tprun --on-disconnect continue echo text
	cd "$DIR" # both have that
	echo node1 >hosts
	tprun -n 1 --hostfile hosts --report report.json uname -n
	[ -s report.json ] && echo reported
	END
    run_batch -0 ./s
    local file="the manager of this instance, on head, does not see"
    equal "$(sed 's/\(not see\) .* of the host of this run.*/\1/' <<<"$output")" "text
in text
tprun: -R: $file
tprun: --on: $file
tprun: --hostfile: $file
tprun: --report: $file
tprun: --draw: $file
tprun: --on-disconnect: $file
node1
reported"
    equal "$stderr" ""
}

@test "tpctl says that the programs of the instance are known on another host" {
    script s <<<'"$TPCTL" list 2>&1'
    export TPCTL
    run_batch -0 ./s
    has_line "$output" "tpctl: the programs of this instance (TPRUN_BATCH is set) are known on the host of its manager alone"
}

# ---- who is killed ----

# A program on all nodes, a second one behind it: how far the script is can be seen.
start_batch() { # OPTIONS...
    script s <<-'END'
	tprun -N 4 -n 4 --map-by node "$PROGRAMS/stay" fork
	echo "first: $?"
	exec tprun -N 4 -n 4 --map-by node "$PROGRAMS/stay" fork
	END
    start_on head "$BATCH" "$@" ./s
    wait_for 20 lines_are out 4 || { cat err; return 1; }
}
# kill_rounds all|program COMMAND...: whom the command prints (for a round) is killed in each round. The instance ends with
# that, or the program alone and the next one starts.
kill_rounds() {
    local round what=$1 victims
    shift
    for ((round = 1; round <= ROUNDS; round++)); do
        start_batch
        victims=$("$@" "$round")
        [ -n "$victims" ] || { echo "no victim: $*"; "$CLUSTER" left; return 1; }
        # shellcheck disable=SC2086 # pids
        kill -9 $victims
        if [ "$what" = program ]; then
            wait_for 20 lines_are out 9 || { cat out err; "$CLUSTER" left; return 1; }
            grep -q '^first: [1-9]' out
            kill -9 "$(front_end)"
        fi
        hosts_clean 10 || { echo "round $round: $*"; return 1; }
        finish
        echo "round $round: status $status: $(cat err)"
        [ "$status" != 0 ]
    done
}
on_node() { echo "node$((($1 - 1) % 4))"; }
front_end() { processes head tpbatch | head -n 1; }
manager() { processes head tprun-manager | head -n 1; }
nursery_here() { processes head tprun-nursery | head -n 1; }
script_itself() { processes node0 s | head -n 1; }
run_inside() { processes node0 tprun | head -n 1; }
agent() { processes "$(on_node "$1")" tpagent | sed -n 2p; }
guard() { processes "$(on_node "$1")" tpagent | sed -n 1p; }
nursery() { processes "$(on_node "$1")" tprun-nursery | head -n 1; }
manager_inside() { processes head tprun-manager | tail -n 1; }
agent_inside() { processes "$(on_node "$1")" tpagent | tail -n 1; }

@test "SIGKILL of tpbatch ends all" {
    kill_rounds all front_end
}
@test "SIGKILL of the instance's manager ends all" {
    kill_rounds all manager
}
@test "SIGKILL of an agent of the instance ends all" {
    kill_rounds all agent
}
@test "SIGKILL of the first process of an agent of the instance ends all" {
    kill_rounds all guard
}
@test "SIGKILL of the script ends all" {
    kill_rounds all script_itself
}
@test "SIGKILL of a program's front end ends that program, and the script goes on" {
    kill_rounds program run_inside
}
@test "SIGKILL of a program's manager ends that program, and the script goes on" {
    kill_rounds program manager_inside
}
@test "SIGKILL of a program's agent ends that program, and the script goes on" {
    kill_rounds program agent_inside
}

@test "a host that crashes ends all, be it the script's or another" {
    local round host
    for ((round = 1; round <= (ROUNDS + 3) / 4; round++)); do
        for host in node0 node2; do
            start_batch --node-timeout 4s
            "$CLUSTER" crash "$host"
            LIMIT=60 finish
            echo "round $round: status $status: $(cat err)"
            [ "$status" != 0 ]
            grep -q "$host" err
            "$CLUSTER" heal 3>&-
            hosts_clean 10
        done
    done
}
