# tprun by the name of mpiexec.
load ../lib/common
setup_file() { build_programs; }
setup() {
    start_test
    unset TPRUN_OPTIONS # more tasks than cores go without it
    mkdir -p bin
    ln -s "$TPRUN" bin/mpiexec
    export PATH=$PWD/bin:$PATH
}
teardown() { nothing_left 4; }

mpiexec() { timeout --foreground -k 5 "${LIMIT:-60}" mpiexec "$@"; }

@test "mpiexec runs as many tasks as are asked for, silently, however few cores there are" {
    run -0 --separate-stderr mpiexec -n 5 sh -c 'echo $PMI_RANK of $PMI_SIZE'
    equal "$(sort <<<"$output")" "$(printf '%d of 5\n' 0 1 2 3 4)"
    equal "$stderr" ""
    run -1 --separate-stderr mpiexec -n 4097 --nooversubscribe true
    [[ "$stderr" == "tprun: "*"4097 tasks"* ]]
}

@test "two programs that need each other run side by side without a message" {
    for some in "" "-bind-to core" "-ppn 2"; do
        rm -f there
        # shellcheck disable=SC2086
        mpiexec -n "$(nproc)" $some sh -c 'until [ -e there ]; do sleep 0.05; done' >first 2>&1 3>&- &
        local server=$!
        # shellcheck disable=SC2086
        run -0 --separate-stderr mpiexec -n "$(nproc)" $some sh -c 'echo here; : >there'
        equal "${#lines[@]}" "$(nproc)"
        equal "$stderr" ""
        wait $server
        equal "$(cat first)" ""
    done
}

@test "tasks are bound only where an option asks for it" {
    need_cores 2
    local all
    all=$(taskset -cp $$ | sed 's/.*: //')
    run -0 --separate-stderr mpiexec -n 1 sh -c 'taskset -cp $$ | sed "s/.*: //"'
    equal "$output" "$all"
    run -0 --separate-stderr mpiexec -n 1 -bind-to hwthread sh -c 'taskset -cp $$ | sed "s/.*: //"'
    [[ "$output" =~ ^[0-9]+$ ]]
    TPRUN_OPTIONS="--bind-to hwthread" run -0 --separate-stderr mpiexec -n 1 \
        sh -c 'taskset -cp $$ | sed "s/.*: //"'
    [[ "$output" =~ ^[0-9]+$ ]]
}

# ranks LAUNCHER...: how many tasks it starts, silently
ranks() {
    timeout --foreground -k 5 60 "$@" echo x >out 2>err
    equal "$(cat err)" ""
    wc -l <out
}

@test "without -n there are as many tasks as the launcher of that name starts" {
    for name in mpirun mpirun.openmpi mpiexec.hydra; do
        ln -sf "$TPRUN" "bin/$name"
    done
    printf 'localhost slots=3\n' >slots
    printf 'localhost:3\n' >counts
    printf 'localhost\n' >plain
    printf 'localhost\nlocalhost\n' >twice
    local cores
    cores=$("$TPRUN" -n all echo x | wc -l)
    [ "$cores" -ge 1 ] # tprun knows what is meant
    equal "$(ranks mpirun.openmpi)" "$cores"
    equal "$(ranks mpiexec.hydra)" 1
    # Where nothing tells whose mpirun is meant, it is the next one in PATH.
    for name in mpirun.openmpi mpirun.mpich; do
        mkdir $name
        printf '#!/bin/sh\nexit 9\n' >$name/$name
        chmod +x $name/$name
        ln -s $name $name/mpirun
    done
    printf '#!/bin/sh\necho script\n' >script
    chmod +x script
    local system=$PATH
    PATH=$PWD/bin:$PWD/mpirun.openmpi:$PWD/mpirun.mpich:$system
    equal "$(ranks mpirun) $(ranks mpirun ./script) $(ranks mpirun -genv A 1)" "$cores $cores 1"
    PATH=$PWD/bin:$PWD/mpirun.mpich:$PWD/mpirun.openmpi:$system
    equal "$(ranks mpirun) $(ranks mpirun ./script) $(ranks mpirun -x A=1)" "1 1 $cores"
    PATH=$system
    equal "$(ranks mpirun -hostfile slots) $(ranks mpirun.openmpi -hostfile slots)" "3 3"
    equal "$(ranks mpirun -hostfile counts) $(ranks mpiexec.hydra -f counts)" "3 3"
    equal "$(ranks mpirun -hostfile plain) $(ranks mpiexec.hydra -f plain)" "$cores 1"
    equal "$(ranks mpirun -hostfile twice) $(ranks mpiexec.hydra -f twice)" "2 2"
    equal "$(ranks mpirun -host localhost,localhost:2)" 3
    equal "$(ranks mpirun -hostfile <(cat slots))" 3
    export SLURM_JOB_ID=17 SLURM_JOB_NODELIST SLURM_JOB_CPUS_PER_NODE=8 SLURM_TASKS_PER_NODE=3
    SLURM_JOB_NODELIST=$(hostname)
    equal "$(ranks mpirun) $(ranks mpiexec.hydra) $(ranks mpirun -n 2)" "3 3 2"
}

