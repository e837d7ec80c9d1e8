# shellcheck disable=SC2154,SC2030,SC2031,SC2016 # bats sets output and stderr; scripts are quoted
# --stage, --prolog and --epilog on several hosts, which have a /tmp each.
#   ROUNDS   how often each is killed (2)
load common
setup_file() { start_cluster 4; }
teardown_file() { stop_cluster; }
setup() {
    start_tpbatch_test
    ROUNDS=${ROUNDS:-2}
    NODES=(--hosts 'node[0-3]' -n 4 --map-by node)
    printf '#!/bin/sh\necho "$(uname -n) $(dirname "$0") $*"\n' >app
    chmod 750 app
    hook prolog <<<'echo "prolog of $TPRUN_NODE_ID of $TPRUN_NNODES" >>"$DIR/log.$(uname -n)"'
    hook epilog <<<'echo "epilog of $TPRUN_NODE" >>"$DIR/log.$(uname -n)"'
}
teardown() {
    [ -z "${NO_CLUSTER:-}" ] || return 0
    end_tpbatch_test
    wait_for 4 no_copies
}
no_copies() { # a manager that is killed leaves its program in the ledger, to be told of
    local host
    for host in $HOSTS; do [ -z "$(on "$host" find /tmp /dev/shm -maxdepth 1 -name 'tprun.*')" ] || return 1; done
}
hook() { { echo '#!/bin/sh'; cat; } >"$1" && chmod +x "$1"; }
stop_count() { wait_for "$1" eval '[ "$(cat log.* 2>/dev/null | grep -c epilog)" = '"$2"' ]'; }

@test "each host has a copy, in a directory of its own, and it is the program that runs" {
    head -c 5000000 /dev/urandom >large
    run_tprun -0 "${NODES[@]}" --stage ./app --stage large:data sh -c 'cmp "$TPRUN_STAGE_DIR/data" '"$PWD/large"' && uname -n; stat -c %a "$TPRUN_STAGE_DIR"/*'
    equal "$(sort <<<"$output" | uniq -c | xargs)" "4 644 4 750 1 node0 1 node1 1 node2 1 node3"
    run_tprun -0 "${NODES[@]}" --stage ./app ./app x
    equal "$(sort <<<"$output" | sed 's|/tmp/tprun[^/]*|DIR|')" "$(printf 'node%s DIR/stage x\n' 0 1 2 3)"
    [ "$(awk '{ print $2 }' <<<"$output" | sort -u | wc -l)" = 4 ]
}

@test "a staged program is known by the path that was typed, wherever its tasks start" {
    run_tprun -0 "${NODES[@]}" --stage ./app --chdir / ./app x
    equal "$(sed 's|/tmp/tprun[^/]*|DIR|' <<<"$output" | sort)" "$(printf 'node%s DIR/stage x\n' 0 1 2 3)"
    on head mkdir -p /tmp/own # no other host has it
    on head cp app /tmp/own
    run_tprun -0 "${NODES[@]}" --stage /tmp/own/app --chdir / /tmp/own/app x
    equal "$(wc -l <<<"$output")" 4
    on head rm -r /tmp/own
}

@test "over a tree each link is used once" {
    local fanout
    head -c 3000000 /dev/urandom >large
    for fanout in 1 2 3; do
        run_tprun -0 "${NODES[@]}" --fanout "$fanout" --stage large sh -c 'cmp "$TPRUN_STAGE_DIR/large" '"$PWD/large"' && uname -n'
        equal "$(sort <<<"$output" | xargs)" "node0 node1 node2 node3"
    done
}

@test "a stopped tprun loses no host while files are copied" {
    truncate -s 500M large
    start_on head "$TPRUN" "${NODES[@]}" --node-timeout 2s --stage large sh -c 'stat -c %s $TPRUN_STAGE_DIR/large'
    wait_for 20 eval '[ -n "$(on node3 find /tmp -name large)" ]'
    kill -TSTP "$(processes head tprun | head -n 1)"
    sleep 6
    [ ! -s err ]
    kill -CONT "$job" # nsenter stops with it, and continues it
    finish
    cat err
    equal "$status" 0
    equal "$(sort out | uniq -c | xargs)" "4 524288000"
}

