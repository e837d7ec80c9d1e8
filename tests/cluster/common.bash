# shellcheck shell=bash
# What the cluster's bats files load.
load ../lib/common

CLUSTER=$ROOT/tests/cluster/cluster

# Hosts for all tests of a file; where there can be none the file's tests are skipped.
start_cluster() { # N
    local reason
    build_programs
    if ! reason=$("$CLUSTER" check 2>&1); then
        export NO_CLUSTER=${reason#cluster: }
        return
    fi
    export CLUSTER_DIR=$BATS_FILE_TMPDIR/cluster
    export CLUSTER_SHARE="$(dirname "$TPRUN") $(cd "$(dirname "$TPRUN")/.." && pwd) $PROGRAMS $BATS_RUN_TMPDIR ${REPORTS:-}"
    "$CLUSTER" up "$1" 3>&-
}
stop_cluster() { [ -n "${NO_CLUSTER:-}" ] || "$CLUSTER" down; }

# Nothing but what was there before is on any host, and no cgroup of a program; what is ending gets
# SECONDS (default 3).
hosts_clean() {
    local i left
    [ -z "${NO_CLUSTER:-}" ] || return 0
    for ((i = 0; i < ${1:-3} * 10; i++)); do
        left=$("$CLUSTER" left && "$CLUSTER" cgroups)
        [ -n "$left" ] || { nothing_found; return; }
        sleep 0.1
    done
    echo "left on the hosts:"
    echo "$left"
    "$CLUSTER" left | awk '{ print $2 }' | xargs -r kill -9
    return 1
}

# Debian has Open MPI 6 use loopback alone, which reaches no other host.
if grep -qs '^btl_tcp_if_include *= *lo$' /etc/openmpi/openmpi-mca-params.conf; then
    export OMPI_MCA_btl_tcp_if_include=10.9.0.0/24
fi

start_cluster_test() {
    [ -z "${NO_CLUSTER:-}" ] || skip "$NO_CLUSTER"
    start_test
    unset TPRUN_RUNTIME_DIR # each host has a /tmp of its own
    export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
}

on() { # HOST COMMAND...
    local host=$1
    shift
    "$CLUSTER" exec "$host" timeout --foreground -k 5 "${LIMIT:-60}" "$@"
}
tprun() { on head "$TPRUN" "$@"; }
run_tprun() { # -STATUS ARGUMENTS...: with stderr apart
    local want=$1
    shift
    run "$want" --separate-stderr "$CLUSTER" exec head timeout --foreground -k 5 "${LIMIT:-60}" "$TPRUN" "$@"
}

# ---- tests of tpbatch, which is a name beside tprun's here, on the hosts, too ----
#   DIR        the test's directory, for scripts: they run on another host
#   HEAD       what `script` writes before the commands

start_tpbatch_test() {
    start_cluster_test
    unset TPRUN_OPTIONS
    mkdir bin
    ln -s "$TPRUN" bin/tpbatch
    BATCH=$PWD/bin/tpbatch
    export PATH=$PWD/bin:${TPRUN%/*}:$PATH
    export PROGRAMS OPENMPI DIR=$PWD
}
end_tpbatch_test() {
    [ -z "${NO_CLUSTER:-}" ] || return 0
    "$CLUSTER" heal 3>&-
    hosts_clean 10
}
script() { # NAME: the commands come on stdin
    { printf '#!/bin/sh\n%s' "${HEAD:-}" && cat; } >"$1"
    chmod +x "$1"
}
ALL_NODES=$'#TPRUN: -N 4 -n all --hosts node[0-3]\n'
run_batch() { # -STATUS ARGUMENTS...: with stderr apart
    run "$1" --separate-stderr "$CLUSTER" exec head timeout --foreground -k 5 "${LIMIT:-60}" "$BATCH" "${@:2}"
}

# In the background on a host (in place of `start`); sets $job, the process of this machine.
start_on() { # HOST COMMAND...
    local host=$1
    shift
    rm -f out err
    env --default-signal=INT,QUIT,PIPE "$CLUSTER" exec "$host" "$@" >out 2>err 3>&- &
    job=$!
}

# Processes of a kind: HOST NAME [PATTERN of the arguments] -> pids of this machine, oldest first
processes() {
    "$CLUSTER" left "$1" | while read -r _ pid _; do
        [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = "$2" ] || continue
        tr '\0' ' ' <"/proc/$pid/cmdline" | grep -q -- "${3:-}" || continue
        echo "$(sed 's/.*) //' "/proc/$pid/stat" | cut -d' ' -f20) $pid" # when it was started: pids begin again
    done 2>/dev/null | sort -k1,1n -k2,2n | cut -d' ' -f2
}

# know_files: what is on the hosts of a cluster of 4 once an instance was used; files_clean: nothing
# has come since. Looked at are the hosts' own file systems; names of instances are of no interest.
HOSTS="head node0 node1 node2 node3"
INSTANCE='/\(agents$\|\(register\|this-machine\|node\|hosts\)[^/]*\(/\(identity\|programs\(/\.spare-.*\)\?\|lock\|id\|claims\|\.claims\.new\|alive\|turn\|names\)\)\?$\)'
files() { # HOST
    on "$1" find /tmp /var/tmp /dev/shm /run -xdev -mindepth 1 | grep -v "$INSTANCE" | sort
}
know_files() {
    local host
    tprun -n 4 --hosts 'node[0-3]' --map-by node sleep 0.3 # so long that it is in the hosts' registers
    for host in $HOSTS; do files "$host" >"before.$host"; done
}
new_files() {
    local host
    for host in $HOSTS; do files "$host" | comm -13 "before.$host" - | sed "s/^/$host /"; done
}
no_files_left() { [ -z "$(new_files)" ]; }
files_clean() { wait_for 4 no_files_left || { new_files; return 1; }; }

# Of the hosts of this cluster: there may be others beside it.
watched() { # PID
    local space
    space=$(readlink "/proc/$1/ns/pid") || return
    [[ " ${HOST_SPACES:=$(host_spaces)} " = *" $space "* ]]
}
host_spaces() {
    local host names
    read -ra names <"$CLUSTER_DIR/names"
    for host in "${names[@]}"; do
        readlink "/proc/$(cat "$CLUSTER_DIR/$host/pid")/ns/pid"
    done | paste -sd' '
}

# An R of N hosts node0.. with all cores of this machine each.
write_R() { # FILE N
    local cores
    cores=$(lscpu -p=CORE | grep -v '^#' | sort -u | wc -l)
    printf '{"version":1,"execution":{"R_lite":[{"rank":"0-%d","children":{"core":"0-%d"}}],"nodelist":["node[0-%d]"]}}\n' \
        $(($2 - 1)) $((cores - 1)) $(($2 - 1)) >"$1"
}
