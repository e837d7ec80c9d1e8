# What a run does when others hold what it asks for, and what a task's run may use.
load ../lib/common
setup_file() { build_programs; }
setup() {
    start_test
    unset TPRUN_OPTIONS
    HOST=$(uname -n)
    ALL=$(nproc)
}
teardown() {
    ! mountpoint -q small || umount small
    nothing_left
}

# hold N: a program in the background that holds N cores until it is ended; sets $holder.
hold() {
    env --default-signal=INT,QUIT,PIPE "$TPRUN" -n "$1" --bind-to core sh -c "echo; exec $PROGRAMS/stay" \
        >held 2>held.err 3>&- &
    holder=$!
    wait_for 5 lines_are held "$1"
}
release() { kill "$holder" && wait "$holder" || true; }
# wait_in_line N: so many runs do.
in_line() { [ "$(cat "$TPRUN_RUNTIME_DIR"/*/claims | grep -c '^[0-9]* w ')" = "$1" ]; }

write_R() { # FILE CORES
    printf '{"version":1,"execution":{"R_lite":[{"rank":"0","children":{"core":"%s"}}],"nodelist":["%s"]}}' \
        "$2" "$HOST" >"$1"
}

@test "a run waits for what another holds, and starts when that ends" {
    hold "$ALL"
    start "$TPRUN" echo there
    wait_for 5 in_line 1
    [ ! -s out ]
    release
    finish
    [ "$status" = 0 ]
    equal "$(cat out err)" there
}

@test "a waiting run starts as soon as cores are free" {
    hold "$ALL"
    start "$TPRUN" -n "$ALL" sh -c 'date +%s%N'
    wait_for 5 in_line 1
    sleep 1.2
    local before
    kill "$holder"
    before=$(date +%s%N)
    finish
    local took=$((($(head -n 1 out) - before) / 1000000)) from
    from=$(date +%s%N)
    tprun --overlap -n 1 true
    echo "$took ms, and $((($(date +%s%N) - from) / 1000000)) ms for a run of nothing"
    [ "$took" -lt $((400 + ($(date +%s%N) - from) * 10 / 1000000)) ]
    wait "$holder" || true
}

@test "--no-wait fails at once, and says who holds what" {
    hold "$ALL"
    run -1 --separate-stderr tprun --no-wait echo no
    [ -z "$output" ]
    has_line "$stderr" "tprun: every core is held by other running programs *program 1 (sh -c echo; exec *, since ??:??, for *s) holds core* of $HOST"
    equal "$(grep -o -- --overlap <<<"$stderr")" --overlap # once
    release
}

@test "what a run holds is known to runs from another environment" {
    unset TPRUN_RUNTIME_DIR
    mkdir -m 700 xdg tmp
    write_R R 0
    start env XDG_RUNTIME_DIR="$PWD/xdg" TMPDIR="$PWD/tmp" "$TPRUN" -R R sh -c "echo; exec $PROGRAMS/stay"
    wait_for 5 lines_are out 1
    run -1 --separate-stderr env -i PATH="$PATH" timeout 20 "$TPRUN" --no-wait -R R true
    has_line "$stderr" "tprun: every core is held by other running programs *program * (sh -c *, since ??:??, for *s) holds core 0 of $HOST"
    kill "$job"
    finish
    rm -rf "$(dirname "$(grep -lx "R file $PWD/R" "/tmp/tprun-$(id -u)"/*/identity)")"
    equal "$(find xdg)" xdg
}

@test "--no-wait does not delay who came first: it is told whom it would" {
    need_cores 2
    hold 1
    start "$TPRUN" -n "$ALL" --bind-to core true
    wait_for 5 in_line 1
    run -1 --separate-stderr tprun --no-wait true
    has_line "$stderr" "tprun: --no-wait: it would delay program 2 (true, since ??:??, for *s), which came first; --overlap shares them"
    release
    finish
    [ "$status" = 0 ]
}

@test "--wait=FSD that runs out is an error that names the holder" {
    hold "$ALL"
    run -1 --separate-stderr tprun --wait=300ms true
    has_line "$stderr" "tprun: waited 300ms (--wait) in vain for 1 core on $HOST: program 1 (sh -c echo; exec *, since ??:??, for *s) holds core* of $HOST; --overlap shares them"
    release
}

@test "after 5 seconds a run says what it waits for" {
    hold "$ALL"
    start "$TPRUN" true
    sleep 4.5
    [ ! -s err ]
    wait_for 3 lines_are err 1
    has_line "$(cat err)" "tprun: waiting for 1 core on $HOST: program 1 (sh -c *, since ??:??, for *s) holds core* of $HOST; --overlap shares them"
    release
    finish
    [ "$status" = 0 ]
}

@test "runs get their turn in order of arrival, and a small one does not overtake" {
    need_cores 2
    hold 1
    local i
    for i in 1 2 3 4 5; do
        # Odd ones want all cores, even ones would fit beside the holder.
        "$TPRUN" -n "$((i % 2 ? ALL : 1))" --bind-to core sh -c "[ \$TPRUN_RANK != 0 ] || echo $i >>order; sleep 0.1" 3>&- &
        wait_for 5 in_line "$i"
    done
    [ ! -e order ]
    release
    wait
    equal "$(paste -sd' ' order)" "1 2 3 4 5"
}

@test "Ctrl-C while waiting ends it at once, and leaves nothing" {
    hold "$ALL"
    start "$TPRUN" echo no
    wait_for 5 in_line 1
    kill -INT "$job"
    finish
    [ "$status" = 130 ]
    [ ! -s out ]
    run -1 --separate-stderr tprun --no-wait true
    [[ "$stderr" != *waits* ]]
    release
    equal "$(find "$TPRUN_RUNTIME_DIR"/*/programs -name '[0-9]*')" ""
}

