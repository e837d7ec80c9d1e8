# shellcheck disable=SC2154,SC2030,SC2031 # bats sets output and stderr, common.bash job; each test has its own environment
# tpctl new: empty programs, which no process lives for.
load ../lib/common
setup() {
    start_test
    PATH=${TPRUN%/*}:$PATH
}
teardown() { nothing_left 5; }

STATE() { echo "$XDG_STATE_HOME"/tprun/this-machine-*; }
states() { tpctl list "$@" --format=json | jq -r '.programs[] | "\(.id) \(.state) \(.status)"'; }
names() { jq -r .name "$1" | paste -sd' '; }

@test "new prints the id of an empty program, and no process of it lives" {
    run -0 --separate-stderr tpctl new -n 4 --map-by numa
    equal "$output" 1
    equal "$stderr" ""
    [ -z "$(marked)" ]
    equal "$(states)" "1 empty null"
    run -0 tpctl list
    [[ ${lines[1]} =~ ^\ *1\ empty\ +-\ +0\ +0\ +[0-9.]+s\ +$ ]]
    run -0 --separate-stderr tpctl info 1
    equal "$(grep -v '^new ' <<<"$output")" "program    1
instance   this machine
state      empty"
    tpctl info 1 --format=json | jq -e '.state == "empty" and .ntasks == 0 and .tasks == [] and .R == null and
        .command == [] and .status == null and .t_new > 1e9 and .t_end == null and .lost == false and
        .spec.parts[0].argv == [] and .spec.parts[0].ntasks == 4'
    equal "$(names "$(STATE)/empty/1/events")" new
    equal "$(tprun printenv TPRUN_PROGRAM)" 2
    equal "$(tpctl new)" 3
    equal "$(states)" $'1 empty null\n3 empty null'
    # it holds nothing
    tprun --no-wait -n "$(nproc)" true
}

@test "what it was asked for is kept, and where that was said" {
    umask 027
    WORD=kept tpctl new -n 2 --map-by core --rlimit nofile=77 >id
    umask 022
    equal "$(tpctl info 1 --why map-by)" "--map-by core    command line"
    equal "$(tpctl info 1 --why oversubscribe)" "--oversubscribe    TPRUN_OPTIONS"
    equal "$(tpctl info 1 --why umask)" "--umask was not given: the caller's"
    tpctl info 1 --format=json | jq -e --arg here "$PWD" '.spec | .directory == $here and .umask == "0027" and
        (.environment | index("WORD=kept")) and .parts[0].map == "core"' || { tpctl info 1 --format=json | jq .spec; return 1; }
    equal "$(stat -c %a "$(STATE)/empty" "$(STATE)/empty/1" "$(STATE)/empty/1/spec.json" | paste -sd' ')" "700 700 600"
}

@test "an empty program is complete once it is terminated, and those who wait hear of it" {
    tpctl new >id
    tpctl wait --for empty 1
    run -124 tpctl wait --timeout 0.1 1
    start tpctl wait --status 1
    run -0 --separate-stderr tpctl terminate 1
    equal "$output$stderr" ""
    finish
    [ "$status" = 143 ]
    equal "$(states)" ""
    equal "$(states -a)" "1 complete 143"
    tpctl info 1 | grep -qx 'reason     ended by tpctl (pid [0-9]*) while it was empty'
    equal "$(names "$(STATE)/1/events")" "new finish complete"
    run -4 --separate-stderr tpctl terminate 1
    equal "$stderr" "tpctl: program 1 is complete"
    run -4 tpctl wait --for running 1
    # many at once: it ends once
    tpctl new >id
    local i pids=()
    for i in 1 2 3 4; do tpctl terminate 2 & pids[i]=$!; done
    for i in 1 2 3 4; do wait "${pids[i]}" || [ $? = 4 ]; done
    equal "$(names "$(STATE)/2/events")" "new finish complete"
    equal "$(states -a)" $'1 complete 143\n2 complete 143'
}

@test "an end that was cut short by SIGKILL is finished by whoever looks" {
    tpctl new >id
    jq -nc '{timestamp: now, name: "complete", context: {status: 143, reason: "said\n"}}' >>"$(STATE)/empty/1/events"
    equal "$(states -a)" "1 complete 143"
    [ ! -e "$(STATE)/empty/1" ]
    tpctl new >id
    printf '{"timestamp":17' >>"$(STATE)/empty/2/events"
    equal "$(states)" "2 empty null"
    tpctl terminate 2
    equal "$(names "$(STATE)/2/events")" "new finish complete"
    # one that is there twice, moved and not removed
    tpctl new >id
    cp -r "$(STATE)/empty/3" copy
    tpctl terminate 3
    cp -r copy "$(STATE)/empty/3"
    cp "$(STATE)/3/events" "$(STATE)/empty/3/events"
    equal "$(states -a | tail -n 1)" "3 complete 143"
    equal "$(find "$(STATE)/empty" -mindepth 1)" ""
}

# killed_before SYSCALL NUMBER COMMAND...: false: it was not.
killed_before() {
    run strace -qq -f -o /dev/null -e "trace=$1" -e "inject=$1:signal=KILL:when=$2" "${TPRUN%/*}/tpctl" "${@:3}"
    [ "$status" = 137 ]
}

remove_all() {
    [ -z "$(states)" ] || tpctl terminate "$(states | cut -d' ' -f1)"
    tpctl reap --all
}

@test "new and terminate that are killed before any change of a file leave a program that is empty, complete or not there" {
    command -v strace >/dev/null || skip "no strace here"
    need_plain_build "strace and LeakSanitizer exclude each other"
    local call number kills=0
    for call in mkdirat write renameat2 pwrite64 unlinkat; do
        for ((number = 1; ; number++)); do
            killed_before "$call" "$number" new || break
            kills=$((kills + 1))
            [[ "$(states -a)" =~ ^([0-9]+ empty null)?$ ]] || { echo "new, $call $number: $(states -a)"; return 1; }
            remove_all
        done
        remove_all
        for ((number = 1; ; number++)); do
            tpctl new >id
            killed_before "$call" "$number" terminate "$(<id)" || break
            kills=$((kills + 1))
            [[ "$(states -a)" =~ ^[0-9]+\ (empty\ null|complete\ 143)$ ]] || { echo "terminate, $call $number: $(states -a)"; return 1; }
            tpctl terminate "$(<id)" || [ $? = 4 ]
            equal "$(states -a)" "$(<id) complete 143"
            equal "$(names "$(STATE)/$(<id)/events")" "new finish complete"
            remove_all
        done
        remove_all
    done
    echo "# killed $kills times" >&3
    [ "$kills" -ge 20 ]
    equal "$(find "$(STATE)/empty" -mindepth 1 -maxdepth 1 ! -name '.new-*')" ""
    tprun --no-wait -n "$(nproc)" true
}

@test "reap refuses an empty program, and its number is not used again" {
    tpctl new >id
    run -4 --separate-stderr tpctl reap 1
    equal "$stderr" "tpctl: program 1 is not complete: wait for it, or terminate it"
    tpctl reap --all
    equal "$(states -a)" "1 empty null"
    tpctl terminate 1
    tpctl reap 1
    equal "$(states -a)" ""
    equal "$(tpctl new)" 2
}

@test "an empty program outlives the runtime directory, as a boot takes it" {
    tpctl new --umask 077 >id
    tprun true
    rm -r "${TPRUN_RUNTIME_DIR:?}"/*
    equal "$(states)" "1 empty null"
    equal "$(tpctl info 1 --why umask)" "--umask 077    command line"
    equal "$(tpctl new)" 2
    rm -r "${TPRUN_RUNTIME_DIR:?}"/*
    equal "$(tprun printenv TPRUN_PROGRAM)" 3
    rm -r "${TPRUN_RUNTIME_DIR:?}"/*
    tpctl terminate 1
    run -143 tpctl wait --status 1
    equal "$(states)" "2 empty null"
}

@test "what needs tasks says that there are none" {
    local command
    tpctl new >id
    for command in "ps 1" "signal 1 TERM" "top 1"; do
        # shellcheck disable=SC2086 # words
        run -4 --separate-stderr tpctl $command
        equal "$stderr" "tpctl: program 1 is empty: it has no tasks"
    done
    for command in "logs 1" "logs -f 1" "attach 1"; do
        # shellcheck disable=SC2086 # words
        run -4 --separate-stderr tpctl $command
        equal "$stderr" "tpctl: program 1 is empty: it has no output yet"
    done
    equal "$(tpctl top)" "no program runs"
    start "$TPRUN" --after 1 sh -c 'echo after'
    wait_for 5 eval '[ "$(states)" = "1 empty null
2 pending null" ]'
    tpctl terminate 1
    finish
    equal "$(cat out)" after
}

@test "it is of the instance in which tprun with its options would run" {
    tpres discover >R.json
    equal "$(tpctl new -R R.json)" 1
    equal "$(tpctl info 1 | grep ^instance)" "instance   R file $(realpath R.json)"
    equal "$(tprun -R R.json tpctl new)" 3
    equal "$(tpctl info 3 | grep ^instance)" "instance   R file $(realpath R.json)"
    equal "$(tpctl new)" 1
    equal "$(tpctl list --format=json --instance "$(basename "$TPRUN_RUNTIME_DIR"/this-machine-*)" | jq -r '.programs[].id')" 1
}

@test "what is no option of an empty program is refused, and nothing is made" {
    refuse() { # STATUS MESSAGE WORD...
        run --separate-stderr tpctl new "${@:3}"
        [ "$status" = "$1" ] && equal "${stderr_lines[0]}" "tpctl: $2" && equal "$output" ""
    }
    refuse 2 '"./app": an empty program has options alone, and runs nothing yet' -n 2 ./app
    refuse 2 '":": an empty program has no parts' :
    refuse 2 "--spec x.json says what to run: an empty program runs nothing yet" --spec x.json
    refuse 2 "--dry-run: tpctl new makes an empty program, and shows nothing of it; leave this out" --dry-run
    refuse 2 "--print-spec: tpctl new makes an empty program, and shows nothing of it; leave this out" --print-spec
    refuse 2 "-R - reads the standard input, which is not here later: name a file" -R -
    run -2 tpctl new --nosuch
    run -2 tpctl new -n 0
    run -1 --separate-stderr tpctl new -R nosuch.json
    [[ $stderr = *nosuch.json* ]]
    run -2 tpctl --instance x new
    run -0 tpctl new --help
    [[ ${lines[0]} = "Usage: tpctl new "* ]]
    equal "$(states -a)" ""
    : >file
    XDG_STATE_HOME=$PWD/file run -1 --separate-stderr tpctl new
    equal "${#stderr_lines[@]}" 1
    [[ $stderr = "tpctl: "*"$PWD/file"* ]]
    equal "$(states -a)" ""
    tprun true
}

@test "another user neither sees nor ends an empty program" {
    { [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; } || skip "needs to be several users"
    chmod a+x "$BATS_RUN_TMPDIR" "$(dirname "$BATS_TEST_TMPDIR")" "$BATS_TEST_TMPDIR"
    tpctl new >id
    chmod a+rx "$TPRUN_RUNTIME_DIR" "$XDG_STATE_HOME" "$XDG_STATE_HOME/tprun"
    local command
    for command in "list -a" "info 1" "terminate 1" "reap 1" "wait 1" new; do
        # shellcheck disable=SC2086 # words
        run --separate-stderr setpriv --reuid 65534 --regid 65534 --clear-groups timeout 20 "${TPRUN%/*}/tpctl" $command
        [ -z "$output" ] && [[ "${stderr_lines[0]}" == "tpctl: $TPRUN_RUNTIME_DIR "* ]] ||
            { echo "$command: status $status: $output$stderr"; return 1; }
    done
    run setpriv --reuid 65534 --regid 65534 --clear-groups ls "$(STATE)/empty"
    [ "$status" != 0 ]
    chmod go-rx "$TPRUN_RUNTIME_DIR" "$XDG_STATE_HOME" "$XDG_STATE_HOME/tprun"
    equal "$(states)" "1 empty null"
}
