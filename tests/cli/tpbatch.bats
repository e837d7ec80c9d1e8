# shellcheck disable=SC2154,SC2030,SC2031,SC2016,SC2089,SC2090 # bats sets output and stderr; scripts are quoted
# An instance with an initial program, and programs inside it.
load ../lib/common
load ../lib/tpctl
setup_file() { build_programs; }
setup() {
    start_test
    unset TPRUN_OPTIONS
    ALL=$(nproc)
    HOST=$(uname -n)
    mkdir bin
    ln -s "$TPRUN" bin/tpbatch
    BATCH=$PWD/bin/tpbatch
}
teardown() { nothing_left 10; }

# script NAME [OPTIONS...]: a script with these options, and the commands that come on stdin.
script() {
    {
        echo '#!/bin/sh'
        [ $# -lt 2 ] || printf '#TPRUN: %s\n' "${*:2}"
        cat
    } >"$1"
    chmod +x "$1"
}
tpbatch() { timeout --foreground -k 5 "${LIMIT:-60}" "$BATCH" "$@"; }
run_tpbatch() { # -STATUS ARGUMENTS...: with stderr apart
    run "$1" --separate-stderr timeout --foreground -k 5 "${LIMIT:-60}" "$BATCH" "${@:2}"
}

# ---- the script ----

@test "a script is run once, with its arguments, and its exit status is tpbatch's" {
    script s <<<'echo "$# $1 $2 of $TPRUN_SIZE"; exit 7'
    run_tpbatch -7 -n "$ALL" ./s -n 'a b'
    equal "$output" "2 -n a b of 1"
    has_line "$stderr" "tprun: rank 0 on $HOST: exited with status 7"
    run_tpbatch -7 -n 1 s x y
    equal "$output" "2 x y of 1"
    run_tpbatch -0 true
    run_tpbatch -1 false
    run_tpbatch -143 sh -c 'kill -TERM $$'
}

@test "what cannot be run is said, by its name" {
    mkdir directory
    printf 'true\n' >plain
    : >empty
    run_tpbatch -127 ./none
    [[ "$stderr" == *"./none"* ]]
    run_tpbatch -126 ./directory
    [[ "$stderr" == *"./directory"* ]]
    run_tpbatch -126 ./empty
    [[ "$stderr" == *"./empty"* ]]
    run_tpbatch -2 ./plain
    has_line "$stderr" 'tprun: ./plain cannot be executed, and its first line names no interpreter ("#!/bin/sh"): write one, or "chmod +x" it'
    printf '\357\273\277#!/bin/sh\n#TPRUN: -n 1\ntouch ran\n' >marked
    for mode in -x +x; do
        chmod "$mode" marked
        run_tpbatch -2 ./marked
        has_line "$stderr" 'tprun: ./marked begins with a byte order mark, so its first line is no "#!" line: save it as UTF-8 without the mark'
    done
    [ ! -e ran ]
    run_tpbatch -2 true : true
    [[ "$stderr" == *"an instance has one initial program"* ]]
    [[ "$stderr" == *"'tpbatch --help' lists the options"* ]]
}

@test "options stand in the script, the command line wins, and errors name the line" {
    script s -n 1 --env A=script <<<'echo "$A"; "$TPRUN" -n all sh -c "echo task"'
    run_tpbatch -0 ./s
    equal "$output" "script
task"
    run_tpbatch -0 -n "$ALL" --env A=typed ./s
    equal "$(grep -c task <<<"$output") $(head -n 1 <<<"$output")" "$ALL typed"
    script s -n 1 --nosuch <<<true
    run_tpbatch -2 ./s
    has_line "$stderr" "tprun: ./s, line 2: *--nosuch*"
    script s -n none <<<true
    run_tpbatch -2 ./s
    has_line "$stderr" "tprun: ./s, line 2: *none*"
    printf '#!/bin/sh\ntrue\n#TPRUN: -n 1\n' >s
    run_tpbatch -2 ./s
    has_line "$stderr" "tprun: ./s, line 3: options must stand before the first command*"
}

@test "--why says which line of the script an option is from" {
    script s -n 1 <<<'sleep 0.2; until [ -e go ]; do sleep 0.05; done'
    start "$BATCH" ./s
    wait_for 10 eval 'tpctl list | grep -q running'
    id=$(find "$(instance)/programs" -mindepth 1 -name '[0-9]*' -printf '%f\n' | sort -n | tail -n 1)
    run_tpctl -0 info --why -n "$id"
    touch go
    finish
    has_line "$output" "*./s, line 2*"
}

@test "without a script it is a shell, with a terminal where tpbatch has one" {
    script shell <<<'if tty >/dev/null; then echo terminal; else echo none; fi; cat'
    SHELL=$PWD/shell run_tpbatch -0 -n 1 <<<'typed'
    equal "$output" "none
typed"
    command script -qec "env SHELL=$PWD/shell $BATCH -n 1" typescript <<<'' >/dev/null
    grep -q '^terminal' typescript
}

@test "a dry run starts nothing" {
    script s -n 1 <<<'touch started'
    run_tpbatch -0 --dry-run ./s
    [ ! -e started ]
    [ -n "$output" ]
}

@test "a spec is for tprun: tpbatch refuses one" {
    run_tpbatch -2 --spec run.json
    equal "${stderr_lines[0]}" 'tprun: --spec: tpbatch runs a script; "tprun --spec run.json" runs a spec'
}

@test "--help and --print-spec of tpbatch" {
    script s -n 1 <<<true
    run_tpbatch -0 --help
    has_line "$output" "Usage: tpbatch *"
    run_tpbatch -0 --print-spec ./s
    jq -e '.initial_program' <<<"$output"
}

# ---- programs inside ----

@test "programs inside get what the instance holds, and no more" {
    need_cores 2
    script s -n 1 --bind-to core <<<'"$TPRUN" "$PROGRAMS/where"; "$TPRUN" --no-wait -n 2 true || echo "not two"'
    run_tpbatch -0 ./s
    has_line "$output" "0 $HOST [0-9]*"
    has_line "$output" "not two"
    has_line "$stderr" "tprun: *"
    equal "$(grep -c "^0 $HOST [0-9]*$" <<<"$output")" 1 # one core, not "0,1"
}

# Each writes its core, and waits until it may go.
HOLD_CORE='"$PROGRAMS/where"; : >"here.$NAME"; until [ -e go ]; do sleep 0.05; done'
@test "programs at once are on disjoint cores; one more waits, or fails at once with --no-wait" {
    script s -n all <<-'END'
	for i in $(seq "$1"); do
	    NAME=$i "$TPRUN" --bind-to core sh -c "$HOLD_CORE" >"cores.$i" &
	done
	for i in $(seq "$1"); do until [ -e "here.$i" ]; do sleep 0.05; done; done
	"$TPRUN" --no-wait true 2>refused && exit 1
	"$TPRUN" sh -c 'test -e go && echo waited' &
	sleep 0.3
	: >go
	wait
	END
    export HOLD_CORE
    run_tpbatch -0 ./s "$ALL"
    equal "$output" waited
    equal "$(cat cores.* | awk '{ print $3 }' | sort -u | wc -l)" "$ALL"
    has_line "$(cat refused)" "tprun: every core is held by other running programs *"
}

@test "what runs in the background ends with the script" {
    script s -n all <<-'END'
	"$TPRUN" sh -c 'echo there; exec sleep 1000' >background &
	until [ -s background ]; do sleep 0.05; done
	exit 3
	END
    run_tpbatch -3 ./s
    has_line "$stderr" "tprun: told to end by tpagent (pid *, uid *, of the program around this one): sent SIGTERM to 1 task; *"
    nothing_left 5
}

@test "Ctrl-C and SIGTERM end the script and the programs inside" {
    local signal
    script s -n all <<<'"$TPRUN" sh -c "echo there; exec sleep 1000"; echo "$?" >status; exit 9'
    for signal in INT TERM; do
        start "$BATCH" ./s
        wait_for 10 lines_are out 1 || { cat err; false; }
        kill -"$signal" "$job"
        finish
        [ "$status" != 0 ]
        nothing_left 5
    done
}

@test "a time limit ends the script and the programs inside" {
    script s -n all --time-limit 2s <<<'"$TPRUN" sh -c "echo there; exec sleep 1000"; sleep 1000'
    run_tpbatch -124 ./s
    equal "$output" there
    has_line "$stderr" "tprun: *time limit*"
    nothing_left 5
}

@test "an instance in the background is attached to, and ended" {
    local id
    script s -n all <<<'"$TPRUN" sh -c "echo there; until [ -e go ]; do sleep 0.05; done; exit 4"; exit 5'
    id=$(tpbatch -d ./s)
    wait_for 10 eval 'tpctl logs "$id" 2>/dev/null | grep -q there'
    run_tpctl -0 list
    has_line "$output" " *$id running *"
    touch go
    run_tpctl -5 attach "$id"
    has_line "$output" there
    rm go
    id=$(tpbatch -d ./s)
    wait_for 10 eval 'tpctl logs "$id" 2>/dev/null | grep -q there'
    run_tpctl -0 terminate "$id"
    run_tpctl -143 wait --status "$id"
    nothing_left 5
}

@test "a program inside is put into the background, listed, attached to and ended" {
    script s -n all <<-'END'
	PATH=${TPRUN%/*}:$PATH
	id=$(tprun -d sh -c 'echo there; until [ -e go ]; do sleep 0.05; done; exit 4')
	until tpctl logs "$id" 2>/dev/null | grep -q there; do sleep 0.05; done
	tpctl list | grep -q "^ *$id *running" && echo listed
	: >go
	tpctl attach "$id"
	echo "$?"
	rm go
	id=$(tprun -d sh -c 'until [ -e go ]; do sleep 0.05; done')
	tpctl terminate "$id"
	tpctl wait --status "$id"
	echo "$?"
	tprun -d sleep 1000
	END
    run_tpbatch -0 ./s
    equal "$(sed '$d' <<<"$output")" "listed
there
4
143"
    nothing_left 5
}

@test "an instance in an instance holds a part of it" {
    need_cores 2
    script inner <<<'"$TPRUN" -n all "$PROGRAMS/where"; exit 6'
    script s -n 2 <<-'END'
	bin/tpbatch -n 1 ./inner
	echo "$?"
	bin/tpbatch -n 2 bin/tpbatch -n 2 ./inner
	echo "$?"
	END
    run_tpbatch -0 ./s
    equal "$(grep -c "^[01] $HOST" <<<"$output")" 3
    equal "$(grep -c '^6$' <<<"$output")" 2
}

# ---- what is inherited ----

@test "what the script has, programs inside have, and their tasks; each may say otherwise" {
    mkdir there
    script s <<-'END'
	SHOW='echo "$A $(ulimit -Sn) $(umask) ${PWD##*/}"'
	sh -c "$SHOW"
	"$TPRUN" sh -c "$SHOW"
	"$TPRUN" "$TPRUN" sh -c "$SHOW"
	"$TPRUN" --env A=task --rlimit nofile=600 --umask 077 --chdir / sh -c "$SHOW"
	"$BATCH" --env A=inner "$TPRUN" sh -c "$SHOW"
	END
    export BATCH
    run_tpbatch -0 -n all --env A=script --rlimit nofile=700 --umask 027 --chdir "$PWD/there" "$PWD/s"
    equal "$output" "script 700 0027 there
script 700 0027 there
script 700 0027 there
task 600 0077 
inner 700 0027 there"
}

@test "options of tpbatch on how programs end hold inside, behind what is said there, and --why says so" {
    script s -n all --on-failure continue <<-'END'
	why() { # ID
	    for key in on-failure kill-grace node-timeout bind-to; do "$TPCTL" info --why $key "$1"; done
	    "$TPCTL" terminate "$1"
	}
	HOLD='exec sleep 1000'
	why "$("$TPRUN" -d sh -c "$HOLD")"
	echo inner
	"$BATCH" --kill-grace "2s" ./inner
	END
    script inner <<'END'
"$TPRUN" --oversubscribe -n 2 sh -c '[ "$TPRUN_RANK" = 1 ] || exit 3; sleep 0.5; echo "goes on"'
echo "status $?"
"$TPRUN" --on-failure kill --oversubscribe -n 2 sh -c '[ "$TPRUN_RANK" = 1 ] || exit 3; sleep 10; echo "goes on"'
echo "status $?"
id=$("$TPRUN" -d --on-failure kill sh -c 'exec sleep 1000')
"$TPCTL" info --why on-failure "$id"
"$TPCTL" info --why kill-grace "$id"
END
    export TPCTL BATCH
    run_tpbatch -0 --kill-grace 7s --bind-to none ./s
    equal "$output" "--on-failure continue    tpbatch of this instance
--kill-grace 7s    tpbatch of this instance
--node-timeout was not given: the default
--bind-to was not given: the default
inner
goes on
status 3
status 3
--on-failure continue    tpbatch of this instance
--on-failure kill    command line
--kill-grace 7s    tpbatch of this instance
--kill-grace 2s    tpbatch of this instance"
}

@test "what is handed down keeps its quotes, and a variable alone is none" {
    mkdir "it's"
    cc -shared -Wl,-soname,libmpi_abi.so.1 -o "it's/libmpi_abi.so.1" -x c - <<<'int MPI_Init;'
    script s <<<'"$TPRUN" -d sleep 1000 >id; "$TPCTL" info --why mpi "$(cat id)"; cd /; "$TPRUN" --print-spec true | grep mpi'
    export TPCTL
    run_tpbatch -0 -n all --mpi "./it's" ./s
    equal "$output" "--mpi $PWD/it's    tpbatch of this instance
 \"mpi\": \"$PWD/it's\",
 \"mpi_is_default\": true,"
    TPRUN_BATCH_OPTIONS=--nonsense run -0 tprun true
}

# ---- what contains it, and what is around it ----

# The processors that the kernel lets a process use, of one that asks for all of them.
WIDEN='taskset -pc 0-1023 $$ >/dev/null 2>&1; exec "$PROGRAMS/where"'
@test "programs that bind nothing stay within the mask that tpbatch was started with" {
    need_cores 2
    script s -n all <<-'END'
	"$TPRUN" --bind-to none "$PROGRAMS/where"
	"$TPRUN" --overlap --bind-to none "$PROGRAMS/where"
	"$TPRUN" --no-wait -n 2 true 2>/dev/null || echo "not two"
	"$BATCH" "$TPRUN" --bind-to none "$PROGRAMS/where"
	END
    export BATCH
    run -0 --separate-stderr taskset -c 1 timeout 60 "$BATCH" ./s
    equal "$output" "0 $HOST 1
0 $HOST 1
not two
0 $HOST 1"
}

@test "programs that bind nothing cannot leave the cores of the instance where the kernel can keep them" {
    need_cores 2
    script s -n 1 --bind-to core <<-'END'
	"$TPRUN" -v --bind-to none sh -c "$WIDEN" 2>said
	"$BATCH" "$TPRUN" --bind-to none sh -c "$WIDEN"
	END
    export WIDEN BATCH
    run_tpbatch -0 ./s
    cat said
    grep -q ', kept to processors' said || skip "no cpuset controller for new cgroups"
    equal "$(sort -u <<<"$output" | wc -l)" 1
    has_line "$output" "0 $HOST [0-9]*"
    run -1 grep '[,-]' <<<"${output##* }"
}

@test "--parent climbs from a task to its program, to the inner instance, and to the outer one" {
    script s -n all <<-'END'
	echo "outer $("$TPCTL" current)"
	"$BATCH" ./inner
	END
    script inner <<-'END'
	echo "inner $("$TPCTL" current)"
	"$TPCTL" --parent current
	"$TPRUN" sh -c 'for up in "" "--parent" "--parent --parent"; do "$TPCTL" $up current; done; "$TPCTL" --parent --parent info @ | grep ^state'
	"$TPCTL" --parent list | grep -c ' running '
	END
    export TPCTL BATCH
    run_tpbatch -0 ./s
    local outer inner
    outer=$(sed -n 's/^outer //p' <<<"$output")
    inner=$(sed -n 's/^inner //p' <<<"$output")
    [ "$outer" -lt "$inner" ]
    equal "$(sed '1,2d' <<<"$output")" "$outer
$((inner + 1))
$inner
$outer
state      running
2"
}

# ---- input and output ----

@test "a program inside reads and writes 256 MB whole, and no process of it grows" {
    script s -n all <<<'head -c 268435456 /dev/zero | "$TPRUN" sh -c "cat; $HOLD" | cksum'
    head -c 268435456 /dev/zero | cksum >want
    export HOLD
    start_watch 1
    LIMIT=120 run_tpbatch -0 ./s
    equal "$output" "$(cat want)"
    watch_below 65536
}

@test "input and output of a program inside end where the other side ends" {
    script s -n all <<-'END'
	"$TPRUN" cat </dev/null
	yes | "$TPRUN" head -n 1
	"$TPRUN" yes 2>/dev/null | head -n 1
	echo last | "$TPRUN" cat
	"$TPRUN" sh -c 'echo out; echo err >&2' 2>&1 >/dev/null
	END
    run_tpbatch -0 ./s
    equal "$output" "y
y
last
err"
}

@test "--pty gives a program inside a terminal" {
    script s -n all <<<'"$TPRUN" --pty sh -c "tty >/dev/null && echo terminal"'
    run_tpbatch -0 ./s
    equal "$(tr -d '\r' <<<"$output")" terminal
}

# ---- many ----

@test "fifty programs in sequence" {
    script s -n all <<<'for i in $(seq 50); do "$TPRUN" sh -c "echo $i" || exit; done'
    run_tpbatch -0 ./s
    equal "$output" "$(seq 50)"
}

@test "thirty programs at once" {
    script s -n all <<-'END'
	for i in $(seq 30); do "$TPRUN" sh -c "echo $i" & done
	wait
	END
    run_tpbatch -0 ./s
    equal "$(sort -n <<<"$output")" "$(seq 30)"
}

# ---- MPI ----

@test "MPI programs run inside, and tasks spawn more" {
    need_mpich
    script s -n all <<-'END'
	"$TPRUN" -n 2 --overlap --oversubscribe "$PROGRAMS/mpi-hello"
	"$TPRUN" --overlap --oversubscribe "$PROGRAMS/pmi-spawn" tree 2 2
	END
    run_tpbatch -0 ./s
    equal "$(grep -c '^depth [012] ' <<<"$output")" 7
    equal "$stderr" ""
}

@test "programs of Open MPI run inside, and spawn more" {
    need_openmpi
    script s -n all <<-'END'
	"$TPRUN" -n 2 --overlap --oversubscribe "$OPENMPI/mpi-hello"
	"$TPRUN" -n 1 --overlap --oversubscribe "$OPENMPI/mpi-spawn"
	END
    run_tpbatch -0 ./s
    echo "$output"
}

# ---- what is shown ----

@test "a dry run and --display inside show what would be had of the instance" {
    need_cores 2
    script s -n 1 <<-'END'
	"$TPRUN" --dry-run -n all touch started
	"$TPRUN" --display map -n all true 2>&1
	END
    run_tpbatch -0 ./s
    [ ! -e started ]
    equal "$(grep -c "^Map: 1 task on " <<<"$output")" 2
}

@test "an instance that is not there, or over, is said in a sentence" {
    local name
    for name in nonsense "$(printf '%0200d' 0)" '../../x' $'a\nb'; do
        TPRUN_BATCH=$name run -1 --separate-stderr tprun touch started
        has_line "$stderr" "tprun: this run is in an instance (TPRUN_BATCH is set), which cannot be reached: *"
        equal "$(wc -l <<<"$stderr")" 1
    done
    script s -n all <<<'echo "$TPRUN_BATCH"'
    run_tpbatch -0 ./s
    TPRUN_BATCH=$output run -1 --separate-stderr tprun touch started
    has_line "$stderr" "tprun: this run is in an instance (TPRUN_BATCH is set), which cannot be reached: the instance has no agent on this host, or is over"
    [ ! -e started ]
    TPRUN_BATCH='' run -0 tprun true
}

# Connects to the socket of user $1, as user $2, and says the text: how many bytes come back.
TALK='import os, socket, sys
os.setuid(int(sys.argv[1]))
s = socket.socket(socket.AF_UNIX)
s.connect("\0tprun-%d-%s" % (int(sys.argv[2]), os.environ["TPRUN_BATCH"]))
try:
    s.sendall(sys.argv[3].encode("latin1"))
    print(len(s.recv(21, socket.MSG_WAITALL)))
except OSError as error:
    print(error.strerror)'
@test "the socket of an instance is its user's" {
    [ "$(id -u)" = 0 ] || skip "needs root"
    script s -n all <<<'python3 -c "$TALK" 65534 0 x'
    export TALK
    run_tpbatch -0 ./s
    [[ "$output" = 0 || "$output" = "Broken pipe" || "$output" = "Connection reset by peer" ]]
}

@test "nonsense at the socket of an instance is answered, and harms nobody" {
    script s -n all <<-'END'
	python3 -c "$TALK" "$(id -u)" "$(id -u)" "GET / HTTP/1.1 and more of it" >answer
	python3 -c "$TALK" "$(id -u)" "$(id -u)" "$(printf '\2\0\0\0\10\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0{}' | tr '\0' '\1')" >>answer
	"$TPRUN" echo well
	END
    export TALK
    run_tpbatch -0 ./s
    equal "$output" well
    [ "$(sort -n answer | head -n 1)" -gt 20 ]
}

# ---- who is killed ----

inside() { # NAME: processes of this test with this name, oldest first
    marked | while read -r pid; do [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = "$1" ] && echo "$pid"; done | sort -n
}

@test "nothing is left wherever an instance is killed" {
    local victim number
    script s -n all <<<'"$TPRUN" sh -c "echo there; exec sleep 1000"; "$TPRUN" sh -c "echo again; exec sleep 1000"'
    for victim in tprun:1 tprun-manager:1 tprun-nursery:1 tprun-nursery:2 tpagent:1 tpagent:2 s:1 sleep:1 tprun-manager:2; do
        start "$BATCH" ./s
        wait_for 10 lines_are out 1 || { cat err; false; }
        number=$(inside "${victim%:*}" | sed -n "${victim#*:}p")
        [ -n "$number" ] || { echo "no $victim"; ps -o pid,ppid,comm,args -p "$(marked | paste -sd,)"; false; }
        kill -9 "$number"
        if [ "$victim" = sleep:1 ] || [ "$victim" = tprun-manager:2 ]; then
            wait_for 10 lines_are out 2 || { cat err; false; } # the script goes on
            kill "$job"
        fi
        sleep 0.2
        kill "$job" 2>/dev/null || true
        finish
        echo "$victim: status $status: $(cat err)"
        [ "$status" != 0 ]
        nothing_left 10
    done
}

@test "a program in the background ends when tpbatch and the manager of the instance are killed at once" {
    script s <<<'"$TPRUN" -d -n 1 sh -c ": >up; exec sleep 1000" >id; exec sleep 1000'
    start "$BATCH" ./s
    wait_for 10 test -e up
    kill -9 "$job" "$(inside tprun-manager | head -n 1)" # what it asks for agents is all that ties it to the instance
    finish
    nothing_left 10
}

@test "nothing is left in files, sockets and cgroups" {
    script s -n all <<-'END'
	echo "$TPRUN_BATCH" >name
	sed -n 's/^0:://p' /proc/self/cgroup >>groups
	for i in 1 2 3; do "$TPRUN" sh -c "sed -n 's/^0:://p' /proc/self/cgroup >>groups"; done
	"$TPRUN" -d sh -c "sed -n 's/^0:://p' /proc/self/cgroup >>groups; exec sleep 1000" >id
	END
    things() {
        find "$TPRUN_RUNTIME_DIR" -type d -name '[0-9]*' | grep -v /saved/ # the output of what was in the background
    }
    tpbatch ./s
    things | sort >before
    : >groups
    run_tpbatch -0 ./s
    nothing_left 5
    run -1 grep -F "$(cat name)" /proc/net/unix
    equal "$(things | sort | comm -13 before -)" ""
    local group
    lines_are groups 4
    grep '/tprun\.' groups | while read -r group; do
        equal "$(find /sys/fs/cgroup -path "*$group" 2>/dev/null)" ""
    done
    run_tpctl -0 list
    equal "$output" ""
}

# ---- what stays ----

# descriptors_of PID...: how many each has open, and its memory in KiB
held_by() { for pid; do echo "$(find "/proc/$pid/fd" -mindepth 1 | wc -l) $(awk '/^RssAnon/ { print $2 }' "/proc/$pid/status")"; done; }

@test "after many programs an instance's manager and agent have what they had before" {
    script s -n all <<-'END'
	run() { for i in $(seq "$1"); do "$TPRUN" --overlap true || exit; done; }
	run 20; : >first; until [ -e go ]; do sleep 0.05; done
	run "$MANY"; : >second; until [ ! -e go ]; do sleep 0.05; done
	for i in $(seq 300); do "$TPRUN" sh -c 'exit 3' 2>/dev/null & done; wait
	"$TPRUN" --overlap -d true; "$TPRUN" -d --overlap sleep 0.1
	: >third; until [ -e end ]; do sleep 0.05; done
	END
    export MANY=$((${ROUNDS:-3} > 3 ? 1000 : 150))
    start "$BATCH" ./s
    local manager agent before after crowd
    wait_for 60 test -e first
    manager=$(inside tprun-manager | head -n 1) agent=$(inside tpagent | head -n 1)
    before=$(held_by "$manager" "$agent")
    touch go
    wait_for 300 test -e second
    after=$(held_by "$manager" "$agent")
    echo "before: $before, after $MANY: $after"
    equal "$(cut -d' ' -f1 <<<"$after")" "$(cut -d' ' -f1 <<<"$before")"
    rm go
    wait_for 60 test -e third
    sleep 1
    crowd=$(held_by "$manager" "$agent")
    echo "after 300 at once: $crowd"
    equal "$(cut -d' ' -f1 <<<"$crowd")" "$(cut -d' ' -f1 <<<"$before")"
    touch end
    finish
    equal "$status" 0
    paste -d' ' <(echo "$before") <(echo "$after") <(echo "$crowd") | while read -r _ was _ is _ crowded; do
        [ "$is" -le "$((was + 256))" ] || { echo "grown from $was to $is KiB"; exit 1; }
        [ "$crowded" -le "$((was + 512))" ] || { echo "grown from $was to $crowded KiB by many at once"; exit 1; }
    done
}