@test "hosts that run no task have no copy" {
    run_tprun -0 --hosts 'node[0-3]' -n 1 --stage app sh -c 'uname -n; ls -d /tmp/tprun.*'
    has_line "$output" node0
    for host in node1 node2 node3; do
        [ -z "$(on $host find /tmp -path '/tmp/tprun.*/stage')" ]
    done
}

@test "a disk that is full is said with its host, before any task starts" {
    for host in node0 node1 node2 node3; do on $host mkdir /tmp/small; done
    on node2 mount -n -t tmpfs -o size=1m none /tmp/small
    head -c 3000000 /dev/zero >large
    run_tprun -1 "${NODES[@]}" --bootstrap 'ssh {host} TMPDIR=/tmp/small {agent}' --stage large touch "$PWD/ran"
    on node2 umount -n /tmp/small
    for host in node0 node1 node2 node3; do on $host rmdir /tmp/small; done
    on node2 rm -rf /run/mount
    has_line "$stderr" "tprun: node2: cannot stage 1 file in /tmp/small: No space left on device: 2.861 MiB are needed there, and *"
    equal "$(wc -l <<<"$stderr")" 1
    [ ! -e ran ]
}

@test "in an instance files come from where they were typed, and those of the instance are on each node" {
    printf '%s\n' '#!/bin/sh' '#TPRUN: --hosts node[0-3] -N 4 -n all --stage app' 'cd "$DIR"' \
        'tprun -N 4 -n 4 --map-by node app one' 'tprun -N 4 -n 4 --map-by node "$TPRUN_STAGE_DIR/app" two' \
        'echo secret >/tmp/only-here' \
        'tprun -N 4 -n 4 --map-by node --stage /tmp/only-here sh -c "uname -n; cat \$TPRUN_STAGE_DIR/only-here; ls \$TPRUN_STAGE_DIR | xargs"' \
        'rm /tmp/only-here' >s
    chmod +x s
    run_batch -0 ./s
    equal "$(grep -c '^node[0-3] /tmp/tprun[^/]*/stage one$' <<<"$output")" 4
    equal "$(grep -c '^node[0-3] /tmp/tprun[^/]*/stage two$' <<<"$output")" 4
    equal "$(grep -cx secret <<<"$output")" 4
    equal "$(grep -cx 'app only-here' <<<"$output")" 4
}

# lose_node2 OPTIONS [FILE]: an instance with these options on four hosts loses node2, which answers again once the
# script has seen that it is lost. What comes on stdin is the rest of the script. FILE is made while node2 is down.
lose_node2() {
    { printf '%s\n' '#!/bin/sh' "#TPRUN: --hosts node[0-3] -N 4 -n all $1 --node-timeout 5s --start-timeout 5s" \
        'cd "$DIR"' \
        ': >began' \
        'until [ -e lost ]; do sleep 0.1; done' \
        'while tprun -n 1 --hosts node2 true; do sleep 0.1; done' \
        ': >noticed'
    cat; } >s
    chmod +x s
    start_on head "$BATCH" ./s
    wait_for 60 test -e began || { cat out err; return 1; }
    "$CLUSTER" crash node2
    [ -z "${2:-}" ] || : >"$2"
    : >lost
    wait_for 60 test -e noticed || { cat out err; return 1; }
    "$CLUSTER" heal 3>&-
}

# Files take a while, and programs ask for the node all the time.
@test "a node of an instance that was lost and answers again has the files before any program runs there" {
    truncate -s 100M data
    lose_node2 "--stage data" <<-'END'
	for i in $(seq 300); do
	    tprun -n 1 --hosts node2 sh -c 'stat -c %s $TPRUN_STAGE_DIR/data || :' 2>why && break
	    cat why >>whys
	    sleep 0.1
	done
	END
    finish
    sort out err whys | uniq -c
    equal "$status" 0
    equal "$(cat out)" 104857600
    has_line "$(tail -n 1 err)" "tprun: node2: answers again; programs may run there"
}

@test "hooks are run on each host, with its number, and once" {
    run_tprun -0 "${NODES[@]}" --prolog prolog --epilog epilog true
    for host in 0 1 2 3; do
        equal "$(cat log.node$host)" "prolog of $host of 4
epilog of node$host"
    done
    [ ! -e log.head ]
}

