# shellcheck disable=SC2154,SC2016 # bats sets stderr; $0 is for the tasks' shells
# What other launchers' options do, and that the lists of them are those of the programs.
load ../lib/common
setup_file() { build_programs; }
setup() {
    start_test
    unset TPRUN_OPTIONS # more tasks than cores go without it
    mkdir -p bin
    ln -s "$TPRUN" bin/mpirun
    ln -s "$TPRUN" bin/mpirun.openmpi
    ln -s "$TPRUN" bin/mpiexec.hydra
    LISTS=$ROOT/tests/mpiexec
    OLDPATH=$PATH
    export PATH=$PWD/bin:$PATH
}
teardown() { nothing_left 4; }

launch() { timeout --foreground -k 5 60 "$@"; }

@test "the options of the launchers on this machine are in their lists" {
    local checked=0 version program
    for program in mpiexec.hydra mpirun.openmpi prterun; do
        program=$(PATH=$OLDPATH command -v "$program") || continue
        version=$(OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
            PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1 "$program" --version |
            grep -oE '[0-9]+\.[0-9]+\.[0-9]+[a-z0-9]*' | head -n 1)
        case $program in
        *hydra) list=$LISTS/hydra-$version ;;
        *openmpi) list=$LISTS/openmpi-$version ;;
        *) list=$LISTS/prterun-$version ;;
        esac
        [ -f "$list" ] || fail "$program is of version $version: tests/mpiexec has no list of it"
        diff <("$LISTS/list-options" "$program") "$list"
        checked=$((checked + 1))
    done
    [ "$checked" -gt 0 ] || skip "needs MPICH's or Open MPI's launcher"
}

@test "-output-filename makes Open MPI's files, and shows what goes there" {
    run -0 --separate-stderr launch mpirun --output-filename logs -n 11 \
        sh -c 'echo o$TPRUN_RANK; echo e >&2'
    equal "$(sort <<<"$output" | paste -sd' ')" "$(seq -f 'o%g' 0 10 | sort | paste -sd' ')"
    equal "$(grep -c '^e$' <<<"$stderr")" 11
    equal "$(cd logs && find . -type f | sort | head -n 3 | paste -sd' ')" \
        "./1/rank.00/stderr ./1/rank.00/stdout ./1/rank.01/stderr"
    equal "$(cat logs/1/rank.10/stdout logs/1/rank.10/stderr)" "$(printf 'o10\ne')"
    run -0 --separate-stderr launch mpirun --output-filename quiet:nocopy \
        --merge-stderr-to-stdout -n 2 sh -c 'echo o; echo e >&2'
    equal "$output$stderr" ""
    equal "$(cd quiet && echo */*/*)" "1/rank.0/stdout 1/rank.1/stdout"
    equal "$(sort quiet/1/rank.1/stdout)" "$(printf 'e\no')"
    run -0 --separate-stderr launch mpirun --output-filename plain:nojobid,nocopy -n 2 echo a
    equal "$output" ""
    equal "$(cd plain && echo */*)" "rank.0/stdout rank.1/stdout"
    run -2 --separate-stderr launch mpirun --output-filename plain:nocopy,frob -n 2 echo a
    has_line "$stderr" 'tprun: --output-filename: unknown value "frob" (expected nocopy, copy or raw)'
}

@test "-output has Open MPI 5's words, and tprun's own names of files" {
    run -0 --separate-stderr launch mpirun --output tag,timestamp -n 1 echo a
    [[ $output =~ ^[0-9-]+T[0-9:.]+\ 0:\ a$ ]]
    launch mpirun --output dir=d%:nocopy -n 2 echo a
    equal "$(cat d%/*/rank.[01]/stdout)" "$(printf 'a\na')"
    launch mpirun --output file=x/f:nocopy,merge -n 2 sh -c 'echo a >&2'
    equal "$(cat x/f.*.[01].out)" "$(printf 'a\na')"
    launch mpirun --output-filename tags:nocopy -n 1 echo b
    equal "$(cat tags/1/rank.0/stdout)" b
    launch mpirun --output own.%r -n 2 echo b
    equal "$(cat own.0 own.1)" "$(printf 'b\nb')"
    for name in dir= tag,file= dir=:nocopy; do # $UNSET
        run -2 --separate-stderr launch mpirun --output "$name" -n 1 echo a
        has_line "$stderr" 'tprun: --output: the name after "*=" is empty'
    done
    run -2 --separate-stderr launch mpirun --output tag,frob -n 1 echo a
    has_line "$stderr" "tprun: --output: unknown value \"frob\" (expected tag, rank, timestamp, merge, *"
}