@test "a run that was killed while it waited, or while it held cores, holds nobody up" {
    hold "$ALL"
    start "$TPRUN" -n "$ALL" echo no
    wait_for 5 in_line 1
    kill -9 "$job"
    finish
    local first=$job
    "$TPRUN" echo there >out2 3>&- &
    wait_for 5 grep -qa '^[0-9]* w .*echo there' "$TPRUN_RUNTIME_DIR"/*/claims
    kill -9 "$holder"
    wait_for 10 lines_are out2 1
    wait
    [ "$first" ]
}

@test "a request that can never be met is refused at once, whoever holds what" {
    hold "$ALL"
    run -1 --separate-stderr tprun -n "$((ALL + 1))" --bind-to core true
    [[ "$stderr" == *"asked for $((ALL + 1)) tasks, $ALL fit"* ]]
    release
}

@test "a task's run is not held up by those that wait outside" {
    start "$TPRUN" -n "$ALL" --bind-to core sh -c "[ \$TPRUN_RANK = 0 ] || exec $PROGRAMS/stay
        echo ready; while [ ! -e go ]; do sleep 0.05; done; $TPRUN --no-wait echo inside; exec $PROGRAMS/stay"
    wait_for 5 lines_are out 1
    "$TPRUN" echo outside >out2 3>&- &
    wait_for 5 in_line 1
    : >go
    wait_for 5 grep -q inside out
    [ ! -s out2 ]
    kill "$job"
    finish
    wait
    equal "$(cat out2)" outside
}

@test "runs of two tasks of a program share out what it holds, and wait for each other" {
    need_cores 2
    start "$TPRUN" -n 1 -c 2 sh -c "$TPRUN -n 2 --bind-to core sh -c 'echo a; sleep 0.5; echo a' & sleep 0.3
        $TPRUN -n 1 echo b; wait"
    finish
    [ "$status" = 0 ]
    equal "$(tail -n 1 out)" b
}

@test "--on takes exactly the resources of an R" {
    need_cores 2
    write_R on 1
    run -0 tprun --on on "$PROGRAMS/where"
    equal "${output##* }" 1
    run -0 tprun --dry-run --format=json --on on true
    equal "$(jq -c .R.execution.R_lite <<<"$output")" '[{"rank":"0","children":{"core":"1"}}]'
    hold 1
    run -0 tprun --no-wait --on on true
    write_R all "0-$((ALL - 1))"
    run -1 --separate-stderr tprun --no-wait --on all true
    has_line "$stderr" "tprun: --on all: not all of it is free: *program * (sh -c *, since ??:??, for *s) holds core 0 of $HOST; --overlap shares them"
    start "$TPRUN" --on all echo there
    wait_for 5 in_line 1
    release
    finish
    equal "$(cat out)" there
}

@test "--on claims all of its R, whatever its tasks need" {
    need_cores 2
    write_R all "0-$((ALL - 1))"
    start "$TPRUN" --on all -n 1 --bind-to core sh -c "echo; exec $PROGRAMS/stay"
    wait_for 5 lines_are out 1
    run -1 tprun --no-wait true
    kill "$job"
    finish
}

@test "--on with more than the instance has is refused with both sets" {
    write_R R 0
    write_R on 0-7
    run -1 --separate-stderr tprun -R R --on on true
    equal "$stderr" "tprun: --on on names cores 0-7 of $HOST, but R file R has 0 there"
    sed "s/$HOST/elsewhere/" on >other
    run -1 --separate-stderr tprun -R R --on other true
    equal "$stderr" "tprun: --on other names elsewhere, which is not part of this instance (R file R: $HOST)"
    run -1 --separate-stderr tprun --on nothing true
    [[ "$stderr" == *"nothing"*"No such file"* ]]
}

@test "a task's run cannot leave its program, whatever it names, to any depth" {
    need_cores 2
    write_R all "0-$((ALL - 1))"
    write_R one 1
    export PATH=$(dirname "$TPRUN"):$PATH
    run -1 --separate-stderr tprun -n 1 --bind-to core tprun -R all true
    has_line "$stderr" "tprun: R file all names cores 0-$((ALL - 1)) of $HOST, but program 1, which this run is a task of, has 0 there"
    run -1 --separate-stderr tprun -n 1 --bind-to core tprun tprun --on one true
    [[ "$stderr" == *"--on one names core"*" of $HOST, but "*"has 0 there"* ]]
    run -1 --separate-stderr tprun -n 1 tprun --hosts elsewhere true
    has_line "$stderr" "tprun: --hosts names elsewhere, but program *, which this run is a task of, has only $HOST"
    run -0 tprun -n 1 --bind-to core tprun --bind-to none tprun --bind-to none "$PROGRAMS/where"
    equal "${output##* }" 0
    write_R zero 0
    run -0 tprun -n 1 --bind-to core tprun -R zero "$PROGRAMS/where"
    equal "${output##* }" 0
}

@test "runs of two instances that bind to the same cores are told so, tasks' runs are not" {
    write_R R 0
    start "$TPRUN" -R R sh -c "echo; exec $PROGRAMS/stay"
    wait_for 5 sh -c 'grep -q " sh in " run/register-of-*/claims'
    run -0 --separate-stderr tprun --bind-to core sh -c 'sleep 0.5'
    has_line "$stderr" "tprun: $HOST: processor 0 is also bound by a run of sh in */run/*-R-*, since ??:??: runs of two instances share them"
    run -0 --separate-stderr tprun --overlap --bind-to core sh -c 'sleep 0.5'
    equal "$stderr" ""
    kill "$job"
    finish
    equal "$(cat err | grep -c processor)" 0
    PATH=$(dirname "$TPRUN"):$PATH run -0 --separate-stderr tprun --bind-to core tprun sh -c 'sleep 0.5'
    equal "$stderr" ""
}