@test "the MPI that a program is linked with tells the dialect where the name does not" {
    need_mpich
    ln -sf "$TPRUN" bin/mpirun
    run -0 --separate-stderr mpiexec -v "$PROGRAMS/mpi-allreduce"
    has_line "$output" "sums over 1 task* are right"
    [ -x "$OPENMPI/mpi-allreduce" ] || skip "needs Open MPI"
    run -0 --separate-stderr mpiexec "$OPENMPI/mpi-allreduce"
    has_line "$output" "sums over $(tprun -n all echo x | wc -l) task* are right"
}

@test "a program of the current directory is found, after those of PATH, but not by hydra's name" {
    ln -sf "$TPRUN" bin/mpiexec.hydra
    ln -sf "$TPRUN" bin/mpirun.openmpi
    printf '#!/bin/sh\necho mine $FOO\n' | tee prog1 >./env
    chmod +x prog1 env
    mkdir deep
    printf '#!/bin/sh\necho deep\n' >deep/prog2
    chmod +x deep/prog2
    for name in mpiexec mpirun.openmpi; do
        run -0 --separate-stderr timeout 60 $name -n 1 prog1
        equal "$output$stderr" "mine"
        run -0 --separate-stderr timeout 60 $name -n 1 -wdir deep prog2
        equal "$output$stderr" "deep"
    done
    run -0 --separate-stderr mpiexec -genv FOO=5 -n 1 ./prog1
    equal "$output$stderr" "mine 5"
    run -0 --separate-stderr mpiexec -n 1 -env FOO=6 env
    has_line "$output" "FOO=6"
    run -127 --separate-stderr timeout 60 mpiexec.hydra -n 1 prog1
    has_line "$stderr" "tprun: *cannot run prog1: not found along PATH*"
}

@test "mixed and contradicting options run, or are refused with what to write" {
    for name in mpirun mpirun.openmpi mpiexec.hydra; do
        ln -sf "$TPRUN" "bin/$name"
    done
    run -0 --separate-stderr mpiexec -n 1 -genv A 1 -x B=2 --mca no_such thing -x NOT_SET \
        sh -c 'echo $A$B$OMPI_MCA_no_such'
    equal "$output$stderr" 12thing
    equal "$(ranks mpirun -np 2 -np 3) $(ranks mpirun -npernode 2 -ppn 2)" "3 2"
    run -0 --separate-stderr mpiexec -v --mca rmaps_base_x 1 -n 1 true
    has_line "$stderr" "tprun: -mca: ignored, since they are for Open MPI's own launcher: rmaps_base_x"
    run -2 --separate-stderr timeout 60 mpiexec.hydra -n 2 -np 3 true
    has_line "$stderr" "tprun: -n is given twice, as 2 and as 3: write one of them"
    run -2 --separate-stderr mpiexec -ppn 2 -npernode 3 true
    has_line "$stderr" "tprun: -ppn 2 and -npernode 3 both say how many ranks go where: write one of them"
    run -2 --separate-stderr mpiexec -npernode 2 -npernode 3 true
    has_line "$stderr" "tprun: -npernode 2 and -npernode 3 both say *: write one of them"
    run -2 --separate-stderr mpiexec -npernode 2 --map-by ppr:3:socket true
    has_line "$stderr" "tprun: -npernode 2 and ppr:3:socket both say *: write one of them"
    run -2 --separate-stderr mpiexec -pernode -N 2 true
    has_line "$stderr" "tprun: -pernode and -N 2 both say *: write one of them"
    equal "$(ranks mpirun -npernode 2 --map-by ppr:2:node)" 2
    run -1 --separate-stderr mpiexec -n 2 --map-by ppr:1:node true
    has_line "$stderr" "tprun: asked for 2 tasks, 1 fits *--oversubscribe runs them all"
    equal "$(ranks mpirun -n 2 --map-by ppr:1:node --oversubscribe)" 2
    echo localhost >hosts
    run -2 --separate-stderr mpiexec -f hosts -hosts localhost -n 1 true
    has_line "$stderr" "tprun: -hosts and the hostfile hosts both name the hosts: leave one of them out"
    equal "$(ranks mpirun -hostfile hosts -host localhost:3)" 3
}

