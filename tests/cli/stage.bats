# shellcheck disable=SC2154,SC2030,SC2031,SC2016 # bats sets output and stderr; scripts are quoted
# --stage: copies of files on the nodes, on this machine. tests/cluster/stage.bats does so on several.
load ../lib/common
setup_file() { build_programs; }
setup() {
    start_test
    unset TPRUN_OPTIONS
    mkdir bin tmp
    ln -s "$TPRUN" bin/tpbatch
    export TMPDIR=$PWD/tmp
    printf '#!/bin/sh\necho "$(dirname "$0") $*"\n' >app
    chmod 750 app
    echo text >data
    chmod 640 data
}
teardown() {
    chmod 700 tmp
    nothing_left 10
    no_copies
}
no_copies() { [ -z "$(ls -A tmp)" ] || { find tmp; return 1; }; }
run_tprun() { run "$1" --separate-stderr timeout --foreground -k 5 "${LIMIT:-60}" "$TPRUN" "${@:2}"; }
tpbatch() { timeout --foreground -k 5 "${LIMIT:-60}" bin/tpbatch "$@"; }

@test "tasks find copies of the files by TPRUN_STAGE_DIR, with their modes, where nobody else can read" {
    umask 022
    head -c 3000000 /dev/urandom >large
    run_tprun -0 --stage app --stage ./data:other --stage "$PWD/large" sh -c '
        cd "$TPRUN_STAGE_DIR" && stat -c "%n %a" * && stat -c "%a" . .. && cat other && cmp large '"$PWD/large"
    equal "$output" "app 750
large 644
other 640
700
700
text"
    no_copies
}

@test "without --stage there is no such variable, also where the caller has one" {
    export TPRUN_STAGE_DIR=/elsewhere
    run_tprun -0 sh -c 'echo "${TPRUN_STAGE_DIR-unset}"'
    equal "$output" unset
}

@test "a program that is staged runs from its copy: by its name there, and by the path it was staged from" {
    local program
    mkdir sub
    for program in ./app app "$PWD/app" ./sub/../app; do
        run_tprun -0 --stage ./app "$program" a b
        has_line "$output" "$TMPDIR/tprun.*/stage a b" || [ "$program" = ./sub/../app ]
    done
    run_tprun -0 --stage app:prog prog
    has_line "$output" "$TMPDIR/tprun.*/stage *"
    run_tprun -0 --stage app:prog ./app
    has_line "$output" "$TMPDIR/tprun.*/stage *"
    run_tprun -0 --stage data ./app
    equal "$output" ". "
}

@test "what is replaced or removed once tprun runs is staged as it was" {
    start "$TPRUN" --overlap -n 1 sh -c ': >one; until [ -e go ]; do sleep 0.05; done'
    wait_for 10 test -e one
    local first=$job
    "$TPRUN" -n all --on <("${TPRUN%/*}/tpres" discover) --stage data sh -c 'cat $TPRUN_STAGE_DIR/data' >second 2>&1 3>&- &
    sleep 0.3
    rm data
    : >go
    wait $!
    wait "$first"
    equal "$(sort -u second)" text
}

@test "what cannot be staged is refused before anything starts, and said" {
    local case
    chmod 000 tmp
    mkdir folder
    mkfifo fifo
    for case in 'nowhere/file|--stage */nowhere/file: cannot read it: No such file or directory' \
        'folder|--stage */folder: is a directory, and only files are staged: *' \
        'fifo|--stage */fifo: is not a regular file'; do
        run_tprun -1 --stage "${case%%|*}" touch ran
        has_line "$stderr" "tprun: ${case#*|}"
    done
    for case in 'folder/|*is a directory, and only files are staged' \
        'app:|*the name behind the colon is not that of a file' \
        ':app|*names no file: expected FILE or FILE:NAME' \
        'app:..|*the name behind the colon is not that of a file'; do
        run_tprun -2 --stage "${case%%|*}" touch ran
        has_line "$stderr" "tprun: --stage: ${case#*|}"
    done
    run_tprun -2 --stage app --stage data:app touch ran
    has_line "$stderr" 'tprun: two files are called "app" on the nodes: *'
    [ ! -e ran ]
}

@test "a directory that is not there or full is one sentence, with the host, and no task starts" {
    run_tprun -1 --stage app -n 1 env TMPDIR=/ touch "$PWD/ran" || :
    TMPDIR=/nowhere run_tprun -1 --stage app touch ran
    has_line "$stderr" "tprun: $(uname -n): cannot make a directory in /nowhere: No such file or directory; TMPDIR may name another"
    equal "$(wc -l <<<"$stderr")" 1
    [ "$(id -u)" = 0 ] || skip "needs root"
    mount -t tmpfs -o size=1m none tmp
    head -c 3000000 /dev/zero >large
    run_tprun -1 --stage large touch full
    umount tmp
    has_line "$stderr" "tprun: $(uname -n): cannot stage 1 file in $TMPDIR: No space left on device: 2.861 MiB are needed there, and * are free (*"
    [ ! -e full ]
}

