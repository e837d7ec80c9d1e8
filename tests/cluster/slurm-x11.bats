# Jobs with --x11 of a real Slurm whose nodes have no sshd: each node has a DISPLAY of its own, which leads to the X
# server of the host where the job was submitted. That server is a stand-in: it answers each line.
load common
load slurm
setup_file() {
    # proctrack/linuxproc, which the other files have, is refused beside X11
    export SLURM_LINES=PrologFlags=X11$'\n'ProctrackType=proctrack/pgid
    start_slurm CR_CPU CPUs=2
    [ -n "${NO_CLUSTER:-}" ] || for host in node0 node1; do "$CLUSTER" sshd $host KILL; done
}
teardown_file() { stop_cluster; }
setup() {
    start_cluster_test
    command -v xauth >/dev/null || skip "no xauth here"
    unset TPRUN_OPTIONS DISPLAY XAUTHORITY
    need_cores 2
    cat >server <<-'END'
	import os, socketserver
	class Answer(socketserver.StreamRequestHandler):
	    def handle(self):
	        self.wfile.write(b"X server: " + self.rfile.readline())
	os.makedirs("/tmp/.X11-unix", exist_ok=True)
	socketserver.ThreadingUnixStreamServer("/tmp/.X11-unix/X7", Answer).serve_forever()
	END
    start_on head python3 server
    # A task: what it is told, and what it hears from the X server there.
    cat >client <<-'END'
	#!/bin/bash
	exec 9<>/dev/tcp/localhost/$((6000 + $(cut -d: -f2 <<<"${DISPLAY%.*}")))
	echo "$(hostname) has $(xauth list | grep -o '[0-9a-f]*$')" >&9
	read -r heard <&9
	echo "$heard"
	END
    chmod +x client
    export DISPLAY=:7 XAUTHORITY=$PWD/keys
    touch keys
    on head xauth -q add head/unix:7 MIT-MAGIC-COOKIE-1 0123456789abcdef0123456789abcdef
    wait_for 10 on head test -S /tmp/.X11-unix/X7
}
teardown() {
    [ -z "${NO_CLUSTER:-}" ] || return 0
    slurm scancel --user=root
    processes head python3 server | xargs -r kill
    "$CLUSTER" exec head rm -rf /tmp/.X11-unix
    hosts_clean 12
}
# shellcheck disable=SC2016
SHOW='echo "$(hostname) ${DISPLAY-unset} ${XAUTHORITY-unset}"'
in_job() { # OPTIONS COMMAND...: with a slot on each of both nodes; what it printed, sorted, is in $said
    said=$(slurm salloc --quiet -N 2 -n 2 --ntasks-per-node 1 "$@" | sort)
    echo "$said"
}
ANSWERS=$(printf 'X server: node%s has 0123456789abcdef0123456789abcdef\n' 0 1)

@test "tasks on each node reach the X server by what Slurm gave that node" {
    in_job --x11 "$TPRUN" -N 2 -n 2 ./client
    equal "$said" "$ANSWERS"
}

@test "so do tasks whose agent another node's agent started, and those of a tprun on the job's first node" {
    in_job --x11 "$TPRUN" --fanout 1 -N 2 -n 2 ./client
    equal "$said" "$ANSWERS"
    in_job --x11 srun --overlap -N 1 -n 1 "$TPRUN" -N 2 -n 2 ./client
    equal "$said" "$ANSWERS"
}

@test "-x and --env-remove say otherwise, and a node without X11 has no display" {
    in_job --x11 "$TPRUN" -N 2 -n 2 -x DISPLAY=far:1 sh -c "$SHOW"
    equal "$said" "$(printf 'node0 far:1 unset\nnode1 far:1 unset')"
    in_job --x11 "$TPRUN" -N 2 -n 2 --env-remove DISPLAY --env-remove XAUTHORITY sh -c "$SHOW"
    equal "$said" "$(printf 'node0 unset unset\nnode1 unset unset')"
    in_job --x11=first "$TPRUN" -N 2 -n 2 sh -c "$SHOW"
    [[ $said = $'node0 localhost:'*'.0 /tmp/'*$'\nnode1 unset unset' ]]
    in_job "$TPRUN" -N 2 -n 2 sh -c "$SHOW"
    equal "$said" "$(printf 'node0 unset unset\nnode1 unset unset')"
}