@test "a run that is over at once writes down nothing for runs of other instances" {
    local try
    for try in {1..10}; do # a machine that is slow now and then does not end it at once
        run -0 tprun -n 1 --bind-to core true
        [ -d "$(echo run/register-of-*)" ] || return 0
        rm -rf run
    done
    echo "each of $try runs of true did"
    return 1
}

@test "of many runs at once none gets a core that another has" {
    local i
    cat >task <<'END'
#!/bin/sh
cpu=$(sed -n 's/^Cpus_allowed_list:\t//p' /proc/self/status)
mkdir "core.$cpu" || echo "core $cpu twice" >>twice
sleep 0.02
rmdir "core.$cpu"
echo "$cpu" >>done
END
    chmod +x task
    for ((i = 0; i < 10 * ${ROUNDS:-3}; i++)); do
        if ((i % 3)); then
            "$TPRUN" --bind-to core ./task 3>&- 2>>err &
        else
            "$TPRUN" --no-wait --bind-to core ./task 3>&- 2>>refused &
        fi
    done
    wait
    [ ! -e twice ]
    echo "$(wc -l <done) ran, $(grep -c held refused || true) were refused"
    [ "$(wc -l <done)" -ge "$((20 * ${ROUNDS:-3} / 3 - 1))" ]
    equal "$(sed -n '/^tprun: waiting for/!p' err)" ""
}

