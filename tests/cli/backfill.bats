# shellcheck disable=SC2154,SC2015 # bats sets stderr, start job
# The queue of an instance: who starts before whom.
load ../lib/common
setup_file() { build_programs; }
setup() {
    start_test
    unset TPRUN_OPTIONS
    HOST=$(uname -n)
    ALL=$(nproc)
    TPCTL=$(dirname "$TPRUN")/tpctl
    need_cores 2
}
teardown() { nothing_left; }

# hold N [OPTION...]: a program in the background that holds N cores until it is ended; sets $holder.
hold() {
    local count=$1
    shift
    : >held
    env --default-signal=INT,QUIT,PIPE "$TPRUN" "$@" -n "$count" --bind-to core sh -c "echo; exec $PROGRAMS/stay" \
        >held 2>held.err 3>&- &
    holder=$!
    wait_for 5 lines_are held "$count"
}
release() { kill "$holder" && wait "$holder" || true; }
in_line() { [ "$(cat "$TPRUN_RUNTIME_DIR"/*/claims | grep -c '^[0-9]* w ')" = "$1" ]; }
# big NAME [OPTION...]: a program in the background that wants all cores, and writes NAME when it runs; sets $big.
big() {
    local name=$1
    shift
    env --default-signal=INT,QUIT,PIPE "$TPRUN" "$@" -n "$ALL" --bind-to core \
        sh -c "[ \$TPRUN_RANK != 0 ] || echo $name >>order" 3>&- 2>"$name.err" &
    big=$!
}
tpctl() { timeout --foreground -k 5 20 "$TPCTL" "$@"; }

@test "twenty programs that want everything run in order of arrival" {
    hold "$ALL"
    local i
    for i in {1..20}; do
        big "$i"
        wait_for 5 in_line "$i"
    done
    release
    wait
    equal "$(paste -sd' ' order)" "$(echo {1..20})"
}

