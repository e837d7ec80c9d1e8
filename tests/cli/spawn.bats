# shellcheck disable=SC2154 # bats sets stderr
# Tasks that are added to a running program: PMI spawn, and names.
load ../lib/common
setup_file() { build_programs; }
setup() { start_test; }
teardown() { nothing_left; }

SPAWN=$PROGRAMS/pmi-spawn

@test "a tree of spawns: each level has ranks, barriers and keys of its own" {
    run -0 --separate-stderr tprun "$SPAWN" tree 2 2
    equal "$stderr" ""
    equal "$(sort <<<"$output" | sed 's/kvs_[0-9]*/kvs/; s/, its=.*//; s/, [1-9][0-9]* of the/, N of the/')" "$(cat <<'EOF'
depth 0 rank 0 of 2, N of the program, parent of kvs_1
depth 0 rank 0 of 2, N of the program, parent of kvs_1
depth 0 rank 1 of 2, N of the program, parent of kvs_1
depth 0 rank 1 of 2, N of the program, parent of kvs_1
depth 1 rank 0 of 2, N of the program, parent of kvs_0
depth 1 rank 1 of 2, N of the program, parent of kvs_0
depth 2 rank 0 of 1, 0 of the program, parent unknown
EOF
)"
    # TPRUN_RANK goes on counting
    equal "$(grep -o '[0-9]* of the program' <<<"$output" | cut -d' ' -f1 | sort -n | tr '\n' ' ')" "0 1 2 3 4 5 6 "
}

# As Open MPI counts: its node rank goes on through the groups of a program, those that are over too.
@test "spawned tasks find their rank by the names of other launchers" {
    run -0 --separate-stderr tprun "$SPAWN" run -- 2 sh -c \
        'echo "PMI $PMI_RANK/$PMI_SIZE $PMI_SPAWNED, $MPI_LOCALRANKID/$MPI_LOCALNRANKS, OMPI $OMPI_COMM_WORLD_RANK/$OMPI_COMM_WORLD_SIZE $OMPI_COMM_WORLD_LOCAL_RANK/$OMPI_COMM_WORLD_LOCAL_SIZE $OMPI_COMM_WORLD_NODE_RANK"'
    equal "$(grep ^PMI <<<"$output" | sort)" "$(printf 'PMI %d/2 1, %d/2, OMPI %d/2 %d/2 %d\n' 0 0 0 0 1 1 1 1 1 2)"
}

@test "labels and files of spawned tasks have the program's ranks" {
    tprun -l --output 'out.%R.%n' "$SPAWN" run -- 2 sh -c 'echo hello' >log
    equal "$(cat log)" ""
    equal "$(cat out.1.0 out.2.0)" "$(printf '1: hello\n2: hello')"
}

@test "blocks of one spawn are one group, and tell their number as appnum" {
    run -0 tprun "$SPAWN" several 2 "$SPAWN" "$SPAWN"
    has_line "$output" "cmd=spawn_result rc=0"
    equal "$(grep ^rank <<<"$output" | sed 's/PARENT.*//' | sort)" "$(cat <<'EOF'
rank 0 of 4 spawned 1 appnum 0 
rank 1 of 4 spawned 1 appnum 0 
rank 2 of 4 spawned 1 appnum 1 
rank 3 of 4 spawned 1 appnum 1 
EOF
)"
}

@test "arguments with blanks and equal signs, and empty ones, arrive as they are" {
    # shellcheck disable=SC2016
    run -0 tprun "$SPAWN" run -- 1 sh -c 'for a in "$@"; do echo "[$a]"; done' sh 'a b' x=y '' '  '
    equal "$(grep '^\[' <<<"$output")" "$(printf '[a b]\n[x=y]\n[]\n[  ]')"
}

@test "a preset key is there at once, with blanks and equal signs" {
    run -0 tprun "$SPAWN" run -- 1 "$SPAWN" show PARENT
    has_line "$output" "*PARENT: of kvs_*_0, its=0#1\$*"
}

@test "info keys say where and with what; unknown ones are told with -v" {
    mkdir sub
    printf '#!/bin/sh\npwd\necho "$COLOUR"\n' >sub/tool
    chmod +x sub/tool
    run -0 --separate-stderr tprun -v "$SPAWN" run wdir=sub path="$PWD/sub" env='COLOUR=deep red' soft=1:2 colour=red -- 1 tool
    has_line "$output" "$PWD/sub"
    has_line "$output" "deep red"
    has_line "$stderr" "tprun: spawn: info keys that mean nothing here: soft, colour"
}

