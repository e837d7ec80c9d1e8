# What tasks inherit.
load ../lib/common
setup_file() { build_programs; }
setup() { start_test; }
teardown() { nothing_left; }

@test "tasks have the caller's environment, and -x adds to it" {
    A=a B='b c' run -0 --separate-stderr tprun -x C=c -x D= sh -c 'echo "$A,$B,$C,${D-unset}"'
    equal "$output" "a,b c,c,"
}

@test "-x VAR passes a variable on that would be taken away" {
    SSH_TTY=x run -0 --separate-stderr tprun sh -c 'echo "${SSH_TTY-unset}"'
    equal "$output" unset
    SSH_TTY=x run -0 --separate-stderr tprun -x SSH_TTY sh -c 'echo "${SSH_TTY-unset}"'
    equal "$output" x
}

# However this machine is called, and however its agent is started.
@test "tasks on this machine keep the screen" {
    local show='echo "${DISPLAY-unset} ${XAUTHORITY-unset}"' address
    export DISPLAY=:7 XAUTHORITY=/home/a
    run -0 --separate-stderr tprun sh -c "$show"
    equal "$output" ":7 /home/a"
    for address in localhost 127.0.0.1 ::1 "$(hostname)"; do
        run -0 --separate-stderr tprun --hosts "$address" sh -c "$show"
        equal "$output" ":7 /home/a"
    done
    run -0 --separate-stderr tprun --hosts another --agent "$(dirname "$TPRUN")/tpagent" --bootstrap "env HOST={host} {agent}" sh -c "$show"
    equal "$output" ":7 /home/a"
    run -0 --separate-stderr tprun --env-remove 'XAUTH*' -x DISPLAY=:8 sh -c "$show"
    equal "$output" ":8 unset"
    run -0 --separate-stderr tprun "$TPRUN" sh -c "$show"
    equal "$output" ":7 /home/a"
}

@test "what belongs to the caller's own place is taken away" {
    run -0 --separate-stderr env SSH_CONNECTION=x SLURM_PROCID=x PMI_SPAWNED=x PMIX_RANK=x \
        OMPI_COMM_WORLD_RANK=x FLUX_TASK_RANK=x PALS_RANKID=x PMI_PORT=x KEPT=yes "$TPRUN" env
    has_line "$output" "KEPT=yes"
    [ -z "$(grep =x$ <<<"$output")" ]
    run -0 --separate-stderr env PMIX_NAMESPACE=x PMIX_SERVER_URI41=x PMI_FD=x PMI_SIZE=x SLURM_STEP_ID=x \
        SLURM_LOCALID=x SLURM_PMIXP_X=x FLUX_TASK_LOCAL_ID=x FLUX_PMI_LIBRARY_PATH=x PALS_NODEID=x ALPS_APP_PE=x \
        JSM_JSRUN_PORT=x JSM_NAMESPACE_SIZE=x PRTE_LAUNCHED=x PRTE_MCA_ess_base_vpid=x OMPI_MCA_ess=x \
        OMPI_MCA_orte_hnp_uri=x OMPI_MCA_orte_launch=x OMPI_UNIVERSE_SIZE=x MV2_COMM_WORLD_RANK=x \
        "$TPRUN" --pmi none env
    [ -z "$(grep =x$ <<<"$output")" ]
}

@test "parameters that users set for their MPI stay" {
    run -0 --separate-stderr env OMPI_MCA_btl=x OMPI_MCA_orte_tmpdir_base=x OMPI_MCA_schizo=x OMPI_ALLOW_RUN_AS_ROOT=x \
        PRTE_MCA_rmaps_x=x MPIR_CVAR_PMI_VERSION=x "$TPRUN" --pmi none env
    equal "$(grep -c =x$ <<<"$output")" 6
}

@test "an outer mpirun's variables are taken away, and users' parameters are not" {
    command -v mpirun.openmpi >/dev/null || skip "no mpirun.openmpi here"
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl=self
    run -0 --separate-stderr timeout 30 mpirun.openmpi --oversubscribe -n 2 sh -c '[ $OMPI_COMM_WORLD_RANK = 0 ] || "$TPRUN" --pmi none env'
    has_line "$output" OMPI_MCA_btl=self
    has_line "$output" OMPI_COMM_WORLD_RANK=0
    has_line "$output" OMPI_COMM_WORLD_SIZE=1
    [ -z "$(grep -E '^(PMIX_|OMPI_UNIVERSE|OMPI_MCA_ess|OMPI_MCA_orte_(launch|hnp|local|ess|num|app|bound))' <<<"$output")" ]
}