@test "MPICH's options for parts, directories, labels and variables do what they do there" {
    mkdir there
    run -0 --separate-stderr mpiexec -l -genv A 1 -env B 2 -n 2 sh -c 'echo $A$B$C' : \
        -n 1 -env C 3 -env A 4 -wdir there sh -c 'echo $A$B$C ${PWD##*/}'
    equal "$(sort <<<"$output")" "$(printf '0: 12\n1: 12\n2: 43 there')"
}

@test "-genvlist passes on only the variables that it names, and -genvnone passes on none" {
    export KEPT=1 LOST=2
    run -0 --separate-stderr mpiexec -genvlist KEPT,NOT_THERE -n 1 /usr/bin/env
    has_line "$output" KEPT=1
    has_line "$output" "HOME=$HOME"
    [[ "$output" != *LOST* ]]
    run -0 --separate-stderr mpiexec -genvnone -genv MINE 3 -n 1 /usr/bin/env
    has_line "$output" MINE=3
    [[ "$output" != *LOST* && "$output" != *KEPT* ]]
}

@test "a file has a part in each line" {
    cat >file <<'end'
# who does what
-n 1 -env X "a b" sh -c 'echo "first $X"'

-n 2 echo second
end
    run -0 --separate-stderr mpiexec -l -configfile file
    equal "$(sort <<<"$output")" "$(printf '0: first a b\n1: second\n2: second')"
    run -2 --separate-stderr mpiexec -configfile file true
    has_line "$stderr" "tprun: -configfile: file says what to run: leave out \"true\""
    has_line "$stderr" "tprun: 'mpiexec --help' lists the options"
}