@test "what a task inherits a spawned one has, too: --env, --umask, --chdir" {
    mkdir sub
    run -0 tprun --env A=1 --umask 027 --chdir sub "$SPAWN" run -- 1 sh -c 'echo "$A $(umask) $(basename "$PWD")"'
    has_line "$output" "1 0027 sub"
}

# shellcheck disable=SC2016 # for the tasks' shell
@test "a task that has become another user does all of PMI but start others" {
    [ "$(id -u)" = 0 ] || skip "only root can become another user"
    local ask='exec 7<&$PMI_FD
        say() { printf "$1" >&7; read -r answer <&7; echo "$answer"; }
        say "cmd=init pmi_version=1 pmi_subversion=1\n"
        say "cmd=barrier_in\n"
        say "mcmd=spawn\nnprocs=1\nexecname=id\ntotspawns=1\nspawnssofar=1\nargcnt=0\npreput_num=0\ninfo_num=0\nendcmd\n"
        say "cmd=finalize\n"' other="setpriv --reuid 65534"
    run -0 --separate-stderr tprun --pmi pmi1 sh -c "$ask"
    has_line "$output" "cmd=spawn_result rc=0*"
    has_line "$output" "uid=0(*"
    # shellcheck disable=SC2086 # words
    run -0 --separate-stderr tprun --pmi pmi1 $other sh -c "$ask"
    has_line "$output" "cmd=barrier_out*"
    has_line "$output" "cmd=spawn_result rc=1*"
    has_line "$output" "cmd=finalize_ack*"
    [[ $output != *uid=* ]]
}

@test "a program that is not there fails its spawn, and nothing else" {
    run -0 --separate-stderr tprun "$SPAWN" run -- 2 /no/such/program
    has_line "$output" "cmd=spawn_result rc=[1-9-]*"
    equal "$stderr" ""
    run -0 --separate-stderr tprun "$SPAWN" several 1 "$SPAWN" ./nosuch
    has_line "$output" "*cmd=spawn_result rc=[1-9-]*"
    equal "$stderr" ""
}

@test "a failed spawn has an error code for each task: 127, 126, or 1 for those that fail with them" {
    echo data >plain
    run -0 --separate-stderr tprun "$SPAWN" several 2 "$SPAWN" ./nosuch ./plain
    has_line "$output" "cmd=spawn_result rc=1 errcodes=1,1,127,127,126,126"
    # more than a reply has room for: none at all, rather than some
    run -0 --separate-stderr tprun "$SPAWN" run -- 600 ./nosuch
    has_line "$output" "cmd=spawn_result rc=1"
}

@test "a spawn that can't be placed or understood is refused with the reason under -v" {
    run -0 --separate-stderr tprun -v "$SPAWN" run host=elsewhere -- 1 true
    has_line "$output" "cmd=spawn_result rc=1*"
    has_line "$stderr" "tprun: spawn refused: *"
    run -0 --separate-stderr tprun -v "$SPAWN" spread 1 - elsewhere
    equal "$output" "cmd=spawn_result rc=1"
    has_line "$stderr" "tprun: spawn refused: *"
    run -0 --separate-stderr tprun "$SPAWN" spread 1 - "$(hostname)"
    has_line "$output" "0 on $(hostname)"
    has_line "$output" "1 on $(hostname)"
    run -0 --separate-stderr tprun -v "$SPAWN" run map_by=nonsense -- 1 true
    has_line "$output" "cmd=spawn_result rc=1*"
    has_line "$stderr" "tprun: spawn refused: *nonsense*"
}

@test "a spawned task that fails ends the program, and is named by its rank" {
    run -3 --separate-stderr tprun "$SPAWN" run -- 1 sh -c 'sleep 0.2; exit 3'
    has_line "$stderr" "tprun: rank 1 on $(hostname): exited with status 3"
}

@test "the program goes on until its last group is over" {
    run -0 tprun "$SPAWN" run -- 1 sh -c 'sleep 0.5; echo late'
    equal "$(tail -1 <<<"$output")" "late"
}