# shellcheck disable=SC2016 # for the tasks' shell
@test "what MPIs need beside PMIx is set where that is offered, unless it is set" {
    local show='for name in MPIR_CVAR_PMI_VERSION OMPI_MCA_schizo OMPI_MCA_orte_externally_bound \
        OMPI_MCA_hwloc_base_binding_policy; do eval "echo \${$name-unset}"; done'
    run -0 --separate-stderr tprun --pmi pmi1,pmi2 sh -c "$show"
    equal "$(xargs <<<"$output")" "unset unset unset unset"
    serves_pmix || skip "this tprun is built without PMIx"
    run -0 --separate-stderr tprun sh -c "$show"
    equal "$(xargs <<<"$output")" "1 ^orte 1 none"
    run -0 --separate-stderr tprun --pmi pmix sh -c "$show"
    equal "$(xargs <<<"$output")" "x ^orte 1 none"
    OMPI_MCA_hwloc_base_binding_policy=core run -0 --separate-stderr tprun -x MPIR_CVAR_PMI_VERSION=2 sh -c "$show"
    equal "$(xargs <<<"$output")" "2 ^orte 1 core"
    run -0 --separate-stderr tprun "$TPRUN" --pmi none sh -c "$show"
    equal "$(xargs <<<"$output")" "unset unset unset unset"
}

# shellcheck disable=SC2016 # for the tasks' shell
@test "the hwloc of MPIs is kept from X servers, unless the user says what it may use" {
    local show='echo ${HWLOC_COMPONENTS-unset}' pmi
    for pmi in pmi1 pmi2 auto; do
        run -0 --separate-stderr tprun --pmi $pmi sh -c "$show"
        equal "$output" -gl
    done
    run -0 --separate-stderr tprun --pmi none sh -c "$show"
    equal "$output" unset
    HWLOC_COMPONENTS=no_os run -0 --separate-stderr tprun sh -c "$show"
    equal "$output" no_os
    run -0 --separate-stderr tprun "$TPRUN" --pmi none sh -c "$show"
    equal "$output" unset
}

@test "a program is offered the PMI that its libraries call for" {
    local library names
    serves_pmix || skip "this tprun is built without PMIx"
    echo 'extern char **environ; int puts(const char *);
        int main(void) { for (char **at = environ; *at; at++) puts(*at); }' >print.c
    for library in libmpi.so.40 libmpich.so.12 libother.so; do
        linked_with "$library"
        # shellcheck disable=SC2016
        "${CC:-cc}" -o print print.c -Wl,--no-as-needed "lib/$library" -Wl,-rpath,'$ORIGIN/lib'
        run -0 --separate-stderr tprun ./print
        names=$(grep -oE '^(PMI_FD=.|OMPI_MCA_schizo|MPIR_CVAR_PMI_VERSION=.)' <<<"$output" | sort | xargs)
        case $library in
        libmpi.so.40) equal "$names" "MPIR_CVAR_PMI_VERSION=x OMPI_MCA_schizo" ;;
        libmpich.so.12) equal "$names" PMI_FD=3 ;;
        *) equal "$names" "MPIR_CVAR_PMI_VERSION=1 OMPI_MCA_schizo PMI_FD=3" ;;
        esac
    done
}

@test "--env-remove takes away by pattern, in the order given" {
    run -0 --separate-stderr env AA=1 AB=2 B=3 "$TPRUN" --env-remove 'A*' -x AB=4 env
    [ -z "$(grep ^AA= <<<"$output")" ]
    has_line "$output" AB=4
    has_line "$output" B=3
}

@test "a task knows its place" {
    run -0 --separate-stderr tprun -n 3 sh -c \
        'echo $TPRUN_RANK/$TPRUN_SIZE $TPRUN_LOCAL_RANK/$TPRUN_LOCAL_SIZE $TPRUN_NODE_ID/$TPRUN_NNODES $PMI_RANK/$PMI_SIZE'
    equal "$(sort <<<"$output")" "$(printf '0/3 0/3 0/1 0/3\n1/3 1/3 0/1 1/3\n2/3 2/3 0/1 2/3')"
    run -0 --separate-stderr tprun -n 3 sh -c 'echo $TPRUN_TASKMAP'
    equal "$(jq -c '.map? // .' <<<"${lines[0]}")" "[[0,1,3,1]]"
}

