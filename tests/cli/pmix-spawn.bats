# shellcheck disable=SC2154 # bats sets stderr
# Tasks that are added to a running program by PMIx_Spawn().
load ../lib/common
setup_file() { build_programs; }
setup() {
    start_test
    need_pmix_programs
}
teardown() { nothing_left; }

SPAWN=$PROGRAMS/pmix-spawn
shown() { grep '^rank' <<<"$output" | sed 's/ of tprun\.[0-9a-f]*/ of N/' | sort; }

@test "the tasks of a spawn are one job, and know who spawned them" {
    run -0 --separate-stderr tprun -n 2 "$SPAWN" 3 "$SPAWN" show
    equal "$stderr" ""
    has_line "$output" "SUCCESS tprun.*.1"
    equal "$(shown)" "$(printf "rank %d of 3, app 0, in $PWD, spawned 1, by rank 0 of N.1.0\n" 0 1 2)"
}

@test "tasks of the command line were not spawned" {
    run -0 --separate-stderr tprun "$SPAWN" show
    equal "$output$stderr" "rank 0 of 1, app 0, in $PWD, spawned 0"
}

@test "a spawned task spawns in its turn, and another rank is the parent" {
    run -0 --separate-stderr tprun "$SPAWN" 1 "$SPAWN" 2 "$SPAWN" show
    equal "$stderr" ""
    equal "$(shown)" "$(printf "rank %d of 2, app 0, in $PWD, spawned 1, by rank 0 of N.1.1\n" 0 1)"
}

@test "apps of one spawn are one job, and each has directives and variables of its own" {
    mkdir sub
    # shellcheck disable=SC2016
    run -0 --separate-stderr tprun -x C=there "$SPAWN" pmix.wdir=sub 2 "$SPAWN" show \
        + A=1 pmix.envar.set=B=2 pmix.envar.prepnd=C=first pmix.envar.appnd=C=last \
        1 sh -c 'echo "$A $B $C"; [ $# = 2 ] && echo "($1)($2)"' sh 'a b' ''
    has_line "$output" "1 2 first:there:last"
    has_line "$output" "(a b)()"
    equal "$(shown)" "$(printf "rank %d of 3, app 0, in $PWD/sub, spawned 1, by rank 0 of N.1.0\n" 0 1)"
}

@test "directives of the job hold for each app that has none of its own" {
    mkdir one two
    run -0 --separate-stderr tprun "$SPAWN" @pmix.wdir="$PWD/one" 1 pwd + pmix.wdir=two 1 pwd
    equal "$(grep ^/ <<<"$output" | sort)" "$(printf '%s\n' "$PWD/one" "$PWD/two")"
}

@test "a prefix is where programs and libraries are looked for first" {
    mkdir -p there/bin
    # shellcheck disable=SC2016
    printf '#!/bin/sh\necho "found $LD_LIBRARY_PATH"\n' >there/bin/tool
    chmod +x there/bin/tool
    run -0 --separate-stderr env -u LD_LIBRARY_PATH timeout 60 "$TPRUN" "$SPAWN" pmix.prefix="$PWD/there" 1 tool
    has_line "$output" "found $PWD/there/lib"
}

refused() { # STATUS LINE ARGUMENTS...: PMIx_Spawn() says it, and stderr why, once
    run -0 --separate-stderr tprun "$SPAWN" "${@:3}"
    equal "$output" "$1 "
    has_line "$stderr" "$2"
    equal "$(wc -l <<<"$stderr")" "${LINES:-1}"
}
@test "a spawn that fails tells its caller a status and the user why, and the program goes on" {
    echo data >plain
    refused "JOB-EXE-NOT-FOUND" "tprun: spawn refused: cannot run ./nosuch: *" 2 ./nosuch
    refused "JOB-APP-NOT-EXECUTABLE" "tprun: spawn refused: cannot run ./plain: *" 2 ./plain
    refused "JOB-APP-NOT-EXECUTABLE" "tprun: spawn refused: *plain*" 1 true + 1 ./plain + 1 ./nosuch
    refused "JOB-FAILED-TO-MAP" "tprun: spawn refused: *no core*" pmix.host=elsewhere 1 true
    LINES=3 refused "BAD-PARAM" "tprun: spawn refused: *nonsense*" pmix.mapby=nonsense 1 true
    refused "BAD-PARAM" "tprun: spawn refused: *pmix.cpuperproc*another type" pmix.cpuperproc=2 1 true
    refused "BAD-PARAM" "tprun: spawn refused: */no/such/file*" pmix.hostfile=/no/such/file 1 true
}

@test "a directive that means nothing here is told with -v; where it is required the spawn is refused" {
    run -0 --separate-stderr tprun -v "$SPAWN" pmix.preloadfiles=x pmix.pers=ompi 1 true
    has_line "$output" "SUCCESS *"
    has_line "$stderr" "tprun: spawn: info keys that mean nothing here: pmix.preloadfiles"
    refused "NOT-SUPPORTED" 'tprun: spawn refused: "pmix.preloadfiles" is required, *' pmix.preloadfiles!=x 1 true
    run -0 --separate-stderr tprun "$SPAWN" pmix.wdir!=/ 1 pwd
    has_line "$output" "/"
}

@test "Open MPI's words for where tasks go are understood" {
    local word
    for word in core node slot:OVERSUBSCRIBE core:PE=1 ppr:4:node; do
        run -0 --separate-stderr tprun "$SPAWN" "pmix.mapby=$word" pmix.bindto=core:overload-allowed 2 true
        has_line "$output" "SUCCESS *" || { echo "$word: $stderr"; return 1; }
    done
}

@test "a spawned task that fails ends the program, and is named by its rank" {
    run -3 --separate-stderr tprun "$SPAWN" 1 sh -c 'sleep 0.2; exit 3'
    has_line "$stderr" "tprun: rank 1 on $(hostname): exited with status 3"
}

@test "400 spawns of tasks that speak PMIx leave the host as large as it was" {
    need_plain_build "what was freed is kept for a while"
    LIMIT=100 run -0 --separate-stderr tprun "$SPAWN" loop 400 "$SPAWN" show
    local first last
    first=$(awk '$1 == 200 { print $2 }' <<<"$output") last=$(awk '$1 == 400 { print $2 }' <<<"$output")
    echo "$first KiB -> $last KiB"
    [ "$first" -gt 1000 ] && [ "$((last - first))" -lt 4096 ]
}