@test "one that is over by its time limit before the first can start does not wait for it" {
    hold 1 --time-limit 60
    big big
    wait_for 5 in_line 1
    run -0 tprun --time-limit 10 echo quick
    equal "$output" quick
    run -0 tprun --no-wait --time-limit 20 echo quick
    equal "$output" quick
    run -1 --separate-stderr tprun --no-wait --time-limit 100 true
    has_line "$stderr" "tprun: --no-wait: it would delay program 2 (sh -c *, since ??:??, for *s), which came first; with --time-limit=*s it could start now; --overlap shares them"
    local limit=${stderr##*--time-limit=}
    run -0 tprun --no-wait "--time-limit=${limit%%s *}s" true
    run -1 --separate-stderr tprun --no-wait --time-limit 10 --epilog /bin/true --hook-timeout 100s true
    has_line "$stderr" "tprun: --no-wait: it would delay program 2 (*), which came first; --overlap shares them"
    run -1 --separate-stderr tprun --no-wait --time-limit 10 --stage /bin/true true
    has_line "$stderr" "tprun: --no-wait: it would delay program 2 (*), which came first; --overlap shares them"
    run -1 --separate-stderr tprun --wait=300ms true
    has_line "$stderr" "tprun: waited 300ms (--wait) in vain for 1 core on $HOST: program 1 (*) holds core * of $HOST; 1 program is before this one; it would delay program 2 (*), which came first; with --time-limit=*s it could start now; --overlap shares them"
    release
    wait
    equal "$(cat order)" big
}

@test "without a known end of what it waits for nobody starts before the first" {
    hold 1
    big big
    wait_for 5 in_line 1
    run -1 --separate-stderr tprun --no-wait --time-limit 1 true
    has_line "$stderr" "tprun: --no-wait: it would delay program 2 (sh -c *), which came first; --overlap shares them"
    release
    wait
    equal "$(cat order)" big
}

@test "a program that wants everything starts although small ones keep coming" {
    hold 1 --time-limit 3 --kill-grace 1s
    big big
    wait_for 5 in_line 1
    local i
    for i in {1..25}; do
        "$TPRUN" -n 1 --time-limit 1 --kill-grace 0 sh -c "echo small >>order; sleep 0.3" 3>&- 2>/dev/null &
        sleep 0.2
    done
    wait
    equal "$(sort order | uniq -c | tr -s ' ' | paste -sd,)" " 1 big, 25 small"
    equal "$(head -n 1 order)" small # in the place that was free meanwhile
    [ "$(tail -n 1 order)" = small ]
}

@test "when the first in line is killed the next ones go on, also those that it kept waiting" {
    hold 1
    big big
    wait_for 5 in_line 1
    start "$TPRUN" -n 1 echo small
    wait_for 5 in_line 2
    [ ! -s out ]
    kill -9 "$big"
    finish
    equal "$(cat out)" small
    release
    wait
    [ ! -e order ]
}

@test "who waits in one instance is in nobody's way in another" {
    local core
    for core in 0 1; do
        printf '{"version":1,"execution":{"R_lite":[{"rank":"0","children":{"core":"%s"}}],"nodelist":["%s"]}}' \
            "$core" "$HOST" >"R$core"
    done
    start "$TPRUN" -R R0 sh -c "echo; exec $PROGRAMS/stay"
    wait_for 5 lines_are out 1
    "$TPRUN" -R R0 sh -c 'echo one >>order' 3>&- &
    wait_for 5 in_line 1
    run -0 tprun --no-wait -R R1 sh -c 'echo other >>order'
    kill "$job"
    finish
    wait
    equal "$(paste -sd' ' order)" "other one"
}

@test "list and info show that a program is pending, what it waits for, and its place" {
    hold "$ALL"
    big first
    wait_for 5 in_line 1
    big second
    wait_for 5 in_line 2
    run -0 tpctl list
    has_line "$output" "     2 pending * sh -c *  (waits for $ALL cores on $HOST, held by program 1)"
    has_line "$output" "     3 pending * sh -c *  (waits for $ALL cores on $HOST, held by program 1; 1 program is before it)"
    run -0 tpctl list --format=json
    equal "$(jq -c '.programs[] | [.id, .state, .waits]' <<<"$output" | paste -sd' ')" \
        "[\"1\",\"running\",null] [\"2\",\"pending\",{\"for\":\"$ALL cores on $HOST\",\"held_by\":[\"1\"],\"before\":0}] [\"3\",\"pending\",{\"for\":\"$ALL cores on $HOST\",\"held_by\":[\"1\"],\"before\":1}]"
    run -0 tpctl info 3
    has_line "$output" "waits for  $ALL cores on $HOST, held by program 1; 1 program is before it"
    run -0 tpctl info 3 --format=json
    equal "$(jq -c .waits.before <<<"$output")" 1
    release
    wait
    run -0 tpctl info 2 --format=json
    equal "$(jq -c '[.state, .waits]' <<<"$output")" '["complete",null]'
    equal "$(paste -sd' ' order)" "first second"
}

@test "inside of tpbatch there is a queue of its own, with the same rules" {
    mkdir bin
    ln -s "$TPRUN" bin/tpbatch
    cat >script <<'END'
#!/bin/sh
waiting() { [ "$(grep -ac "^[0-9]* w " "$TPRUN_INSTANCE/claims")" = "$1" ] || { sleep 0.05; false; }; }
tprun -n 1 --bind-to core --time-limit 60 sh -c "echo; exec $PROGRAMS/stay" >held &
holder=$!
until [ -s held ]; do sleep 0.05; done
tprun -n "$ALL" --bind-to core sh -c '[ $TPRUN_RANK != 0 ] || echo big >>order' &
until waiting 1; do :; done
tprun -n 1 sh -c 'echo small >>order' &
until waiting 2; do :; done
tprun -n 1 --time-limit 10 sh -c 'echo quick >>order'
tpctl list >list
kill $holder
wait
END
    chmod +x script
    export ALL
    PATH=$(dirname "$TPRUN"):$PATH run -0 timeout 60 bin/tpbatch -n "$ALL" ./script
    equal "$(paste -sd' ' order)" "quick big small"
    grep -q "(waits for $ALL cores on $HOST, held by program 2)" list
    grep -q "(waits for 1 core on $HOST, held by program 2; 1 program is before it)" list
}