# By the names of either family, whatever the program is offered; each once.
@test "a task finds its rank by the names of other launchers" {
    local show='echo $PMI_RANK/$PMI_SIZE $MPI_LOCALRANKID/$MPI_LOCALNRANKS $OMPI_COMM_WORLD_RANK/$OMPI_COMM_WORLD_SIZE \
        $OMPI_COMM_WORLD_LOCAL_RANK/$OMPI_COMM_WORLD_LOCAL_SIZE $OMPI_COMM_WORLD_NODE_RANK \
        $(env | grep -c "^PMI_[RS]\|^MPI_LOCAL\|^OMPI_COMM") ${PMI_FD-none}' pmi list=pmi1
    ! serves_pmix || list="$list pmix auto"
    for pmi in $list; do
        run -0 --separate-stderr tprun --pmi $pmi -n 1 sh -c "$show" : -n 2 sh -c "$show"
        fd=none
        [[ $pmi != pmi1 && $pmi != auto ]] || fd=3
        equal "$(sort <<<"$output")" "$(printf "%d/3 %d/3 %d/3 %d/3 %d 9 $fd\n" 0 0 0 0 0 1 1 1 1 1 2 2 2 2 2)"
    done
    run -0 --separate-stderr tprun --pmi none -n 2 sh -c "$show"
    equal "$(sort <<<"$output")" "$(printf '/ %d/2 %d/2 %d/2 %d 7 none\n' 0 0 0 0 1 1 1 1)"
    run -0 --separate-stderr tprun -n 2 sh -c '[ $PMI_RANK = 0 ] || "$TPRUN" sh -c "$0"' "$show"
    [[ "$output" == "0/1 0/1 0/1 0/1 0 9 "* ]]
}

@test "variables of a rank that -x sets are replaced by the task's own" {
    run -0 --separate-stderr tprun -x PMI_RANK=7 -x OMPI_COMM_WORLD_SIZE=8 -x TPRUN_RANK=9 -x PMI_RANKS=x -n 1 env
    equal "$(grep -E '^(PMI_RANK|OMPI_COMM_WORLD_SIZE|TPRUN_RANK)' <<<"$output" | sort | xargs)" \
        "OMPI_COMM_WORLD_SIZE=1 PMI_RANK=0 PMI_RANKS=x TPRUN_RANK=0"
    run -0 --separate-stderr tprun --pmi none -x PMI_RANK=7 -n 1 sh -c 'echo $PMI_RANK'
    equal "$output" 7
}

@test "a shell script writes a file for each task by the rank variable of any launcher" {
    run -0 --separate-stderr tprun -n 2 sh -c 'echo $TPRUN_RANK >log.$OMPI_COMM_WORLD_RANK; echo $TPRUN_RANK >of.$PMI_RANK'
    equal "$(cat log.0 log.1 of.0 of.1 | xargs)" "0 1 0 1"
}

# A rank without a socket is no offer.
@test "an MPI program that is offered no PMI runs as a single task, whatever variables of a rank say" {
    local program
    for program in "$PROGRAMS/mpi-hello" "$OPENMPI/mpi-hello" "$(dirname "$TPRUN")"/examples/pmi{,2}-hello; do
        [ -x "$program" ] || continue
        run -0 --separate-stderr tprun --pmi none -n 2 "$program"
        equal "${#lines[@]}" 2
        equal "$(grep -c "0 of 1" <<<"$output")" 2
    done
}

@test "tasks start in the caller's directory, or in that of --chdir" {
    mkdir sub
    run -0 --separate-stderr tprun pwd
    equal "$output" "$PWD"
    run -0 --separate-stderr tprun --chdir sub pwd
    equal "$output" "$PWD/sub"
    run --separate-stderr tprun --chdir nosuch pwd
    [ "$status" != 0 ]
    has_line "$stderr" "tprun: *nosuch*"
}

@test "a program is looked up in the task's PATH" {
    mkdir bin
    printf '#!/bin/sh\necho mine\n' >bin/my-program
    chmod +x bin/my-program
    run -0 --separate-stderr tprun -x PATH="$PWD/bin:$PATH" my-program
    equal "$output" mine
}

@test "umask is the caller's, or that of --umask" {
    run -0 --separate-stderr bash -c 'umask 027; "$TPRUN" sh -c umask'
    equal "$output" 0027
    run -0 --separate-stderr tprun --umask 077 sh -c umask
    equal "$output" 0077
}

@test "soft limits are the caller's, or those of --rlimit" {
    run -0 --separate-stderr bash -c 'ulimit -S -n 321; "$TPRUN" sh -c "ulimit -S -n"'
    equal "$output" 321
    run -0 --separate-stderr tprun --rlimit nofile=123 --rlimit core=0 sh -c 'ulimit -S -n; ulimit -S -c'
    equal "$output" "$(printf '123\n0')"
}

