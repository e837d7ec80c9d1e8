# shellcheck disable=SC2154,SC2030,SC2031,SC2016,SC2001 # bats sets output and stderr; scripts are quoted
# Instances in instances on four hosts, what goes down from one to the next, and one script that does all of it.
load common
load ../lib/tpctl
setup_file() { start_cluster 4; }
teardown_file() { stop_cluster; }
setup() {
    start_tpbatch_test
    LIMIT=${LIMIT:-90}
}
teardown() { end_tpbatch_test; }

# ---- what each level holds ----

@test "resources of an inner instance have ranks of their own from 0, and the cores of their host" {
    need_cores 2
    script s <<-'END'
	echo "level 1 on $(uname -n)"
	tprun --bind-to core -n 4 --map-by node sh -c 'cat' <fifo & # one core of each host is taken
	exec 9>fifo
	until [ "$(tprun --no-wait --dry-run -n all --format=json | jq .ntasks)" = "$(($(nproc) * 4 - 4))" ]; do sleep 0.1; done
	tpbatch --hosts 'node[2-3]' ./inner
	echo "status $?"
	exec 9>&-
	wait
	END
    script inner <<-'END'
	echo "level 2 on $(uname -n)"
	tprun -n all --bind-to core "$PROGRAMS/where"
	tprun --dry-run -n all --format=json | jq -c '[.R.execution.R_lite[].rank, .R.execution.nodelist[]]'
	tprun --dry-run -n all --format=json | jq .R | tpres show -
	tpbatch --hosts node3 ./innermost
	END
    script innermost <<-'END'
	echo "level 3 on $(uname -n)"
	tprun -n all --bind-to core "$PROGRAMS/where"
	tprun --dry-run -n all --format=json | jq -c '[.R.execution.R_lite[].rank, .R.execution.nodelist[]]'
	END
    mkfifo fifo
    run_batch -0 -N 4 -n all --hosts 'node[0-3]' ./s
    echo "$output"
    echo "$stderr"
    local rest
    rest=$(seq 1 $(($(nproc) - 1)) | paste -sd, | sed 's/^1,.*,/1-/; s/^\(1\),\(2\)$/1-2/')
    equal "$(grep ^level <<<"$output")" "$(printf 'level 1 on node0\nlevel 2 on node2\nlevel 3 on node3')"
    # ranks from 0, cores as the hosts have them: not from 0
    has_line "$output" '\["0-1","node?2-3?"\]'
    has_line "$output" '\["0","node3"\]'
    has_line "$output" "0 *node2 *$rest*"
    has_line "$output" "1 *node3 *$rest*"
    equal "$(grep -c '^[0-9]* node2 ' <<<"$output")" $(($(nproc) - 1))
    equal "$(grep -c '^[0-9]* node[23] 0$' <<<"$output")" 0
}

@test "what an inner instance asks for beyond the outer one is refused" {
    script s <<<'tpbatch --hosts node3 true; tpbatch --no-wait -n 100 true'
    run_batch -1 -N 2 -n all --hosts 'node[0-1]' ./s
    has_line "$stderr" "tprun: --hosts names node3, but program * has only node?0-1?"
}

# ---- one script for all of it ----

write_acceptance() { # HOST...: the scripts, in /tmp of hosts, which share no directory
    local host
    for host; do
        "$CLUSTER" exec "$host" sh -c 'cat >/tmp/s' <<-'END'
	#!/bin/sh
	#TPRUN: -N 4 -n all --hosts node[0-3]
	cd /tmp || exit
	echo "script on $(uname -n)"
	mkfifo go # three at once, each with cores of its own
	hold() { tprun -n "$1" --map-by node --bind-to core -i all sh -c '"$PROGRAMS/where"; cat' <go >"cores.$2" & }
	hold 4 a
	hold 2 b
	hold 2 c
	exec 9>go
	until [ "$(cat cores.? | wc -l)" = 8 ]; do sleep 0.05; done
	exec 9>&-
	wait
	echo "cores $(cut -d' ' -f2- cores.? | sort -u | wc -l)"
	for i in $(seq 20); do # twenty, one after the other
	    tprun -N 4 -n 4 --map-by node sh -c 'echo task' || echo "status $?"
	done | sort | uniq -c | tr -s ' '
	tprun -N 4 -n 4 --map-by node --oversubscribe "$PROGRAMS/pmi-spawn" tree 1 4 | cut -c 1-7 | sort | uniq -c | tr -s ' '
	id=$(tprun -d -n 1 --hosts node0 sh -c ': >/tmp/detached; exec sleep 1000') || exit
	until [ -e /tmp/detached ]; do sleep 0.05; done
	echo "detached $id"
	tpbatch -N 3 -n all --hosts 'node[1-3]' /tmp/level1
	echo "level1 $?"
	rm -f go cores.? detached
	exit 7
	END
        "$CLUSTER" exec "$host" sh -c 'cat >/tmp/level1' <<-'END'
	#!/bin/sh
	echo "level1 on $(uname -n)"
	tprun -N 3 -n 3 uname -n | sort | paste -sd' '
	tpbatch --hosts 'node[2-3]' /tmp/level2
	echo "level2 $?"
	exit 4
	END
        "$CLUSTER" exec "$host" sh -c 'cat >/tmp/level2; chmod +x /tmp/s /tmp/level1 /tmp/level2' <<-'END'
	#!/bin/sh
	echo "level2 on $(uname -n)"
	tprun -N 2 -n 2 uname -n | sort | paste -sd' '
	exit 5
	END
    done
}
accept() {
    need_cores 2
    write_acceptance head node0 node1 node2 node3
    run_batch -7 /tmp/s
    echo "$stderr"
    equal "$(sed 's/^detached [0-9]*$/detached/' <<<"$output")" "script on node0
cores 8
 80 task
 16 depth 0
 4 depth 1
detached
level1 on node1
node1 node2 node3
level2 on node2
node2 node3
level2 5
level1 4"
    equal "$stderr" "$(printf 'tprun: rank 0 on %s: exited with status %s\n' node2 5 node1 4 node0 7)"
    hosts_clean 6
    local host
    for host in head node0 node1 node2 node3; do "$CLUSTER" exec $host rm /tmp/s /tmp/level1 /tmp/level2; done
}

@test "one script: three at once, twenty in sequence, one that spawns, one in the background, two levels of instances" {
    accept
}

@test "the same where the nodes have no ssh and share no directory with the host of tpbatch" {
    local host
    for host in node0 node1 node2 node3; do
        "$CLUSTER" exec $host mount --bind /bin/false /usr/bin/ssh
        "$CLUSTER" exec $host mount -t tmpfs -o mode=755 none "$PWD"
        "$CLUSTER" exec $host sh -c 'mkdir bin && ln -s "$TPRUN" bin/tpbatch'
    done
    accept
    for host in node0 node1 node2 node3; do
        run -1 "$CLUSTER" exec $host ssh -V
        "$CLUSTER" exec $host umount -l "$PWD" /usr/bin/ssh
    done
}