@test "when the first group fails, those that it spawned go too" {
    # shellcheck disable=SC2016
    run -7 --separate-stderr tprun sh -c '"$0" run -- 2 sleep 100; exit 7' "$SPAWN"
    has_line "$stderr" "tprun: rank 0 on *: exited with status 7"
    nothing_left
}

@test "1000 spawns leave no descriptor, no memory and no process" {
    LIMIT=300 run -0 tprun "$SPAWN" loop 1000 true
    equal "$(sed -n '1p;4p' <<<"$output")" "$(printf 'after 100\nafter 1000')"
    local who first last
    for who in agent manager; do
        read -r _ fds1 _ kib1 _ kids1 _ <<<"$(grep "^$who" <<<"$output" | head -1)"
        read -r _ fds2 _ kib2 _ kids2 _ <<<"$(grep "^$who" <<<"$output" | tail -1)"
        echo "$who: $fds1 $kib1 $kids1 -> $fds2 $kib2 $kids2"
        [ "$fds2" -le "$fds1" ] && [ "$fds1" -gt 3 ]
        [ "$kids2" -le "$kids1" ] && [ "$kids1" -gt 0 ]
        [ -z "${REPORTS:-}" ] || continue # sanitizers keep what was freed for a while
        [ "$((kib2 - kib1))" -lt 256 ] && [ "$kib1" -gt 500 ]
    done
}

@test "spawned tasks take free cores, which are given back when they have ended" {
    need_cores 2
    unset TPRUN_OPTIONS
    # shellcheck disable=SC2016
    tprun -v -n 1 sh -c '"$0" run -- 1 sh -c "grep Cpus_allowed_list /proc/self/status; sleep 1"
        sleep 2; touch ended; sleep 2' "$SPAWN" >log 2>err &
    wait_for 5 grep -q Cpus log
    run -1 tprun --no-wait -n 1 true
    has_line "$output" "*every core is held*"
    wait_for 5 test -e ended
    run -0 tprun --no-wait -n 1 true
    wait
    equal "$(grep "uses already" err)" ""
}

@test "spawned tasks that share cores may run on all of them, unless --bind-to says otherwise" {
    need_cores 2
    unset TPRUN_OPTIONS
    local lists='sed -n "s/Cpus_allowed_list:[[:space:]]*/on /p" /proc/self/status' all n
    n=$(($(nproc) + 1))
    run -0 tprun -n 1 --bind-to none sh -c "$lists"
    all=$output
    run -0 --separate-stderr tprun -v -n 1 "$SPAWN" run -- "$n" sh -c "$lists"
    has_line "$stderr" "tprun: group 1: *on 1 node, on cores that the program uses already"
    equal "$(grep -c "^$all\$" <<<"$output")" "$n"
    run -0 tprun -n 1 --map-by core "$SPAWN" run -- "$n" sh -c "$lists"
    equal "$(grep -c "^$all\$" <<<"$output")" "$n"
    run -0 --separate-stderr tprun -n 1 --bind-to core "$SPAWN" run -- "$n" sh -c "$lists"
    equal "$(grep -c '^on ' <<<"$output")" "$n"
    equal "$(grep -c "^$all\$" <<<"$output")" 0
    run -0 tprun -n 1 "$SPAWN" run bind_to=core -- "$n" sh -c "$lists"
    equal "$(grep -c "^$all\$" <<<"$output")" 0
}

@test "cores that spawned tasks share are held from the first to the last of them" {
    need_cores 2
    unset TPRUN_OPTIONS
    # shellcheck disable=SC2016
    start "$TPRUN" -n 1 sh -c '"$0" run -- "$(($(nproc --all) + 1))" sh -c "echo up; until [ -e over ]; do sleep 0.05; done"
        until [ -e go ]; do sleep 0.05; done' "$SPAWN"
    wait_for 10 grep -q up out
    run -1 tprun --no-wait -n 1 true
    has_line "$output" "*every core is held*"
    : >over
    wait_for 10 tprun --no-wait -n 1 true
    : >go
    finish
    equal "$status" 0
}

freeze_lock() { # until $locker is killed
    lock_file "$TPRUN_RUNTIME_DIR"/this-machine-*/lock
    kill -STOP "$locker"
}