@test "-tune reads parameters and variables, which the command line overrides" {
    printf '# all\nbtl = self,tcp\n a_b=c d \n-x FOO=1 -mca e "f g"\n\n' >params
    run -0 launch mpirun --tune params -mca btl self -n 1 env
    has_line "$output" OMPI_MCA_btl=self
    has_line "$output" 'OMPI_MCA_a_b=c d'
    has_line "$output" 'OMPI_MCA_e=f g'
    has_line "$output" FOO=1
    echo '-n 4' >bad
    run -2 --separate-stderr launch mpirun --tune params,bad -n 1 true
    has_line "$stderr" 'tprun: --tune: bad: line 1: unexpected "-n" (expected -mca or -x)'
    run -1 --separate-stderr launch mpirun --tune missing -n 1 true
    has_line "$stderr" 'tprun: --tune: missing: *No such file*'
}

@test "--append-env, --prepend-env and --prefix make variables out of what tasks have already" {
    PATH=/bin LD_LIBRARY_PATH='' run -0 launch "$PWD/bin/mpirun" --prefix /opt/mpi \
        --append-env 'LIST[;]' c --prepend-env NEW d -x FOO=1 -n 1 env
    has_line "$output" PATH=/opt/mpi/bin:/bin
    has_line "$output" LD_LIBRARY_PATH=/opt/mpi/lib
    has_line "$output" 'LIST=c'
    has_line "$output" NEW=d
    LIST=b LD_LIBRARY_PATH=/lib run -0 launch mpirun --prepend-env LIST a --append-env LIST c \
        --prepend-env PATH /first --prefix /opt/mpi -x LD_LIBRARY_PATH -x PATH=/bin -n 1 env
    has_line "$output" LIST=a:b:c
    has_line "$output" PATH=/opt/mpi/bin:/bin
    has_line "$output" LD_LIBRARY_PATH=/opt/mpi/lib:/lib
    LIST='a;b' run -0 launch mpirun --append-env 'LIST[;]' c --unset-env HOME -n 1 \
        sh -c 'echo "$LIST ${HOME-unset}"'
    equal "$output" "a;b;c unset"
}

@test "tasks are where MPICH 4 and Open MPI 5 put them" {
    place() {
        env "$@" --dry-run --format json --topology 'a=package:2 numa:2 core:4 pu:2' x |
            tr -d ' \n' | grep -oE '"cpus":"[^"]*"' | cut -d'"' -f4 | paste -sd' '
    }
    equal "$(place mpiexec.hydra -n 4 -bind-to numa)" "0-7 8-15 16-23 24-31"
    equal "$(place mpiexec.hydra -N 4 -bind-to socket)" "0-15 16-31 0-15 16-31"
    equal "$(place mpiexec.hydra -n 2 -bind-to rr)" "$(place mpiexec.hydra -n 2 -bind-to core)"
    equal "$(place mpirun -n 4 --use-hwthread-cpus)" "0 1 2 3"
    equal "$(place mpirun -n 3 --map-by socket:hwtcpus)" "0 16 2"
    equal "$(place mpirun -n 2 --map-by :oversubscribe --bind-to core:overload)" "0-1 2-3"
    equal "$(place mpirun -n 4 --map-by ppr:2:numa:PE=2:overs)" "0-3 4-7 8-11 12-15"
    equal "$(place mpirun -np 3 --map-by ppr:2:socket --bind-to core)" "0-1 2-3 16-17"
    equal "$(place mpirun.openmpi -n 6 --bind-to socket)" "0-15 0-15 0-15 16-31 16-31 16-31"
    equal "$(place mpirun.openmpi -n 3 --bind-to core)" "0-1 2-3 4-5"
    equal "$(place mpirun.openmpi -npernode 2 --bind-to socket)" "0-15 16-31"
    equal "$(place mpirun.openmpi -npernode 2 -n 2 --bind-to socket)" "0-15 16-31"
    equal "$(place mpirun.openmpi -n 3 --map-by ppr:2:socket --bind-to socket)" "0-15 0-15 16-31"
    equal "$(place mpiexec.hydra -ppn 2 -bind-to socket)" "0-15 16-31"
    equal "$(place mpirun -npernode 2 --use-hwthread-cpus | wc -w)" 2
    equal "$(place mpirun -n 4 --map-by socket --rank-by slot --bind-to core)" \
        "0-1 16-17 2-3 18-19"
    equal "$(place mpirun -n 4 --map-by numa --rank-by fill --bind-to core)" "0-1 8-9 16-17 24-25"
    equal "$(place mpirun -n 4 --map-by socket --rank-by fill --bind-to core)" "0-1 2-3 16-17 18-19"
    equal "$(place mpirun -n 4 --map-by socket --rank-by span --bind-to core)" "0-1 16-17 2-3 18-19"
}

