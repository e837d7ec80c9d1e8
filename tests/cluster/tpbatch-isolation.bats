# shellcheck disable=SC2154,SC2030,SC2031,SC2016,SC2012,SC2010 # bats sets output and stderr; scripts are quoted
# What programs in an instance have to do with each other, and with a node that is lost: nothing.
#   ROUNDS   how often each flood is measured at first (2; more than 3 as given, and then nothing is allowed for what
#            else the machine does)
load common
setup_file() { start_cluster 4; }
teardown_file() { stop_cluster; }
setup() {
    start_tpbatch_test
    SLACK=0 # ms that other work on the machine may add: some turns of the scheduler for each process of a start
    [ "${ROUNDS:-2}" -gt 3 ] || ROUNDS=2 SLACK=40
    export ROUNDS
    HEAD=$ALL_NODES'cd "$DIR"'$'\n'
}
teardown() { end_tpbatch_test; }

# ---- floods ----

# slower TIMES TASKS COMMAND...: while a program of so many tasks floods, others take no more than so many times what
# they take beside as many tasks that compute, and $SLACK. A busy machine slows either now and then: a round is judged by its median,
# all rounds by the least of these, and where they say that the flood slows others, more are measured.
slower() {
    local try times=$1
    export TASKS=$2 FLOOD="${*:3}" TO=${TO:-/dev/null}
    script s <<-'END'
	beside() { # FILE COMMAND...: how long 5 programs take beside it, in ms each; its output goes to the file
	    to=$1 && shift
	    setsid tprun -N 4 -n "$TASKS" --map-by node --oversubscribe --on-failure continue "$@" >"$to" 2>flood.err &
	    sleep 1
	    for i in 1 2 3 4 5; do
	        from=$(date +%s%N)
	        tprun -n 1 true || exit
	        printf '%s ' $((($(date +%s%N) - from) / 1000000))
	    done
	    echo
	    kill -0 $! || { echo "the flood has ended: $(cat flood.err)" >&2; exit 1; }
	    kill -9 $!
	    wait $! 2>/dev/null
	    until tprun --no-wait -N 4 -n 8 true 2>/dev/null; do sleep 0.1; done
	}
	exec 9<>unread
	for round in $(seq "$ROUNDS"); do
	    beside /dev/null sh -c "while :; do :; done" >>busy
	    beside "$TO" $FLOOD >>flooded
	done
	END
    for try in 1 2 3 4; do
        rm -f unread && mkfifo unread
        LIMIT=250 run_batch -0 ./s
        [ "$(least flooded)" -gt "$((times * $(least busy) + SLACK))" ] || break
    done
    echo "beside tasks that compute, in ms:" && cat busy
    echo "beside the flood:" && cat flooded
    echo "# $BATS_TEST_DESCRIPTION: $(least flooded) ms, else $(least busy) ms, of $(wc -l <busy) rounds" >&3
    [ "$(least flooded)" -le "$((times * $(least busy) + SLACK))" ]
}
least() { # FILE: of 5 times on each line, the least of the lines' medians
    while read -r round; do xargs -n 1 <<<"$round" | sort -n | sed -n 3p; done <"$1" | sort -n | head -n 1
}

@test "a flood of output slows no other program" {
    slower 2 4 yes
}
@test "a flood of output that nobody reads slows no other program" {
    TO=unread slower 2 4 yes
}
@test "a flood of fences slows no other program" {
    slower 2 4 "$PROGRAMS/pmibench" 1 100000000
}
@test "a flood of puts slows no other program" {
    slower 2 4 "$PROGRAMS/pmibench" 100000000 1
}
@test "a flood of events slows no other program" {
    need_pmix_programs
    slower 2 4 "$PROGRAMS/pmix-event" flood namespace 100000000 1000
}
@test "a flood of spawns slows no other program" {
    slower 2 4 "$PROGRAMS/pmi-spawn" loop 100000000 true
}
@test "a flood of tasks that die slows no other program" {
    slower 2 4 "$PROGRAMS/pmi-spawn" loop 100000000 sh -c 'kill -9 $$'
}

