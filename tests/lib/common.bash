# shellcheck shell=bash
# What every bats file loads.
#   TPRUN      the tprun to test (default: the one of build/gcc)
#   PROGRAMS   where the test programs are compiled (default: beside it); $OPENMPI: with Open MPI
#   REPORTS    of a tprun built with sanitizers: the directory where they write what they find
bats_require_minimum_version 1.5.0

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
export ROOT
export TPRUN=${TPRUN:-$ROOT/build/gcc/tprun}
export PROGRAMS=${PROGRAMS:-$(dirname "$TPRUN")/programs}
export OPENMPI=$PROGRAMS/openmpi
export LC_ALL=C.UTF-8
# Whoever finds something writes it there, wherever its stderr goes, and ends.
if [ -n "${REPORTS:-}" ]; then
    # Tasks are executed by a clone on a stack of its own: the frames that GCC 16's AddressSanitizer has in place of
    # that stack are the parent's, and are freed while they are in use.
    export ASAN_OPTIONS=log_path=$REPORTS/report:handle_sigill=1:detect_stack_use_after_return=0
    export LSAN_OPTIONS=suppressions=$ROOT/tests/lib/leaks:print_suppressions=0
    export UBSAN_OPTIONS=log_path=$REPORTS/report:print_stacktrace=1:halt_on_error=1
fi
# Open MPI 5 asks the kernel whether TCP reaches a peer, and takes one at its own address for
# unreachable (open-mpi/ompi issue 14079): where a machine has no other, its tasks say so, and jobs that
# connect or spawn are not connected. Nor are they under its own mpirun.
export OMPI_MCA_reachable=${OMPI_MCA_reachable:-weighted}
unset PMI_FD PMI_RANK PMI_SIZE PMI_PORT MPIEXEC_TIMEOUT TPRUN_R TPRUN_RANK TPRUN_PROGRAM TPRUN_INSTANCE
unset SLURM_JOB_ID SLURM_JOBID PBS_JOBID LSB_JOBID FLUX_JOB_ID FLUX_URI PE_HOSTFILE
unset K_MPI_JOB_ROLE KUBERNETES_SERVICE_HOST HYDRA_HOST_FILE

build_programs() {
    [ -x "$TPRUN" ] || { echo "$TPRUN is not there: make it, or set TPRUN" >&2; return 1; }
    "$ROOT/tests/programs/build" "$PROGRAMS" >&2
}

# An instance of its own for each test, a mark by which its processes are known, and leave to put
# more tasks on this machine than it has cores.
start_test() {
    mkdir -p -m 700 "$BATS_TEST_TMPDIR/run"
    export TPRUN_RUNTIME_DIR=$BATS_TEST_TMPDIR/run
    export XDG_STATE_HOME=$BATS_TEST_TMPDIR/state
    export TPRUN_OPTIONS=--oversubscribe
    export TPRUN_CONFIG= # the machine's own files do not count
    export TEST_MARK=$$.$BATS_TEST_NUMBER.$RANDOM
    cd "$BATS_TEST_TMPDIR" || return
}

tprun() { timeout --foreground -k 5 "${LIMIT:-60}" "$TPRUN" "$@"; }

