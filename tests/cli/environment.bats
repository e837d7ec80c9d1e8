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
    DISPLAY=:7 run -0 --separate-stderr tprun sh -c 'echo "${DISPLAY-unset}"'
    equal "$output" unset
    DISPLAY=:7 run -0 --separate-stderr tprun -x DISPLAY sh -c 'echo "${DISPLAY-unset}"'
    equal "$output" :7
}

@test "what belongs to the caller's own place is taken away" {
    run -0 --separate-stderr env SSH_CONNECTION=x XAUTHORITY=x SLURM_PROCID=x PMI_SPAWNED=x PMIX_RANK=x \
        OMPI_COMM_WORLD_RANK=x FLUX_TASK_RANK=x PALS_RANKID=x PMI_PORT=x KEPT=yes "$TPRUN" env
    has_line "$output" "KEPT=yes"
    [ -z "$(grep =x$ <<<"$output")" ]
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