@test "a prolog that fails on one host is named, and no task starts" {
    hook prolog <<<'[ "$(uname -n)" != node2 ] || { echo "no scratch disk"; exit 9; }'
    run_tprun -1 "${NODES[@]}" --prolog prolog --epilog epilog touch "$PWD/ran"
    equal "$stderr" "tprun: node2: the prolog failed: it ended with exit status 9; it wrote:
tprun:   no scratch disk"
    [ ! -e ran ]
    equal "$(cat log.* | sort)" "$(printf 'epilog of node%s\n' 0 1 2 3)"
}

@test "hooks that fail alike on several hosts make one line" {
    hook prolog <<<'exit 9'
    run_tprun -1 "${NODES[@]}" --prolog prolog true
    equal "$stderr" "tprun: node[0-3]: the prolog failed: it ended with exit status 9"
}

@test "an instance on several hosts has its hooks around all programs" {
    printf '%s\n' '#!/bin/sh' '#TPRUN: --hosts node[0-3] -N 4 -n all --prolog prolog --epilog epilog' 'cd "$DIR"' \
        'tprun -N 4 -n 4 --map-by node sh -c "echo task >>log.\$(uname -n)"' >s
    chmod +x s
    run_batch -0 ./s
    for host in 0 1 2 3; do
        equal "$(cat log.node$host)" "prolog of $host of 4
task
epilog of node$host"
    done
}

# lose_node2_with_hooks [FILE]: the same with hooks, where programs ask for node2 all the time. With FILE
# broken.node2 the prolog fails there then.
lose_node2_with_hooks() {
    hook prolog <<<'sleep 1; echo "prolog of $TPRUN_NODE_ID of $TPRUN_NNODES" >>"$DIR/log.$(uname -n)"; [ ! -e "$DIR/broken.$(uname -n)" ]'
    lose_node2 "--prolog prolog --epilog epilog" "$@" <<-'END'
	until tprun -n 1 --hosts node2 sh -c 'echo program >>log.$(uname -n)' 2>why; do
	    cat why >>whys
	    [ ! -e enough ] || exit 5
	    sleep 0.1
	done
	END
}

@test "a node of an instance that was lost and answers again has the prolog before any program runs there" {
    lose_node2_with_hooks
    finish
    sort out err whys | uniq -c
    equal "$status" 0
    has_line "$(tail -n 1 err)" "tprun: node2: answers again; programs may run there"
    equal "$(cat log.node2)" "prolog of 2 of 4
prolog of 2 of 4
program
epilog of node2"
}

@test "a node of an instance that answers again, and where the prolog fails then, gets no program" {
    lose_node2_with_hooks broken.node2
    wait_for 60 grep -q 'the prolog failed' err || { cat out err whys; return 1; }
    : >whys
    wait_for 20 test -s whys
    : >enough
    finish
    sort out err whys | uniq -c
    equal "$status" 5
    has_line "$(cat err)" "tprun: node2: the prolog failed: it ended with exit status 1; programs run elsewhere"
    has_line "$(tail -n 1 whys)" "tprun: node2: *the instance's prolog failed there*"
    equal "$(cat log.node2)" "prolog of 2 of 4
prolog of 2 of 4
epilog of node2"
}

@test "whoever is killed, nothing is left on any host, and the epilog is run wherever a process of tprun is left" {
    local round victims
    for who in front manager agent guard ssh task; do
        for ((round = 1; round <= ROUNDS; round++)); do
            rm -f log.*
            start_on head "$TPRUN" "${NODES[@]}" --stage app --prolog prolog --epilog epilog sh -c \
                'cd $TPRUN_STAGE_DIR && seq 300 | xargs touch && echo ready && sleep 100'
            wait_for 20 lines_are out 4 || { cat err; return 1; }
            case $who in
                front) victims=$(processes head tprun | head -n 1) ;;
                manager) victims=$(processes head tprun-manager | head -n 1) ;;
                agent) victims=$(processes "node$round" tpagent | tail -n 1) ;;
                guard) victims=$(processes "node$round" tpagent | head -n 1) ;;
                ssh) victims=$(processes head ssh | sed -n "${round}p") ;;
                task) victims=$(processes "node$round" sh | head -n 1) ;;
            esac
            # shellcheck disable=SC2086
            kill -9 $victims
            finish
            stop_count 10 4 || { echo "$who: $(cat log.*)"; return 1; }
            hosts_clean 8
            wait_for 4 no_copies || { echo "$who"; return 1; }
            equal "$(cat log.* | grep -c epilog)" 4
        done
    done
}