# Processes of this test: every descendant has the mark in its environment.
marked() {
    local file pattern="^TEST_MARK=$TEST_MARK\$"
    for file in $(env -u TEST_MARK grep -lsz "$pattern" /proc/[0-9]*/environ); do
        file=${file#/proc/}
        echo "${file%/*}"
    done
}

# Of time and memory, and where a library of the build is loaded into other programs.
need_plain_build() { [ -z "${REPORTS:-}" ] || skip "with sanitizers $1"; }
# Fails and shows what sanitizers found. Once: the next test is not to blame.
nothing_found() {
    local report found=0
    [ -n "${REPORTS:-}" ] || return 0
    for report in "$REPORTS"/report.*; do
        grep -qsvf "$ROOT/tests/lib/no-findings" "$report" || continue
        echo "a sanitizer found:"
        cat "$report"
        mv "$report" "$REPORTS/shown.${report##*/report.}"
        found=1
    done
    return "$found"
}

# Fails, shows and ends what a test left behind; what is ending gets SECONDS (default 2) for it.
nothing_left() {
    local i pids
    for ((i = 0; i < ${1:-2} * 20; i++)); do
        pids=$(marked)
        [ -n "$pids" ] || { nothing_found; return; }
        sleep 0.05
    done
    echo "left behind:"
    ps -o pid,ppid,stat,args -p "$(paste -sd, <<<"$pids")"
    xargs -r kill -9 <<<"$pids"
    return 1
}

# wait_for SECONDS COMMAND...: until the command succeeds.
wait_for() {
    local i most=$(($1 * 20))
    shift
    for ((i = 0; i < most; i++)); do
        "$@" >/dev/null 2>&1 && return
        sleep 0.05
    done
    echo "in vain for $((most / 20)) s: $*"
    return 1
}
lines_are() { [ "$(wc -l <"$1")" -ge "$2" ]; } # FILE N: it has N lines at least
in_typescript() { [ "$(grep -c "$1" typescript)" -ge "$2" ]; } # PATTERN N: so many lines of it at least

# within SECONDS TOOK: it took no longer than that and 40 times what a run of nothing takes now: a
# second on a machine that does nothing else, and more on one that is busy.
within() {
    local from slack
    from=$(date +%s%N)
    tprun --overlap -n 1 true
    slack=$((($(date +%s%N) - from) * 40 / 1000000000))
    echo "took $2 s of $1 + $slack s"
    [ "$2" -le "$(($1 + slack))" ]
}
# Processor time in ms of a command: no matter what else the machine does.
processor_ms() {
    local TIMEFORMAT='%U %S'
    { time "$@" >/dev/null 2>&1; } 2>&1 | awk '{ print int(($1 + $2) * 1000) }'
}

# start COMMAND...: in the background, with the signals that an interactive shell would give it;
# sets $job; its output goes to files out and err.
start() {
    rm -f out err
    env --default-signal "$@" >out 2>err 3>&- &
    job=$!
}
finish() { # sets $status
    status=0
    wait "$job" || status=$?
}

# lock_file FILE...: in the background, whole, until $locker is ended.
lock_file() {
    local i
    python3 -c '
import fcntl, os, struct, sys, time
for name in sys.argv[1:]:
    file = open(name, "a+b", 0)
    fcntl.fcntl(file, fcntl.F_OFD_SETLKW, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0))
    os.pwrite(os.open(name, os.O_WRONLY), b"%-15d\n" % os.getpid(), 0)
    globals()[name] = file
print("locked", flush=True)
time.sleep(100)' "$@" >locked 3>&- &
    locker=$!
    wait_for 5 lines_are locked 1
}

# The text has a line that the pattern (a bash glob) matches.
has_line() {
    local line
    while IFS= read -r line; do
        # shellcheck disable=SC2053
        [[ $line == $2 ]] && return
    done <<<"$1"
    echo "no line like: $2"
    echo "in:"
    echo "$1"
    return 1
}

equal() {
    [ "$1" = "$2" ] || { printf 'expected:\n%s\ngot:\n%s\n' "$2" "$1"; return 1; }
}

# ./app is linked with a library of that name, in ./lib, and does nothing but exit.
linked_with() { # SONAME [STATUS]
    mkdir -p lib
    echo 'int MPI_Init(void *c, void *v) { return c != v; }' >lib.c
    echo "int MPI_Init(void *c, void *v);
        int main(int c, char **v) { return c > 9 ? MPI_Init(&c, v) : ${2:-0}; }" >app.c
    "${CC:-cc}" -shared -fPIC -o "lib/$1" -Wl,-soname,"$1" lib.c
    # shellcheck disable=SC2016
    "${CC:-cc}" -o app app.c "lib/$1" -Wl,-rpath,'$ORIGIN/lib'
}

serves_pmix() { "$TPRUN" --pmi pmix --print-spec true >/dev/null 2>&1; } # or is built without
# What takes steps in PMI through this tree's libpmi or libpmi2; tests/steps says which.
steps_of() { # libpmi|libpmi2: sets $STEPS
    STEPS=$(dirname "$TPRUN")/tests/steps/$1-steps
    [ -x "$STEPS" ] || skip "no $STEPS: make it"
}