@test "a spawn waits for the lock of one that is stopped, and starts after it" {
    need_cores 2
    unset TPRUN_OPTIONS
    # shellcheck disable=SC2016
    start "$TPRUN" -n 1 sh -c 'echo up; until [ -e go ]; do sleep 0.05; done
        exec "$0" run -- 1 echo spawned' "$SPAWN"
    wait_for 10 lines_are out 1
    freeze_lock
    : >go
    sleep 1.5
    equal "$(cat out err)" up
    kill -KILL "$locker"
    finish
    equal "$status" 0
    has_line "$(cat out)" spawned
}

@test "cores of spawned tasks are given back once the lock of one that is stopped is free" {
    need_cores 2
    unset TPRUN_OPTIONS
    # shellcheck disable=SC2016
    start "$TPRUN" -v -n 1 sh -c '"$0" run -- 1 sh -c "echo up; until [ -e over ]; do sleep 0.05; done"
        until [ -e go ]; do sleep 0.05; done' "$SPAWN"
    wait_for 10 grep -q up out
    freeze_lock
    : >over
    wait_for 5 grep -q 'group 1: all its tasks have ended' err
    sleep 1
    kill -KILL "$locker"
    wait_for 5 tprun --no-wait -n 1 true
    : >go
    finish
    equal "$status" 0
}

@test "cores that a shape was given and no task uses are for spawned tasks" {
    need_cores 2
    unset TPRUN_OPTIONS
    # shellcheck disable=SC2016
    run -0 --separate-stderr tprun -v -n 1 --shape 'slot=2/core' "$SPAWN" run -- 1 sh -c 'sed -n "s/Cpus_allowed_list://p" /proc/self/status'
    equal "$(grep "uses already" <<<"$stderr")" ""
    has_line "$stderr" "tprun: group 1: ranks 1-1 on 1 node"
}

# A number would be a limit: programs that find it reached do not even try.
@test "the universe of a program has no size, as it may spawn any number of tasks" {
    run -0 tprun -n 2 "$SPAWN" ask cmd=get_universe_size
    equal "$(grep -o 'size=.*' <<<"$output")" "$(printf 'size=-1\nsize=-1')"
}

@test "names are known to all groups of a program until they are taken back" {
    run -0 tprun "$SPAWN" ask 'cmd=lookup_name service=s' 'cmd=publish_name service=s port=tag#0$x' \
        'cmd=publish_name service=s port=other' 'cmd=lookup_name service=s' \
        'cmd=unpublish_name service=s' 'cmd=unpublish_name service=s' 'cmd=lookup_name service=s'
    equal "$(grep -o 'rc=[-0-9]*' <<<"$output" | sed 's/rc=[^0].*/bad/' | tr '\n' ' ')" "bad rc=0 bad rc=0 rc=0 bad bad "
    has_line "$output" "*port=tag#0\$x*"
}

@test "more names than a program may publish are refused, and the rank is named once" {
    local names
    mapfile -t names < <(printf 'cmd=publish_name service=n%d port=p\n' {1..8195})
    run -0 --separate-stderr tprun "$SPAWN" ask "${names[@]}"
    equal "$(grep -o 'rc=.*' <<<"$output" | sort | uniq -c | sed 's/^ *//')" "8192 rc=0 msg=success
3 rc=1 msg=too_many_names"
    equal "$stderr" 'tprun: rank 0: PMI: the name "n8193" cannot be published: 8192 names of 2048 KiB are the most'
}

@test "another program of the instance finds a name, for as long as its publisher runs" {
    # shellcheck disable=SC2016
    tprun sh -c '"$0" ask "cmd=publish_name service=far port=here"; until [ -e enough ]; do sleep 0.05; done' "$SPAWN" >log &
    wait_for 5 grep -q publish_result log
    run -0 tprun --overlap "$SPAWN" ask 'cmd=lookup_name service=far' 'cmd=publish_name service=far port=mine' \
        'cmd=unpublish_name service=far'
    has_line "$output" "*port=here*"
    equal "$(grep -c 'rc=0' <<<"$output")" 1
    touch enough
    wait
    run -0 tprun "$SPAWN" ask 'cmd=lookup_name service=far'
    equal "$(grep -c 'rc=0' <<<"$output")" 0
}