@test "where an instance's agent or manager is killed, programs in it have the time of their epilogs, and then the instance" {
    hook inner <<<'sleep 3; [ "$(uname -n)" != node3 ] || sleep 2; echo "inner epilog of $TPRUN_NODE" >>"$DIR/log.$(uname -n)"'
    printf '%s\n' '#!/bin/sh' '#TPRUN: --hosts node[0-3] -N 4 -n all --epilog epilog' 'cd "$DIR"' \
        'tprun -N 4 -n 4 --map-by node --epilog inner sh -c "echo ready; sleep 100"' >s
    chmod +x s
    for victim in node2:tpagent:2 node0:tpagent:2 head:tprun-manager:1; do # the script's is node0
        rm -f log.*
        start_on head "$BATCH" ./s
        wait_for 20 lines_are out 4 || { cat err; return 1; }
        IFS=: read -r host name nth <<<"$victim"
        kill -9 "$(processes "$host" "$name" | sed -n "${nth}p")"
        finish
        hosts_clean 8
        grep . log.*
        for host in node0 node1 node2 node3; do # two epilogs where another agent was started there meanwhile
            equal "$(uniq log.$host)" "inner epilog of $host
epilog of $host"
        done
    done
}

@test "where managers of instances are killed, epilogs on their host are run from the inside out, too" {
    local victim host
    hook inner <<<'sleep 3; echo "inner epilog" >>"$DIR/log.$(uname -n)"'
    hook middle <<<'sleep 2; echo "middle epilog" >>"$DIR/log.$(uname -n)"'
    hook epilog <<<'echo "epilog" >>"$DIR/log.$(uname -n)"'
    printf '%s\n' '#!/bin/sh' 'tprun -N 2 -n 2 --map-by node --epilog inner sh -c "echo ready; sleep 100"' >inside
    printf '%s\n' '#!/bin/sh' '#TPRUN: --hosts head,node0 -N 2 -n all --epilog epilog' 'cd "$DIR"' \
        'tpbatch -N 2 -n all --epilog middle ./inside' >s
    chmod +x s inside
    for victim in 1 2 3; do # of the outer instance, of that in it, and of the program
        rm -f log.*
        start_on head "$BATCH" ./s
        wait_for 20 lines_are out 2 || { cat err; return 1; }
        kill -9 "$(processes head tprun-manager | sed -n "${victim}p")"
        finish
        hosts_clean 20
        grep . log.*
        for host in head node0; do
            equal "$(cat log.$host)" "$(printf '%s\n' "inner epilog" "middle epilog" "epilog")" || return 1
        done
    done
}

@test "where a node of an instance was lost, its epilog on the manager's host comes after those of programs in it, still" {
    hook inner <<<'sleep 8; echo "inner epilog of $TPRUN_NODE" >>"$DIR/log.$(uname -n)"'
    printf '%s\n' '#!/bin/sh' '#TPRUN: --hosts head,node1,node2 -N 3 -n all --epilog epilog --node-timeout 5s' 'cd "$DIR"' ': >began' \
        'until [ -e lost ]; do sleep 0.1; done' 'tprun -n 1 --hosts head --epilog inner sh -c ": >up; sleep 100" &' \
        'until [ -e up ]; do sleep 0.1; done' >s
    chmod +x s
    start_on head "$BATCH" ./s
    wait_for 20 test -e began || { cat err; return 1; }
    "$CLUSTER" crash node2
    wait_for 60 grep -q 'node2: lost' err || { cat err; return 1; }
    : >lost
    finish
    "$CLUSTER" heal 3>&-
    cat err
    equal "$status" 0
    equal "$(cat log.head)" "inner epilog of head
epilog of head"
}

@test "tasks that are added on a host that came late find the files there" {
    SPAWN=$PROGRAMS/pmi-spawn
    write_R R 4
    echo late >data
    run_tprun -0 -R R -n 1 --stage data sh -c \
        "$SPAWN run host=node3 -- 1 sh -c 'echo \$(cat \$TPRUN_STAGE_DIR/data) \$(uname -n)'"
    has_line "$output" "late node3"
    [ -z "$(on node1 find /tmp -path '/tmp/tprun.*/stage')" ]
}