need_mpich() { command -v mpicc.mpich >/dev/null || skip "no mpicc.mpich here"; }
need_openmpi() {
    command -v mpicc.openmpi >/dev/null || skip "no mpicc.openmpi here"
    "$TPRUN" --version | grep -qi 'pmix [0-9]' || skip "this tprun has no PMIx"
}
PYTHON=/usr/bin/python3 # Debian's, whose mpi4py is Open MPI's
need_mpi4py() { "$PYTHON" -c 'import mpi4py' 2>/dev/null || skip "no python3-mpi4py here"; }
need_pmix_programs() {
    pkg-config --exists pmix || skip "no libpmix-dev here"
    "$TPRUN" --version | grep -qi 'pmix [0-9]' || skip "this tprun has no PMIx"
}
openmpi_major() { mpirun.openmpi --version | sed -n 's/^mpirun.* \([0-9]*\)\..*/\1/p'; }
# What mpi-spawns says of a spawn that failed. Open MPI 5 makes a negative number of the error's, which
# no class has, under its own mpirun as well.
openmpi_spawn_error() {
    [ "$(openmpi_major)" -lt 5 ] && echo "an error of spawn: MPI_ERR_SPAWN: could not spawn processes" ||
        echo "an error of another class: MPI_ERR_UNKNOWN: unknown error"
}
# Settings with which Open MPI fetches keys when they are wanted. Without a modex 5 hangs, under its own
# mpirun every other time.
openmpi_fetches() {
    echo pmix_base_collect_data=0
    [ "$(openmpi_major)" -ge 5 ] || echo pmix_base_async_modex=1
}
pmix_major() { "$TPRUN" --version | sed -n 's/.*PMIx \([0-9]*\).*/\1/p'; } # of the library that it uses
# stderr but for what openpmix 7 says of requests that name nobody.
but_nobody() {
    [ "$(pmix_major)" -lt 7 ] || stderr=$(grep -v \
        -e 'PMIX_ERR_NOT_A_MEMBER in file .*/pmix_client_fence.c' \
        -e 'PMIX_ERR_BAD_PARAM in file .*/pmix_server_get.c' <<<"$stderr") || :
}
# A fence of nobody's namespace, as pmix-bad says it.
# shellcheck disable=SC2154 # bats sets output
nobody_fenced() {
    if [ "$(pmix_major)" -lt 7 ]; then
        has_line "$output" "fence nobody: TIMEOUT"
    else # the client itself sees that it does not take part
        has_line "$output" "fence nobody: NOT-A-MEMBER"
    fi
}
need_cores() { [ "$(nproc)" -ge "$1" ] || skip "needs $1 cores, has $(nproc)"; }

# What MPI_COMM_TYPE_SHARED has to say (mpi-split) of the plan in FILE, the JSON of a dry run.
planned_peers() { # FILE
    jq -r '.nodes as $n | .tasks as $all | $all[] | . as $me | "rank \(.rank) on \($n[.node].host): " +
        ([$all[] | select(.node == $me.node) | .rank | tostring] | join(" "))' "$1"
}
# The same for mpi-ring.
right_ring() { # FILE
    jq -r '.nodes as $n | .ntasks as $size | .tasks[] | "rank \(.rank) of \($size) on \($n[.node].host): " +
        "\((.rank + $size - 1) % $size) is on my left"' "$1"
}

# Memory: start_watch TASKS samples the peak of every tprun and tpagent of this build until
# watch_below KIB looks at the largest. As many tasks end with $HOLD, which keeps them, and with
# them all processes, until a sample was taken of what was the peak of all their work.
# shellcheck disable=SC2016 # for the tasks' shells
HOLD='{ : >held.$TPRUN_RANK; until [ -e watched ]; do sleep 0.05; done; }'
watched() { :; } # PID: is it of this test?
start_watch() {
    local agent pid held
    agent=$(dirname "$TPRUN")/tpagent
    : >peaks
    : >watching
    while [ -e watching ]; do
        held=$(find . -maxdepth 1 -name 'held.*' | wc -l)
        for pid in /proc/[0-9]*; do # a process may be gone by now
            if { [ "$pid/exe" -ef "$TPRUN" ] || [ "$pid/exe" -ef "$agent" ]; } && watched "${pid#/proc/}"; then
                grep VmHWM: "$pid/status" >>peaks || true
            fi
        done
        [ "$held" -lt "$1" ] || : >watched
        sleep 0.1
    done 2>/dev/null 3>&- &
}
watch_below() {
    rm -f watching
    local peak
    peak=$(awk '$2 > most { most = $2 } END { print most + 0 }' peaks)
    echo "# largest tprun process: $peak KiB"
    [ "$peak" -gt 0 ] && { [ -n "${REPORTS:-}" ] || [ "$peak" -lt "$1" ]; }
}