@test "of two programs that publish a name in one instant exactly one succeeds, 500 times" {
    local start=$(($(date +%s) + 2)) ended=$PWD/ended
    # both live until both are through: a name goes with its program
    # shellcheck disable=SC2016
    local task='"$0" race "$1" 500 && echo >>"$2" && until [ "$(wc -l <"$2")" = 2 ]; do sleep 0.05; done'
    tprun --overlap sh -c "$task" "$SPAWN" "$start" "$ended" >one &
    run -0 --separate-stderr tprun --overlap sh -c "$task" "$SPAWN" "$start" "$ended"
    wait $!
    echo "$(wc -l <one) and $(wc -l <<<"$output")"
    equal "$(sort -n one - <<<"$output")" "$(seq 0 499)"
    [ -s one ] && [ -n "$output" ]
}

# ---- the same through libpmi.so.0 and libpmi2.so.0 ----

each_library() { # FUNCTION: with $STEPS of one, then of the other
    local library
    for library in libpmi libpmi2; do
        steps_of "$library"
        echo "# $library"
        "$1" || return
    done
}

libraries_spawn() {
    run -0 --separate-stderr tprun "$STEPS" spawn 2 "$STEPS" put k v meet get k show 'a b' '' x=y , \
        1 "$STEPS" put k2 v meet get k show ';' spawn 1 ./nosuch , 2 true ';' show || return
    has_line "$output" "spawn: 0 errors 0 0 0 job *" || return
    has_line "$output" "spawn: * errors 127 1 1 job *" || return
    equal "$(sed -n 's/ job .* from / from /; s/kvs_[0-9_]*/KVS/; /^rank/p' <<<"$output" | sort)" "$(cat <<'EOF'
rank 0 of 1 spawned 0 appnum 0 from nobody:
rank 0 of 3 spawned 1 appnum 0 from rank 0 of KVS; its=a: [a b] [] [x=y]
rank 1 of 3 spawned 1 appnum 0 from rank 0 of KVS; its=a: [a b] [] [x=y]
rank 2 of 3 spawned 1 appnum 1 from rank 0 of KVS; its=a:
EOF
)" || return
    equal "$(grep -cx 'get k: 0 v' <<<"$output")" 3
}
@test "PMI_Spawn_multiple and PMI2_Job_Spawn start blocks, and say what could not be started" {
    each_library libraries_spawn
}

libraries_name() {
    run -0 --separate-stderr tprun "$STEPS" lookup parent publish parent 'tag#0$x=1' publish parent other \
        spawn 1 "$STEPS" lookup parent publish child 'its=2' await enough ';' await child \
        unpublish parent lookup parent unpublish parent publish enough x || return
    equal "$stderr" "" || return
    equal "$(grep -v '^spawn' <<<"$output" | sed 's/: [^0 ][^ ]* */: bad/' | sort)" "$(sort <<'EOF'
lookup parent: bad
publish parent: 0
publish parent: bad
lookup parent: 0 tag#0$x=1
publish child: 0
await child: 0 its=2
unpublish parent: 0
lookup parent: bad
unpublish parent: bad
publish enough: 0
await enough: 0 x
EOF
)"
}
@test "PMI_Publish_name and PMI2_Nameserv_publish: what one group publishes another finds" {
    each_library libraries_name
}

@test "names that one library publishes the other finds, in another program of the instance" {
    local there here
    for there in libpmi libpmi2; do
        [ "$there" = libpmi ] && here=libpmi2 || here=libpmi
        steps_of "$there"
        tprun "$STEPS" publish far 'tag#0$x' until "$PWD/enough" unpublish far lookup far until "$PWD/over" >log &
        steps_of "$here"
        run -0 --separate-stderr tprun --overlap "$STEPS" await far publish far mine unpublish far lookup far
        equal "$stderr" ""
        equal "$(sed 's/: [^0 ][^ ]* */: bad/' <<<"$output")" "$(cat <<'EOF'
await far: 0 tag#0$x
publish far: bad
unpublish far: bad
lookup far: 0 tag#0$x
EOF
)"
        touch enough
        wait_for 5 grep -q '^lookup' log
        run -0 tprun --overlap "$STEPS" lookup far
        equal "$(sed 's/: [^0 ][^ ]* */: bad/' <<<"$output")" "lookup far: bad"
        touch over
        wait
        equal "$(sed 's/: [^0 ][^ ]* */: bad/' log)" "$(printf 'publish far: 0\nunpublish far: 0\nlookup far: bad')"
        rm enough over
    done
}
