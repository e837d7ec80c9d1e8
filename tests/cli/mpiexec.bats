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

@test "parts, directories, labels and variables of MPICH's command line" {
    mkdir there
    run -0 --separate-stderr mpiexec -l -genv A 1 -env B 2 -n 2 sh -c 'echo $A$B$C' : \
        -n 1 -env C 3 -env A 4 -wdir there sh -c 'echo $A$B$C ${PWD##*/}'
    equal "$(sort <<<"$output")" "$(printf '0: 12\n1: 12\n2: 43 there')"
}

@test "of the caller's variables those go that a list names, or none" {
    export KEPT=1 LOST=2
    run -0 --separate-stderr mpiexec -genvlist KEPT,NOT_THERE -n 1 /usr/bin/env
    has_line "$output" KEPT=1
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

@test "files by MPICH's patterns" {
    run -0 --separate-stderr mpiexec -n 2 -outfile-pattern out.%r -errfile-pattern err.%r \
        sh -c 'echo o$PMI_RANK; echo e$PMI_RANK >&2'
    equal "$output$stderr" ""
    equal "$(cat out.0 out.1 err.0 err.1)" "$(printf 'o0\no1\ne0\ne1')"
}

@test "hosts with counts, -ppn and Open MPI's ppr deal out ranks as there" {
    map() {
        env mpiexec --dry-run --format=json "$@" x | tr -d ' \n' | sed 's/.*"map":\([^}]*\)}.*/\1/'
    }
    local nodes=(--topology 'a,b=package:2 core:4 pu:1')
    equal "$(map "${nodes[@]}" -n 8 -ppn 2)" "[[0,2,2,2]]"
    equal "$(map "${nodes[@]}" -ppn 2)" "[[0,2,2,1]]"
    equal "$(map "${nodes[@]}" --map-by ppr:1:socket)" "[[0,2,2,1]]"
    equal "$(map "${nodes[@]}" -N 3 -n 4)" "$(map "${nodes[@]}" --per 3:node --order sequential -n 4)"
    equal "$(map -host localhost:3)" "[[0,1,3,1]]"
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
    [ "${#lines[@]}" -le 60 ]
    has_line "$output" "*-genv NAME VALUE *--env=NAME=VALUE"
    equal "$(tprun --help mpiexec)" "$output"
    run -0 --separate-stderr mpiexec -version
    [[ "$output" == "tprun "* ]]
    run -2 --separate-stderr mpiexec -frobnicate true
    has_line "$stderr" "tprun: there is no option \"-frobnicate\": mpiexec --help lists *"
    run -2 --separate-stderr mpiexec -bind-to user:0,1 -n 2 true
    has_line "$stderr" "tprun: -bind-to: \"user\" has no equal here: write --rankfile FILE *"
    run -2 --separate-stderr mpiexec -n 2
    has_line "$stderr" "tprun: no program to run*"
}

@test "the manual has every name of the table" {
    local names
    grep -o 'Fl [a-zA-Z][a-zA-Z-]*' "$ROOT/man/tprun-mpiexec.1" | sed 's/Fl /-/' | sort -u >page
    names=$(env mpiexec --help | grep -oE '(^| )-[a-zA-Z][a-zA-Z-]*' | tr -d ' ' | sort -u)
    [ "$(wc -l <<<"$names")" -gt 70 ]
    equal "$(comm -23 <(echo "$names") page)" ""
}

@test "MPICH's programs run under it, and print nothing more" {
    need_mpich
    run -0 --separate-stderr mpiexec -n 4 -bind-to core -map-by socket "$PROGRAMS/mpi-allreduce"
    equal "$output$stderr" "sums over 4 tasks are right"
    run -0 --separate-stderr mpiexec -n 1 "$PROGRAMS/mpi-appnum" : -n 2 "$PROGRAMS/mpi-appnum"
    equal "${#lines[@]}" 3
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

@test "a process that goes without finalizing ends its launcher" {
    run -0 --separate-stderr singleton vanish
    nothing_left 4
}

@test "a process is let go when the launcher cannot serve it" {
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

@test "the process is told when its launcher ends, and goes on" {
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

@test "input and output of such a process are its own, or the launcher's where that is asked for" {
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
    has_line "$stderr" "tprun: TPRUN_SINGLETON_STDIO: \"maybe\" is neither yes nor no"
}

@test "what such a process says last is not lost, and what it does not read keeps nobody waiting" {
    seq 200000 >numbers
    for how in talk leave; do
        TPRUN_SINGLETON_STDIO=yes run -5 --separate-stderr singleton $how <numbers
        cmp <(sed -n 's/^out //p' <<<"$output") numbers
        cmp <(grep '^err' <<<"$stderr" | cut -c 5-) numbers
    done
}

@test "such a process gets PMI 1.2 when it asks, and no PMI-2" {
    run -0 --separate-stderr singleton later
    has_line "$output" "cmd=response_to_init pmi_version=1 pmi_subversion=2 rc=0"
    has_line "$output" "cmd=barrier_out tag=0"
    run -3 --separate-stderr singleton second
    equal "$output" "cmd=singinit authtype=none
cmd=singinit_info versionok=no stdio=no kvsname
closed"
    has_line "$stderr" "tprun: singleton: the process speaks another version than PMI-1"
}

@test "what is no port is refused" {
    run -2 --separate-stderr mpiexec -pmi_args 65536 default_interface default_key 1
    has_line "$stderr" "tprun: -pmi_args: \"65536\" is no port: 1 to 65535 are"
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
