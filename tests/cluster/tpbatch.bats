# shellcheck disable=SC2154,SC2030,SC2031,SC2016,SC2012,SC2010,SC2001 # bats sets output and stderr; scripts are quoted
# An instance on several hosts: its script runs on node0, tpbatch was typed on head, which is none of them.
#   ROUNDS   how often each is killed (5)
load common
load ../lib/tpctl
setup_file() { start_cluster 4; }
teardown_file() { stop_cluster; }
setup() {
    start_tpbatch_test
    ROUNDS=${ROUNDS:-5}
    HEAD=$ALL_NODES
}
teardown() { end_tpbatch_test; }
tpctl() { on head "$TPCTL" "$@"; }

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

@test "an instance on the resources of a file has all of them" {
    "${TPRUN%/*}/tpres" make --hosts 'node[1-3]' --cores 1 >r.json
    HEAD=$'#TPRUN: --hosts node[0-3]\n'
    script s <<<'uname -n; tprun -n all uname -n | sort'
    run_batch -0 --on r.json ./s
    equal "$output" "node1
node1
node2
node3"
    equal "$stderr" ""
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

# ---- on another host than the manager's: no shared directory (each has a /tmp of its own), no ssh ----

# inside NAME: a script that has $TPCTL, `task HOST COMMAND...` for a task there, and may not use ssh.
inside() {
    export TPCTL
    { cat <<-'END'; cat; } | script "$1"
	export TPRUN_OPTIONS='--ssh /bin/false'
	rm -rf /tmp/own && mkdir /tmp/own && cd /tmp/own
	task() { host=$1; shift; tprun -n 1 --hosts "$host" --overlap --chdir /tmp "$@"; }
	SAY='trap "echo heard; exit 7" USR1; echo begins; while :; do sleep 0.05; done 2>/dev/null'
	END
}

@test "files of options are those of the host where they are named, and results come back there" {
    inside s <<-'END'
	tprun -n 1 --output out.%r --chdir / echo text && cat out.0
	echo "in text" >in
	tprun -n 1 --chdir / -i in cat
	echo node1 >hosts
	tprun -n 1 --chdir / --hostfile hosts --report report.json --draw map.svg uname -n
	jq -r '.tasks[0].host' report.json
	grep -c '<svg' map.svg
	tpres make --hosts node2 --cores 1 >r.json
	tprun -n 1 --chdir / -R r.json uname -n
	tprun -n 1 --chdir / -R - uname -n <r.json
	tprun -n 1 --chdir / --on r.json uname -n
	echo 'rank 0=node3 slot=0' >ranks
	tprun -n 1 --chdir / --rankfile ranks uname -n
	tprun -n 1 --chdir / --print-spec --hosts node2 uname -n >spec.json
	tprun --spec spec.json
	tprun --dry-run --topology 'n[0-1]=pack:2 core:2 pu:1' -n 4 --draw - | grep -c '<svg'
	END
    run_batch -0 ./s
    equal "$output" "text
in text
node1
node1
1
node2
node2
node2
node3
node2
1"
    equal "$stderr" ""
    run -2 on head ls /tmp/own
}

@test "a file that is not there, or cannot be written, is said where it was named" {
    inside s <<-'END'
	echo nonsense >r.json
	for option in '-R none.json' '--hostfile none' '--on none.json' '-R r.json'; do
	    tprun $option true 2>&1 && echo "not refused: $option"
	done
	mkdir closed
	tprun -n 1 --chdir / --report closed/report.json rmdir /tmp/own/closed 2>&1
	echo "$?"
	END
    run_batch -0 ./s
    has_line "$output" "tprun: R file none.json: cannot be opened: No such file or directory"
    has_line "$output" "tprun: hostfile none: cannot be opened: No such file or directory"
    has_line "$output" "tprun: --on none.json: cannot be opened: No such file or directory"
    has_line "$output" "tprun: R file r.json: *"
    has_line "$output" "tprun: --report: cannot write closed/report.json: *No such file or directory"
    equal "$(tail -n 1 <<<"$output")" 1
    equal "$(grep -c '^not' <<<"$output")" 0
}

@test "tpctl on any node looks in the instance of a path that is relative to where it was typed" {
    on head env TPRUN_RUNTIME_DIR=/tmp/other "$TPRUN" -d -n 1 sleep 100
    export OTHER
    OTHER=$(on head sh -c 'cd /tmp && echo other/*/this-machine* other/this-machine*' | tr ' ' '\n' | grep -v '\*')
    inside s <<-'END'
	for path in "/tmp/$OTHER" "$OTHER" "./$OTHER" "../tmp/$OTHER"; do
	    task node2 "$TPCTL" --instance "$path" list --format=json | jq -r '.programs[].command | join(" ")'
	done
	END
    run_batch -0 ./s
    on head env TPRUN_RUNTIME_DIR=/tmp/other "$TPCTL" terminate 1
    on head rm -r /tmp/other
    equal "$(sort <<<"$output" | uniq -c | xargs)" "4 sleep 100"
    equal "$stderr" ""
}

@test "tpctl on any node knows the programs of the instance, and what becomes of them" {
    inside s <<-'END'
	id=$(tprun -d -n 1 --hosts node1 --chdir / sh -c "$SAY")
	task node2 "$TPCTL" wait --for running "$id"
	task node2 "$TPCTL" list | awk -v id="$id" '$1 == id { print $2 }'
	task node2 "$TPCTL" info "$id" | sed -n 's/^ *0 \(node1\) .* running$/on \1/p'
	task node2 "$TPCTL" ps "$id" | awk '$1 == 0 { print $2 }'
	task node2 "$TPCTL" top "$id" </dev/null | awk '$1 == 0 { print $2 }'
	task node2 "$TPCTL" list --format=json | jq -r ".programs[] | select(.id == \"$id\").state"
	[ "$(task node2 "$TPCTL" current)" -gt "$id" ] && echo "current is the task's"
	[ "$(task node2 "$TPCTL" --parent current)" = "$("$TPCTL" current)" ] && echo "and its parent is the script's"
	"$TPCTL" info @ | sed -n 's/^command *//p'
	task node3 "$TPCTL" logs -f "$id" >followed &
	until grep -q begins followed; do sleep 0.05; done
	task node2 "$TPCTL" signal "$id" USR1
	wait
	cat followed
	task node2 "$TPCTL" wait --status "$id"; echo "wait: $?"
	task node3 "$TPCTL" logs "$id" 2>/dev/null
	task node3 "$TPCTL" attach "$id" 2>/dev/null; echo "attach: $?"
	task node3 "$TPCTL" reap --archive kept.tar "$id" && task node3 tar -tf kept.tar | grep -c "/$id/events"
	task node3 "$TPCTL" info "$id" 2>&1; echo "info: $?"
	id=$(A=b "$TPCTL" new -n 3 --map-by core)
	"$TPCTL" list | awk -v id="$id" '$1 == id { print $2 }'
	"$TPCTL" info --format=json "$id" | jq -r '.spec.parts[0].map, .spec.directory, (.spec.environment[] | select(. == "A=b"))'
	"$TPCTL" new -n none 2>/dev/null; echo "new: $?"
	END
    run_batch -0 ./s
    equal "$(sed 's/no program [0-9]*/no program N/' <<<"$output")" "running
on node1
node1
node1
running
current is the task's
and its parent is the script's
./s
begins
heard
wait: 7
begins
heard
begins
heard
attach: 7
1
tpctl: there is no program N
tprun: rank 0 on node3: exited with status 3
info: 3
empty
core
/tmp/own
A=b
new: 2"
}

@test "a program is detached on one node, and attached, fed and ended from others" {
    inside s <<-'END'
	id=$(tprun -d -i all -n 2 --hosts 'node[1-2]' --map-by node --chdir /tmp sh -c 'while read -r line; do echo "$TPRUN_RANK: $line"; done')
	printf 'one\ntwo\n' | task node3 "$TPCTL" attach -i 1 --eof "$id" >attached &
	until grep -q two attached; do sleep 0.05; done
	"$TPCTL" attach -i 0 --eof "$id" <<-IN | grep '^0'
	three
	IN
	wait
	cat attached | grep '^1'
	id=$(task node3 tprun -d -n 1 --overlap sleep 1000)
	task node1 "$TPCTL" terminate "$id"; echo "terminate: $?"
	"$TPCTL" wait --status "$id"; echo "wait: $?"
	END
    run_batch -0 ./s
    equal "$output" "0: three
1: one
1: two
terminate: 0
wait: 143"
}

@test "an archive that cannot be written where it is asked for costs nothing" {
    inside s <<-'END'
	id=$(tprun -d -n 1 --chdir / sh -c 'head -c 100000 /dev/urandom | base64') && "$TPCTL" wait "$id"
	: >there
	(ulimit -f 8; "$TPCTL" reap --archive kept.tar "$id"; echo "limit: $?")
	"$TPCTL" reap --archive there "$id"; echo "there: $?"
	"$TPCTL" reap --archive none.tar 999; echo "none: $?"
	ls
	"$TPCTL" logs "$id" | wc -c
	"$TPCTL" reap --archive kept.tar "$id"; echo "kept: $?"
	"$TPCTL" logs "$id" 2>/dev/null; echo "logs: $?"
	tar -tf kept.tar | grep -c "/$id/output.0"
	END
    run_batch -0 ./s
    equal "$output" "limit: 1
there: 1
none: 3
there
$(head -c 100000 /dev/zero | base64 | wc -c)
kept: 0
logs: 3
1"
    has_line "$stderr" "tpctl: --archive kept.tar: cannot write: File too large; nothing is removed"
    has_line "$stderr" "tpctl: --archive there: cannot make it: File exists"
}

@test "a script's loop keeps its stdin, and the streams of tpctl stay apart" {
    inside s <<-'END'
	printf '%s\n' 900 901 | while read -r id; do "$TPCTL" info "$id" 2>>errors; echo "$id: $?"; done
	cat errors
	"$TPCTL" list >/dev/full; echo "full: $?"
	"$TPCTL" nonsense 2>&1 | head -n 1
	"$TPCTL" list | true; echo "list: $?"
	END
    run_batch -0 ./s
    equal "$output" "900: 3
901: 3
tpctl: there is no program 900
tpctl: there is no program 901
full: 1
tpctl: unknown method \"nonsense\"
list: 0"
    equal "$stderr" "tpctl: stdout: cannot write: No space left on device"
}

@test "at a terminal, Ctrl-C Ctrl-Z leaves a program to itself, and top shows it until q" {
    mkfifo answers
    inside s <<-'END'
	id=$(tprun -d -n 1 --hosts node1 --chdir / sh -c 'trap "echo heard" INT; echo begins; while :; do sleep 0.05; done 2>/dev/null')
	trap : INT TSTP
	"$TPCTL" attach "$id"
	echo "attach: $?"
	"$TPCTL" top "$id"
	echo "top: $?"
	stty -a | grep -o ' -\?icanon'
	"$TPCTL" terminate "$id"
	exit 9
	END
    export CLUSTER BATCH
    start sh -c '"$CLUSTER" exec head timeout 60 script -qefc "exec $BATCH ./s" "$PWD/typescript" <answers'
    exec 8>answers
    wait_for 20 in_typescript begins 1
    printf '\003' >&8
    wait_for 5 in_typescript heard 1
    sleep 1.2 # or it would be the second
    printf '\003\032' >&8
    wait_for 10 in_typescript 'attach: 0' 1
    wait_for 10 in_typescript 'sleeping' 1
    printf q >&8
    finish
    exec 8>&-
    in_typescript 'top: 0' 1
    in_typescript ' icanon' 1
    equal "$status" 9
}

@test "--on-disconnect=continue: output and status are those of an attached run, and it goes on when its tprun is killed" {
    inside s <<-'END'
	tprun --on-disconnect=continue -n 1 --hosts node1 --chdir / sh -c 'cat; echo "to stderr" >&2; exit 5' <<-IN
	typed
	IN
	echo "status $?"
	mkfifo /tmp/own/go
	tprun --on-disconnect=continue -n 1 --hosts node1 --chdir / --output out.%r --tee sh -c 'echo begins; while ! [ -e /tmp/go ]; do sleep 0.05; done; echo ends' >shown &
	until grep -q begins shown; do sleep 0.05; done
	kill -9 $!
	wait
	id=$("$TPCTL" list | awk '/begins/ { print $1 }')
	task node1 touch /tmp/go
	"$TPCTL" wait "$id"
	"$TPCTL" logs "$id"
	cat out.0
	END
    run_batch -0 ./s
    equal "$output" "typed
status 5
begins
ends
begins
ends"
    has_line "$stderr" "to stderr"
}

@test "a program goes on when the task that detached it ends, and what it writes is saved from then on" {
    inside s <<-'END'
	id=$(task node1 sh -c 'tprun -d -n 1 --overlap --output out.%r sh -c "echo one; while ! [ -e /tmp/leave ]; do sleep 0.05; done; echo two"; until grep -q one out.0; do sleep 0.05; done')
	until "$TPCTL" logs "$id" 2>&1 | grep -q 'is gone; the program goes on'; do sleep 0.1; done
	task node1 touch /tmp/leave
	"$TPCTL" wait --status "$id"; echo "status $?"
	"$TPCTL" logs --stdout "$id"
	task node1 cat /tmp/out.0
	END
    run_batch -0 ./s
    equal "$output" "status 0
two
one"
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
@test "SIGKILL of an agent of the instance ends a script that needs all nodes" {
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

@test "a host that crashes ends a script that needs all nodes, be it the script's or another" {
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

@test "epilogs of programs in an instance have their time on all hosts when it ends" {
    printf '#!/bin/sh\nsleep 13\nuname -n >>"$DIR/epilogs"\n' >slow
    chmod +x slow
    script s <<-'END'
	tprun --epilog "$DIR/slow" -N 4 -n 4 --map-by node sh -c ': >"$DIR/up.$TPRUN_RANK"; exec sleep 100' &
	for rank in 0 1 2 3; do until [ -e "$DIR/up.$rank" ]; do sleep 0.05; done; done
	END
    run_batch -0 ./s
    equal "$(sort epilogs)" "$(printf 'node%s\n' 0 1 2 3)"
}

@test "agents between wait for epilogs of programs that are only on nodes below them" {
    printf '#!/bin/sh\nsleep 13\nuname -n >>"$DIR/epilogs"\n' >slow
    chmod +x slow
    script s <<-'END'
	tprun --epilog "$DIR/slow" --hosts node3 -n 1 sh -c ': >"$DIR/up"; exec sleep 100' &
	until [ -e "$DIR/up" ]; do sleep 0.05; done
	END
    run_batch -0 --fanout 1 ./s
    equal "$(cat epilogs)" node3
}

@test "an archive that is whole stays where what is in it cannot be removed" {
    inside s <<-'END'
	one=$(tprun -d -n 1 --chdir / echo text) two=$(tprun -d -n 1 --chdir / echo text)
	"$TPCTL" wait "$one" "$two"
	echo "$one $two" >"$DIR/ids.new" && mv "$DIR/ids.new" "$DIR/ids"
	until [ -e "$DIR/mounted" ]; do sleep 0.05; done
	"$TPCTL" reap --archive kept.tar "$one" "$two"; echo "reap: $?"
	tar -tf kept.tar | grep -c '/events$'
	END
    start_on head "$BATCH" ./s
    wait_for 20 test -e ids
    local one two
    read -r one two <ids
    # one is removed, and two is a mount point: its directory stays
    on head sh -c 'd=$(echo "$XDG_STATE_HOME"/tprun/*/'"$two"') && mount --bind "$d" "$d"'
    : >mounted
    finish
    on head sh -c 'umount "$XDG_STATE_HOME"/tprun/*/'"$two"
    cat err
    equal "$(cat out)" "reap: 1
2"
}

@test "what a command has written before it ended is waited for, however late it is read" {
    # 512 KiB are under way to a caller; a part of the rest is left in the command's pipe
    inside s <<-'END'
	id=$(tprun -d -n 1 --chdir / sh -c 'head -c 550000 /dev/zero | tr "\0" "\n"')
	"$TPCTL" wait "$id"
	"$TPCTL" logs "$id" | (sleep 3; wc -c)
	END
    run_batch -0 ./s
    equal "$output" 550000
}

waits_beside_the_manager() { waiting=$(processes head tpctl wait) && [ -n "$waiting" ]; }

@test "a tpctl that is told to end again and again does not wait longer for a manager that does not answer" {
    inside s <<-'END'
	id=$(tprun -d -n 1 --chdir / sleep 1000)
	task node2 "$TPCTL" wait "$id"
	echo "wait: $?"
	END
    start_on head "$BATCH" ./s
    wait_for 20 waits_beside_the_manager
    local i manager asks
    manager=$(sed 's/.*) //' "/proc/$waiting/stat" | cut -d' ' -f2)
    asks=$(processes node2 tpctl wait)
    kill -STOP "$manager"
    for ((i = 0; i < 20; i++)); do # s; the first tells it, and 10 s later it gives up
        kill -TERM "$asks" 2>/dev/null || break
        sleep 1
    done
    kill -CONT "$manager" 2>/dev/null || : # or it has ended with the instance
    wait "$job" || :
    has_line "$(cat out)" "wait: 1"
    has_line "$(cat err)" "tpctl: the instance has ended, or its manager does not answer"
}

@test "--bootstrap inside an instance is of no use and does no harm: its agents are there" {
    inside s <<-'END'
	for way in slurm local pbs 'no-such-command {host}' 'no-such-command {hosts} {agent}'; do
	    echo "$way: $(tprun --bootstrap "$way" -N 2 -n 2 --hosts 'node[1-2]' --map-by node --chdir / uname -n 2>&1 | sort | xargs)"
	done
	END
    run_batch -0 ./s
    equal "$output" "slurm: node1 node2
local: node1 node2
pbs: node1 node2
no-such-command {host}: node1 node2
no-such-command {hosts} {agent}: node1 node2"
    equal "$stderr" ""
}