@test "few open files are enough, too few are said, and tasks have the caller's limit" {
    run -0 --separate-stderr bash -c 'ulimit -S -n 8; "$TPRUN" sh -c "ulimit -S -n"'
    equal "$output$stderr" 8
    run -0 --separate-stderr bash -c 'ulimit -n 64; "$TPRUN" sh -c "ulimit -S -n"'
    equal "$output$stderr" 64
    local limit
    for limit in 8 12 24 63; do
        run -1 --separate-stderr bash -c "ulimit -n $limit; \"\$TPRUN\" true"
        equal "$stderr" "tprun: the limit of open files (ulimit -n) is $limit, which is too low to start anything: must be at least 64"
    done
}

@test "a current directory that was removed is refused, unless tasks start elsewhere" {
    mkdir gone
    cd gone
    rmdir ../gone
    run -1 --separate-stderr tprun true
    equal "$stderr" "tprun: cannot tell the current directory: No such file or directory: enter another, or name the tasks' with --chdir /DIR"
    run -1 --separate-stderr tprun --chdir / true : true
    run -0 --separate-stderr tprun --chdir / pwd : --chdir /usr pwd
    equal "$(sort <<<"$output")" "$(printf '/\n/usr')"
}

@test "tasks have no open descriptors but 0, 1, 2 and PMI's" {
    exec 7</dev/null
    run -0 --separate-stderr tprun --pmi none bash -c 'for ((fd = 0; fd < 200; fd++)); do
        [ $fd = 255 ] || [ ! -e /proc/$$/fd/$fd ] || echo $fd; done'
    equal "$output" "$(printf '0\n1\n2')"
}

@test "tasks have the default signal actions and no blocked signals" {
    run -0 --separate-stderr bash -c 'trap "" PIPE USR1; timeout 20 "$TPRUN" grep -E "Sig(Blk|Ign)" /proc/self/status'
    has_line "$output" "SigBlk:*0000000000000000"
}

# The kernel schedules each session as one. Tasks that share one, some waiting with sched_yield() and some
# asleep, have kept everything else on a machine with Linux 6.18 waiting for 10 s.
@test "each task leads a session of its own, without a terminal" {
    run -0 "$TPRUN" --oversubscribe -n 3 sh -c 'exec ps -o pid=,pgid=,sid=,tty= -p $$'
    equal "$(awk '$1 == $2 && $1 == $3 && $4 == "?" { leaders++ } END { print leaders }' <<<"$output")" 3
}
@test "the parts of a program have their own tasks, arguments and environment" {
    run -0 --separate-stderr tprun -l -n 1 -x W=a sh -c 'echo $W $TPRUN_SIZE' : -n 2 -x W=b sh -c 'echo $W $TPRUN_SIZE'
    equal "$(sort <<<"$output")" "$(printf '0: a 3\n1: b 3\n2: b 3')"
}

@test "a part's --chdir and --umask are its own" {
    mkdir one two
    run -0 --separate-stderr tprun -l --chdir one --umask 011 sh -c 'echo ${PWD##*/} $(umask)' : \
        --chdir two --umask 022 sh -c 'echo ${PWD##*/} $(umask)'
    equal "$(sort <<<"$output")" "$(printf '0: one 0011\n1: two 0022')"
}

@test "every part has its application number" {
    need_mpich
    run -0 --separate-stderr tprun -l -n 1 "$PROGRAMS/mpi-appnum" : -n 1 "$PROGRAMS/mpi-appnum"
    equal "$(sort <<<"$output")" "$(printf '0: 0\n1: 1')"
}

# Another thread, such as openpmix's, may read it meanwhile, and crash.
@test "no process of tprun changes its environment once it has threads, and tasks do not see what tprun sets for itself" {
    need_plain_build "nothing may be preloaded before their library"
    "$TPRUN" --version | grep -qi 'pmix [0-9]' || skip "this tprun has no PMIx"
    [ -x "$PROGRAMS/pmix-names" ] || skip "no libpmix-dev here"
    unset HWLOC_LIBXML # not what tprun sets
    export SETENV_LOG=$PWD/log
    run -0 env LD_PRELOAD="$PROGRAMS/setenv-watch" "$TPRUN" -n 2 "$PROGRAMS/pmix-names" lookup a
    run -0 env LD_PRELOAD="$PROGRAMS/setenv-watch" "$TPRUN" --bootstrap "env HOST={host} {agent}" --agent "$(dirname "$TPRUN")/tpagent" -n 2 \
        "$PROGRAMS/pmix-names" lookup a
    [ ! -e log ] || { cat log; return 1; }
    run -0 tprun -n 1 --pmi pmix sh -c 'env |
        grep -v "^HWLOC_COMPONENTS=-gl$\|^TPRUN_DEFAULTS=" | grep -c "HWLOC_\|PMIX_MCA_pmix_max\|PMIX_OUTPUT" || :'
    equal "$output" 0
}