@test "who waits for the lock of one that is stopped says so, hears signals, and goes on after it" {
    tprun true
    lock_file "$TPRUN_RUNTIME_DIR"/this-machine-*/lock
    kill -STOP $locker
    start "$TPRUN" true
    wait_for 10 lines_are err 1
    has_line "$(cat err)" "tprun: waiting for the instance's lock: */lock is locked by process $locker, which is stopped: continue it (kill -CONT $locker) or end it"
    kill -TERM "$job"
    wait_for 2 eval "! kill -0 $job"
    finish
    equal "$status" 143
    start "$TPRUN" echo there
    sleep 0.5
    kill -KILL $locker
    finish
    equal "$status$(cat out err)" 0there
    wait
}

# File systems wait for a disk where a file is made, or replaced by rename.
@test "a start and an end make no file and replace none" {
    local i
    files() { find "$TPRUN_RUNTIME_DIR" -printf '%i %B@\n' | sort; }
    for i in 1 2; do tprun -n "$ALL" --bind-to core true; done
    files >before
    for i in 1 2 3; do tprun -n "$ALL" --bind-to core true; done
    files | diff before -
    [ "$(wc -l <before)" -gt 10 ]
}

@test "a storm on the ledger gives no core twice, and ends" {
    run -0 env TMPDIR="$BATS_TEST_TMPDIR" timeout 120 "$(dirname "$TPRUN")/tests/scale/ledger-storm" \
        "$((200 * ${ROUNDS:-3}))" 200
    echo "# $output" >&3
    [[ "$output" == *"cores given twice: 0" ]]
}

@test "a full disk is told in one sentence, before anything starts" {
    [ "$(id -u)" = 0 ] || skip "only root can mount a small disk"
    mkdir -m 700 small
    mount -t tmpfs -o size=32k,mode=700 none small || skip "no tmpfs here"
    export TPRUN_RUNTIME_DIR=$PWD/small
    head -c 100000 /dev/zero >small/ballast 2>/dev/null || true
    run -1 --separate-stderr tprun sh -c ': >started'
    umount small
    [ ! -e started ]
    equal "${#stderr_lines[@]}" 1
    [[ "$stderr" == *"No space left on device"* ]]
}

@test "a directory that cannot be written is told in one sentence" {
    [ "$(id -u)" = 0 ] || skip "only root can mount a small disk"
    mkdir -m 700 small
    mount -t tmpfs -o size=1m,mode=700 none small || skip "no tmpfs here"
    export TPRUN_RUNTIME_DIR=$PWD/small
    tprun true
    mount -o remount,ro small
    run -1 --separate-stderr tprun sh -c ': >started'
    umount small
    [ ! -e started ]
    equal "${#stderr_lines[@]}" 1
    [[ "$stderr" == *"Read-only file system"* ]]
}

# Ranks 3 and 7, of which the first is another host.
write_site() {
    printf '{"version":1,"execution":{"R_lite":[{"rank":"3,7","children":{"core":"0"}}],
        "nodelist":["elsewhere","%s"],"properties":{"ssd@9":"3,7","+own":"3,7"}},
        "scheduling":{"writer":"TreePool","children":[{"ranks":"3,7","topo":{"tile":[{"cores":"0"}]}}]}}' \
        "$HOST" >site.json
}

@test "a task's run knows properties and topology of what its program holds, ranks counted from 0" {
    write_site
    # shellcheck disable=SC2016 # for the task
    run -0 tprun -R site.json --requires "host:$HOST" sh -c 'echo "$TPRUN_ENCLOSING_R"'
    [[ "$output" == *'"properties":{"ssd@9":"7"}'*'"ranks":"7"'*tile* ]]
    run -0 tprun -R site.json --requires "host:$HOST" "$TPRUN" --requires 'ssd and rank:0' \
        --shape 'slot/tile{x}' echo inside
    equal "$output" inside
    run ! tprun -R site.json --requires "host:$HOST" "$TPRUN" --requires '+own' echo inside
    [[ "$output" == *'has the property "+own"; known properties: "ssd@9"'* ]]
}

@test "what --on leaves of an R has the properties of the nodes that it leaves" {
    write_site
    "$(dirname "$TPRUN")/tpres" select --hosts "$HOST" site.json >part.json
    run -0 tprun -R site.json --on part.json "$TPRUN" --requires ssd echo inside
    equal "$output" inside
}