@test "nothing is left, whoever is killed, also of thousands of files" {
    local round pids
    for round in 1 2 3 4 5 6; do
        start "$TPRUN" --stage app sh -c 'cd $TPRUN_STAGE_DIR && seq 3000 | xargs touch && echo ready && sleep 100'
        wait_for 20 lines_are out 1
        case $round in
            1) pids=$job ;;
            2) pids=$(pgrep -P "$job") ;;
            3) pids=$(pgrep -P "$(pgrep -P "$job")") ;;
            4) pids="$job $(pgrep -P "$job")" ;;
            5) pids="$job $(pgrep -P "$(pgrep -P "$job")")" ;;
            6) pids=$job; kill -INT "$job" ;;
        esac
        # shellcheck disable=SC2086
        [ "$round" = 6 ] || kill -9 $pids
        finish
        wait_for 10 no_copies
        nothing_left 10
    done
}

@test "a run that is ended while files are copied leaves nothing, and says what it did" {
    truncate -s 2G huge
    start "$TPRUN" --stage huge true
    wait_for 20 eval '[ -n "$(find tmp -name huge)" ]'
    kill -INT "$job"
    finish
    if [ "$status" != 1 ]; then # there is a disk for that much
        equal "$status" 130
        has_line "$(cat err)" "tprun: ended by SIGINT* while files were copied to *"
    fi
    no_copies
}

@test "a large file needs little memory" {
    need_plain_build "takes memory of its own"
    truncate -s 400M huge
    start_watch 1
    run_tprun -0 --stage huge sh -c 'stat -c %s $TPRUN_STAGE_DIR/huge; '"$HOLD"
    watch_below 40000
    equal "$output" 419430400
}

@test "in an instance its files are there for all programs, beside those of each, which come first" {
    cat >s <<-'END'
	echo "$(basename "$(dirname "$TPRUN_STAGE_DIR/x")"): $(ls "$TPRUN_STAGE_DIR" | xargs)"
	tprun app one
	tprun ./app two
	tprun "$TPRUN_STAGE_DIR/app" three
	tprun --stage mine:data --stage mine sh -c 'cd $TPRUN_STAGE_DIR; ls | xargs; cat data'
	tprun sh -c 'cat $TPRUN_STAGE_DIR/data'
	END
    echo mine >mine
    chmod +x s
    PATH=${TPRUN%/*}:$PATH run -0 --separate-stderr tpbatch --stage app --stage data ./s
    has_line "$output" "stage: app data"
    has_line "$output" "$TMPDIR/tprun.*/stage one"
    has_line "$output" "$TMPDIR/tprun.*/stage two"
    has_line "$output" "$TMPDIR/tprun.*/stage three"
    equal "$(tail -n 3 <<<"$output")" "app data mine
mine
text"
    no_copies
}

# Longer than an instance waits for a tprun that does not say what to run.
@test "in an instance a tprun that is stopped while it sends its files goes on when it is continued" {
    truncate -s 500M huge
    cat >s <<-'END'
	tprun -n 1 --stage huge sh -c 'stat -c %s $TPRUN_STAGE_DIR/huge' &
	until [ "$(awk '/rchar/ { print $2 }' /proc/$!/io)" -gt 10000000 ]; do sleep 0.01; done
	kill -STOP $!
	sleep 32
	kill -CONT $!
	wait $!
	END
    chmod +x s
    LIMIT=100 PATH=${TPRUN%/*}:$PATH run -0 --separate-stderr tpbatch ./s
    equal "$output" 524288000
}

@test "in an instance a program that is left to itself has its files, too" {
    cat >s <<-'END'
	id=$(tprun -d --stage data sh -c 'cat $TPRUN_STAGE_DIR/data >seen; : >done')
	until [ -e done ]; do sleep 0.05; done
	END
    chmod +x s
    PATH=${TPRUN%/*}:$PATH run -0 --separate-stderr tpbatch ./s
    equal "$(cat seen)" text
}

@test "a detached program has its files" {
    run -0 "$TPRUN" -d --stage data sh -c 'cat $TPRUN_STAGE_DIR/data >seen; : >done'
    wait_for 20 test -e done
    equal "$(cat seen)" text
    wait_for 10 no_copies
}

@test "a spec has the files, and runs as the command line would" {
    run_tprun -0 --stage app --stage data:d --print-spec ./app x
    equal "$(jq -c .stage <<<"$output")" '["app","data:d"]'
    "$TPRUN" --stage app --print-spec ./app x >spec.json
    run_tprun -0 --spec spec.json
    has_line "$output" "$TMPDIR/tprun.*/stage x"
    run_tprun -2 --spec <(jq '.stage += ["data:app"]' spec.json)
    has_line "$stderr" '*two files are called "app" on the nodes*'
}