@test "-timestamp-output writes the time before each line of either output" {
    local time='[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]+'
    run -0 --separate-stderr launch mpirun --timestamp-output -n 2 sh -c 'echo o; echo e >&2'
    equal "$(grep -cE "^$time[^ ]* o$" <<<"$output") ${#lines[@]}" "2 2"
    equal "$(grep -cE "^$time[^ ]* e$" <<<"$stderr") ${#stderr_lines[@]}" "2 2"
}

@test "-bynode, -byslot and -bycore deal out ranks as mpirun does" {
    map() {
        mpirun --dry-run --format=json --topology 'a,b=core:4 pu:1' -n 4 "$@" x |
            tr -d ' \n' | sed 's/.*"map":\([^}]*\)}.*/\1/'
    }
    equal "$(map --bynode)" "[[0,2,1,2]]"
    equal "$(map -bynode)" "$(map --map-by node)"
    equal "$(map --byslot) $(map --bycore)" "[[0,1,4,1]] [[0,1,4,1]]"
}

@test "-cpu-set is refused, and taskset in front of mpirun does the same" {
    local name first
    for name in --cpu-set --cpu-list; do
        run -2 --separate-stderr launch mpirun $name 0 -n 1 true
        equal "${stderr_lines[0]}" "tprun: $name: not supported: write taskset -c LIST in front of mpirun, or -rankfile with the processors of each rank"
    done
    first=$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')
    run -0 --separate-stderr taskset -c "$first" timeout --foreground -k 5 60 mpirun -n 2 \
        sh -c 'taskset -cp $$ | sed "s/.*: //"'
    equal "$output$stderr" "$first"$'\n'"$first"
}

@test "-debug means what it means to the launcher that the other options are of" {
    ln -s "$TPRUN" bin/mpiexec
    for line in '-genv A 1 -debug' '-debug -genv A 1' '-debug -ppn 1'; do
        # shellcheck disable=SC2086 # words
        run -0 --separate-stderr launch mpiexec $line -n 1 echo a
        equal "$output" a
        [ -n "$stderr" ] # it says what it does
    done
    for line in '-debug' '-x A=1 -debug' '-debug --mca a b' '-genv A 1 -x B=1 -debug'; do
        # shellcheck disable=SC2086 # words
        run -2 --separate-stderr launch mpiexec $line -n 1 echo a
        equal "${stderr_lines[0]}" "tprun: -debug: not supported: write the debugger in front of the program's name"
    done
}

@test "-rankmap puts ranks on the nodes that MPICH's launcher means" {
    map() {
        mpiexec.hydra --dry-run --format=json --topology 'a,b,c=core:4 pu:1' "$@" x |
            tr -d ' \n' | sed 's/.*"map":\([^}]*\)}.*/\1/'
    }
    equal "$(map -n 4 -rankmap '0,0,2,1')" "[[0,1,2,1],[2,1,1,1],[1,1,1,1]]"
    equal "$(map -n 4 -rankmap '(0,2,2)')" "[[0,2,2,1]]"
    run -2 --separate-stderr mpiexec.hydra -rankmap 0,x -n 2 true
    has_line "$stderr" 'tprun: -rankmap: "0,x" is not a list of node numbers (expected *'
}

@test "--runtime-options do what mpirun does, or are refused with what to write" {
    run -0 --separate-stderr launch mpirun --runtime-options donotlaunch -n 1 nosuchprogram
    run -7 --separate-stderr launch mpirun --rtos error-nonzero-status=0,show-progress -n 2 \
        sh -c 'sleep $TPRUN_RANK; [ $TPRUN_RANK = 1 ] && echo on; exit 7'
    equal "$output" on
    run -124 --separate-stderr launch mpirun --rtos timeout=00:01 -n 1 sleep 30
    run -2 --separate-stderr launch mpirun --rtos continuous -n 1 true
    has_line "$stderr" "tprun: --rtos: continuous is not supported: write recoverable: *"
    run -2 --separate-stderr launch mpirun --report-pid - -n 1 true
    has_line "$stderr" "tprun: --report-pid: not supported: write sh -c 'echo \$\$ >FILE; exec mpirun*"
    run -2 --separate-stderr launch mpirun --forward-signals USR1,URG -n 1 true
    has_line "$stderr" 'tprun: --forward-signals: cannot pass on "URG" (expected USR1 or USR2)'
    run -2 --separate-stderr launch mpirun --dvm
    has_line "$stderr" "tprun: --dvm: not supported: leave it out: tprun needs no daemons"
}