@test "a program behind -app is ignored, as mpirun ignores it" {
    printf '%s\n' "-np 1 echo a" "-np 1 echo b" >schema
    run -0 mpiexec -app schema '</dev/null'
    [ "$(sort <<<"$output")" = "a
b" ]
    run -2 --separate-stderr mpiexec -app schema -n 2
    has_line "$stderr" 'tprun: -app: schema says what to run: leave out "-n"'
}

@test "-outfile-pattern and -errfile-pattern write a file for each rank" {
    run -0 --separate-stderr mpiexec -n 2 -outfile-pattern out.%r -errfile-pattern err.%r \
        sh -c 'echo o$PMI_RANK; echo e$PMI_RANK >&2'
    equal "$output$stderr" ""
    equal "$(cat out.0 out.1 err.0 err.1)" "$(printf 'o0\no1\ne0\ne1')"
}

@test "hosts with counts, -ppn and ppr place ranks as the launchers they come from" {
    map() {
        env mpiexec --dry-run --format=json "$@" x | tr -d ' \n' | sed 's/.*"map":\([^}]*\)}.*/\1/'
    }
    local nodes=(--topology 'a,b=package:2 core:4 pu:1')
    equal "$(map "${nodes[@]}" -n 8 -ppn 2)" "[[0,2,2,2]]"
    equal "$(map "${nodes[@]}" -ppn 2)" "[[0,2,2,1]]"
    equal "$(map "${nodes[@]}" --map-by ppr:1:socket)" "[[0,2,2,1]]"
    equal "$(map "${nodes[@]}" -N 3 -n 4)" "[[0,1,3,1],[1,1,1,1]]"
    equal "$(map -host localhost:3)" "[[0,1,3,1]]"
}

@test "variables of the launchers decide what the command line leaves open" {
    ln -s "$TPRUN" bin/mpiexec.hydra
    ln -s "$TPRUN" bin/mpirun.openmpi
    echo localhost:3 >hosts
    equal "$(HYDRA_HOST_FILE=hosts ranks mpiexec.hydra)" 3
    equal "$(HYDRA_HOST_FILE=hosts ranks mpiexec.hydra -n 2)" 2
    equal "$(HYDRA_HOST_FILE=hosts ranks mpirun.openmpi -n 2)" 2
    equal "$(OMPI_MCA_orte_default_hostfile=hosts ranks mpirun.openmpi)" 3
    HYDRA_HOST_FILE=no-file run -1 --separate-stderr mpiexec.hydra -n 1 true
    [[ "$stderr" == *no-file* ]]
}

@test "a last colon, blanks in a hostfile and ssh for this machine do no harm" {
    ln -s "$TPRUN" bin/mpirun
    run -0 --separate-stderr mpirun -n 1 echo a : -n 1 echo b :
    equal "$(sort <<<"$output")" "$(printf 'a\nb')"
    run -2 --separate-stderr mpirun -n 1 echo a : -n 1
    has_line "$stderr" 'tprun: no program to run in part 2: write one on each side of a ":"'
    printf 'localhost slots = 3\n' >hosts
    equal "$(ranks mpirun -hostfile hosts)" 3
    run -0 --separate-stderr mpiexec -launcher ssh -launcher-exec false -n 1 echo here
    equal "$output" here
    equal "$stderr" ""
}

@test "with -disable-auto-cleanup a task that fails ends no others" {
    ln -s "$TPRUN" bin/mpiexec.hydra
    local option task='[ $TPRUN_RANK = 0 ] && { : >failed; exit 3; }
        until [ -e failed ]; do sleep 0.05; done; sleep 0.5; echo on'
    for option in 'mpiexec.hydra -disable-auto-cleanup' 'mpiexec -dac' "$TPRUN -disable-auto-cleanup --oversubscribe"; do
        rm -f failed
        # shellcheck disable=SC2086 # words
        run -3 --separate-stderr timeout 60 $option -n 2 sh -c "$task"
        equal "$output" on
    done
    grep -q 'disable-auto-cleanup, -dac  *--on-failure=continue$' <(env mpiexec --help)
    grep -A 1 'disable-auto-cleanup No' "$ROOT/man/tprun.1" | grep -q 'The same as'
}

@test "MPIEXEC_TIMEOUT and -timeout end a program" {
    MPIEXEC_TIMEOUT=1 run -124 --separate-stderr mpiexec -n 2 sleep 30
    run -124 --separate-stderr mpiexec -timeout 1 -n 2 sleep 30
    MPIEXEC_TIMEOUT=1 run -0 --separate-stderr mpiexec -timeout 30 -n 1 sleep 1.5
}

@test "help fits a screen's width; what is not known, or has no equal, is said in a sentence" {
    run -0 --separate-stderr mpiexec --help
    [ -z "$stderr" ]
    [ "$(wc -L <<<"$output")" -le 80 ]
    has_line "$output" "*-genv NAME VALUE *--env=NAME=VALUE"
    for title in "Options of MPICH and Open MPI with one meaning, and what tprun does" \
        "Options of "{MPICH,"Open MPI"}", and what tprun does" \
        "Ignored options of "{MPICH,"Open MPI"}", and why" \
        "Refused options of "{MPICH,"Open MPI"}", and what to write instead"; do
        has_line "$output" "$title:"
    done
    [ -z "$(grep -A 1 ':$' <<<"$output" | grep -x '')" ] # each title has something below it
    equal "$(tprun --help mpiexec)" "$output"
    run -0 --separate-stderr mpiexec -version
    has_line "$output" "tprun *"
    run -2 --separate-stderr mpiexec -frobnicate true
    has_line "$stderr" "tprun: unknown option \"-frobnicate\" (long options of tprun itself *"
    run -2 --separate-stderr mpiexec -bind-to user:0,1 -n 2 true
    has_line "$stderr" "tprun: -bind-to: \"user\" is not supported: write --rankfile FILE *"
    run -2 --separate-stderr mpiexec -n 2
    has_line "$stderr" "tprun: no program to run*"
}

@test "the manual has every name of the table" {
    local names
    grep -o 'Fl [a-zA-Z][a-zA-Z-]*' "$ROOT/man/tprun-mpiexec.1" | sed 's/Fl /-/' | sort -u >page
    names=$(env mpiexec --help | grep '^  *-' | sed 's/^ *//; s/  .*//' |
        grep -oE '(^| )-[a-zA-Z][a-zA-Z-]*' | tr -d ' ' | sort -u)
    [ "$(wc -l <<<"$names")" -gt 200 ]
    equal "$(comm -23 <(echo "$names") page)" ""
}

@test "MPICH's programs run under mpiexec, which prints nothing of its own" {
    need_mpich
    run -0 --separate-stderr mpiexec -n 4 -bind-to core -map-by socket "$PROGRAMS/mpi-allreduce"
    equal "$output$stderr" "sums over 4 tasks are right"
    run -0 --separate-stderr mpiexec -n 1 "$PROGRAMS/mpi-appnum" : -n 2 "$PROGRAMS/mpi-appnum"
    equal "${#lines[@]}" 3
    run -0 --separate-stderr mpiexec -n 2 "$PROGRAMS/mpi-fail" abort 1 0 # as both launchers end
    has_line "$stderr" "tprun: rank 1 on $(hostname): aborted the program with code 0"
    run -7 --separate-stderr mpiexec -n 2 -disable-auto-cleanup "$PROGRAMS/mpi-fail" abort 1
}

# ---- a process that was started without a launcher ----

singleton() { timeout -s KILL 30 "$PROGRAMS/singleton" "$@"; }

# part_of PID WHAT: the process of a singleton's launcher that this is: each is the next one's parent.
part_of() {
    local pid=$1 part
    for part in mpiexec manager agent tpsingleton; do
        pid=$(pgrep -P "$pid") || return
        [ "$part" != "$2" ] || break
    done
    echo "$pid"
}

@test "a process without a launcher gets one when it asks" {
    run -0 --separate-stderr singleton finalize
    equal "$output" "cmd=singinit authtype=none
cmd=singinit_info versionok=yes stdio=no kvsname
cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0
cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024
cmd=universe_size size=-1
cmd=barrier_out
cmd=publish_result info=ok rc=0 msg=success
cmd=lookup_result port=x info=ok rc=0 msg=success
cmd=finalize_ack
mpiexec ended with 0"
    equal "$stderr" ""
    run -0 --separate-stderr singleton new
    has_line "$output" "mpiexec ended with 0"
    has_line "$stderr" "tprun: program *"
}

@test "no session is opened for another user, who has the port of a process that is gone" {
    [ "$(id -u)" = 0 ] || skip "only root can be another user"
    cat >other.py <<'END'
import os, socket, subprocess
os.seteuid(65534)
listener = socket.create_server(("127.0.0.1", 0))
os.seteuid(0)
words = [str(listener.getsockname()[1]), "default_interface", "default_key", str(os.getpid())]
child = subprocess.Popen(["mpiexec", "-pmi_args"] + words)
os.seteuid(65534)
far = listener.accept()[0]
far.recv(1000)
far.sendall(b"cmd=singinit pmi_version=1 pmi_subversion=1 stdio=no authtype=none\n")
print("told", far.recv(1000))
far.close()
os.seteuid(0)
print("ended with", child.wait())
END
    run -0 --separate-stderr timeout -k 1 30 python3 other.py
    equal "$output" "told b''
ended with 1"
    has_line "$stderr" "tprun: singleton: the process is not known to be this user's"
}

@test "a process that goes without finalizing ends its launcher" {
    run -0 --separate-stderr singleton vanish
    nothing_left 4
}

@test "a process that asks for a launcher goes on alone when that cannot serve it" {
    TPRUN_OPTIONS=--nosuch run -3 --separate-stderr singleton finalize
    equal "$output" closed
    has_line "$stderr" "tprun: TPRUN_OPTIONS: *--nosuch*"
    TPRUN_OPTIONS='--hosts nosuch.invalid' run -3 --separate-stderr singleton finalize
    equal "$output" closed
}

@test "a process that ends at any point leaves nothing behind, nor what it spawned" {
    for stdio in no yes; do
        for how in deaf silent stay; do
            TPRUN_SINGLETON_STDIO=$stdio "$PROGRAMS/singleton" "$how" </dev/null >said 2>&1 3>&- &
            local pid=$!
            wait_for 10 part_of $pid tpsingleton
            [ "$how" != stay ] || wait_for 10 grep -q universe_size said
            kill -KILL $pid
            nothing_left 6
        done
        TPRUN_SINGLETON_STDIO=$stdio run -0 --separate-stderr singleton spawn
        has_line "$output" "cmd=spawn_result rc=0*"
        nothing_left 6
    done
}

@test "a process that got a launcher is told when that ends, and goes on" {
    mkfifo input
    sleep 60 >input 3>&- &
    local writer=$!
    for victim in mpiexec agent tpsingleton; do
        TPRUN_SINGLETON_STDIO=yes "$PROGRAMS/singleton" leave <input >said 2>&1 3>&- &
        local pid=$!
        wait_for 10 grep -q universe_size said
        kill -KILL "$(part_of $pid $victim)"
        local status=0
        wait $pid || status=$?
        equal $status 5 # its input has ended
    done
    kill $writer
}

@test "a process that got a launcher keeps its input and output, or has the launcher's where that is asked for" {
    TPRUN_OPTIONS=-l run -5 --separate-stderr singleton talk <<<$'a\nb'
    has_line "$output" "cmd=singinit_info versionok=yes stdio=no kvsname"
    equal "$(tail -n 2 <<<"$output")" $'out a\nout b'
    equal "$stderr" $'err a\nerr b'
    TPRUN_SINGLETON_STDIO=yes TPRUN_OPTIONS=-l run -5 --separate-stderr singleton talk <<<$'a\nb'
    has_line "$output" "cmd=singinit_info versionok=yes stdio=yes kvsname"
    equal "$(tail -n 2 <<<"$output")" $'0: out a\n0: out b'
    equal "$stderr" $'0: err a\n0: err b'
    TPRUN_SINGLETON_STDIO=yes TPRUN_OPTIONS=-l run -0 --separate-stderr singleton shy
    has_line "$output" "cmd=singinit_info versionok=yes stdio=no kvsname"
    TPRUN_SINGLETON_STDIO=maybe run -3 --separate-stderr singleton finalize
    equal "$output" closed
    has_line "$stderr" "tprun: TPRUN_SINGLETON_STDIO: expected yes or no, got \"maybe\""
}

@test "the last output of a process that got a launcher is not lost, and input that it does not read holds nobody up" {
    seq 200000 >numbers
    for how in talk leave; do
        TPRUN_SINGLETON_STDIO=yes run -5 --separate-stderr singleton $how <numbers
        cmp <(sed -n 's/^out //p' <<<"$output") numbers
        cmp <(grep '^err' <<<"$stderr" | cut -c 5-) numbers
    done
}

@test "a process that got a launcher gets PMI 1.2 when it asks, and no PMI-2" {
    run -0 --separate-stderr singleton later
    has_line "$output" "cmd=response_to_init pmi_version=1 pmi_subversion=2 rc=0"
    has_line "$output" "cmd=barrier_out tag=0"
    run -3 --separate-stderr singleton second
    equal "$output" "cmd=singinit authtype=none
cmd=singinit_info versionok=no stdio=no kvsname
closed"
    has_line "$stderr" "tprun: singleton: the process speaks another version than PMI-1"
}

@test "-pmi_args without a port is refused" {
    run -2 --separate-stderr mpiexec -pmi_args 65536 default_interface default_key 1
    has_line "$stderr" "tprun: -pmi_args: \"65536\" is not a port (expected 1 to 65535)"
    run -2 --separate-stderr mpiexec -pmi_args 1
    run -1 --separate-stderr mpiexec -pmi_args 1 default_interface default_key 1
    has_line "$stderr" "tprun: singleton: the process that asked is not there any more"
}

@test "MPICH's singletons ask for the universe, which has no limit, and publish names" {
    need_mpich
    run -0 --separate-stderr timeout -s KILL 30 "$PROGRAMS/mpi-alone"
    equal "$output$stderr" "1 of mine, no universe, the name is here"
    TPRUN_SINGLETON_STDIO=yes TPRUN_OPTIONS=-l \
        run -0 --separate-stderr timeout -s KILL 30 "$PROGRAMS/mpi-alone"
    equal "$output$stderr" "0: 1 of mine, no universe, the name is here"
}