# ---- failures ----

@test "a program that fails, aborts or is ended ends no other" {
    script s <<-'END'
	tprun -N 4 -n 4 --map-by node sh -c ': >up.$TPRUN_RANK; until [ -e go ]; do sleep 0.1; done' &
	beside=$!
	until [ "$(ls | grep -c '^up')" = 4 ]; do sleep 0.05; done
	tprun -N 4 -n 4 --map-by node sh -c 'exit $TPRUN_RANK' 2>/dev/null; echo $?
	tprun -N 4 -n 4 --map-by node sh -c 'kill -SEGV $$' 2>/dev/null; echo $?
	tprun -n 2 --pmi pmi1 sh -c 'printf "cmd=init pmi_version=1 pmi_subversion=1\ncmd=abort exitcode=14\n" >&$PMI_FD; exec sleep 100' 2>/dev/null; echo $?
	tprun -n 4 --time-limit 1s sleep 1000 2>/dev/null; echo $?
	tprun -n 1 /none 2>/dev/null; echo $?
	: >go
	wait "$beside"; echo $?
	END
    run_batch -0 ./s
    [[ "$(head -n 1 <<<"$output")" = [123] ]]
    equal "$(sed 1d <<<"$output" | paste -sd' ')" "139 14 124 127 0"
}

# ---- a node that is lost ----

@test "a lost node is named and not used until it answers again" {
    script s <<-'END'
	tprun -n 2 --hosts node0,node3 --map-by node sh -c ': >up.$TPRUN_RANK; until [ -e go ]; do sleep 0.1; done' &
	beside=$!
	until [ -e lost ]; do sleep 0.05; done
	try() { "$@" >said 2>&1; echo "$?: $(paste -sd'|' said)"; }
	try tprun -n 1 --hosts node2 uname -n
	try tprun -N 4 -n 4 --map-by node --overlap uname -n
	try tprun -n 3 --no-wait --hosts 'node[1-2]' uname -n
	try tprun -n 2 --hosts 'node[1-2]' uname -n
	try tprun -N 3 -n 3 --map-by node uname -n
	try tprun -n all --overlap uname -n
	try tprun -n 1 --bind-to core --hosts 'node[1-2]' uname -n
	try tprun --shape node=1/slot=2/core=1 --hosts 'node[1-2]' uname -n
	: >tried
	until [ -e again ]; do sleep 0.05; done
	try tprun -n 2 --hosts node2 uname -n
	tprun -N 4 -n 4 --map-by node --overlap uname -n | sort | paste -sd' '
	: >go
	wait "$beside"; echo $?
	END
    start_on head "$BATCH" --node-timeout 3s --start-timeout 3s ./s
    wait_for 20 test -e up.1
    "$CLUSTER" crash node2
    : >lost # programs ask for it before it is known
    wait_for 60 test -e tried || { cat out err; return 1; }
    "$CLUSTER" heal 3>&-
    wait_for 60 grep -q "node2: answers again" err || { cat out err; return 1; }
    : >again
    finish
    cat out err
    equal "$status" 0
    local lost="tprun: node2: not started: the instance has no agent there: lost: no sign of life for 3 s" line=0 want
    for want in "1: tprun: node2: not started: the instance's agent there has closed the connection (*)" \
        "1: $lost|tprun: 1 of 4 hosts did not start; nothing was run; -N 3 goes on without it" \
        "1: $lost|*" "0: node1|node1" "0: $lost; left out, since the other hosts suffice|*node*|*node*|*node*" \
        "0: $lost; left out, since the other hosts suffice|*" "0: $lost; left out, since the other hosts suffice|node1" \
        "[01]: *node[12]*" "0: node2|node2" "node0 node1 node2 node3" 0; do
        line=$((line + 1))
        has_line "$(sed -n "${line}p" out)" "$want"
    done
    equal "$(cat err)" "tprun: node2: lost: no sign of life for 3 s; programs run elsewhere until it answers
tprun: node2: answers again; programs may run there"
}
