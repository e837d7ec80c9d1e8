# shellcheck disable=SC2154 # bats sets stderr
# PMIx tools that connect to a program on this machine.
load ../lib/common
setup_file() { build_programs; }
setup() {
    start_test
    TOOL=$PROGRAMS/pmix-tool
    { [ -x "$TOOL" ] && serves_pmix; } || skip "no PMIx here"
    mkdir tmp
    export TMPDIR=$PWD/tmp
}
teardown() {
    nothing_left 4
    [ ! -d tmp ] || equal "$(ls tmp)" ""
}

tool() { timeout --foreground -k 5 "${LIMIT:-30}" "$TOOL" "$@"; }

# program OPTION... PROGRAM [ARG...]: in the background; sets $uri and the tasks' $namespace.
program() {
    start "$TPRUN" --tools "$@"
    wait_for 10 grep -q ' --uri ' err
    uri=$(sed -n 's/^tprun: PMIx tools on .*: --uri //p' err)
    namespace=$(sed -n 's/.*\.tool\.//p' <<<"$uri").0
}
end_program() { # ends it: tasks wait for this
    : >over
    finish
}
WAITS='until [ -e over ]; do sleep 0.05; done'
# A request is in force a while after openpmix has said that it is: tasks write until it is heard of.
BEATS='until [ -e go ]; do echo beat; echo beat >&2; sleep 0.05; done'
# shellcheck disable=SC2016 # for the tasks' shells
SAYS=$BEATS'; for i in 1 2 3; do echo out $i; echo err $i >&2; done; '$WAITS
said() { grep "^tprun" err; }

@test "each tool has a namespace of its own" {
    program -n 2 sh -c "$WAITS"
    [[ $uri == file:$TMPDIR/tprun.*/pmix.*.tool.tprun.* ]]
    equal "$(stat -c '%a %u' "${uri#file:}" "$(dirname "${uri#file:}")")" "600 $(id -u)"$'\n'"700 $(id -u)"
    run -0 tool "$uri" who
    equal "$output" "${namespace%.0}.tool.0.1 0"
    tool "$uri" hold >held 3>&- &
    wait_for 5 grep -q in held
    run -0 tool "$uri" who
    equal "$output" "${namespace%.0}.tool.0.3 0"
    end_program
    wait $! # the tool sees its server go
    equal "$status $(said | wc -l)" "0 1"
}

# What a tool needs to connect is in that file alone: its name may be read by everybody.
@test "command lines and messages name the file for tools, and nothing that is in it" {
    program -n 2 sh -c "$WAITS"
    local port pid mode seen=0
    port=$(sed -n '1s/.*;tcp4:.*://p' "${uri#file:}")
    [ "$port" -gt 0 ]
    for pid in $(marked); do
        mode=$(stat -c %a "/proc/$pid/environ") || continue # a sleep that is over
        equal "$mode" 400
        run ! grep -zq "127.0.0.1:\|:$port" "/proc/$pid/cmdline"
        seen=$((seen + 1))
    done
    [ "$seen" -ge 5 ] # front end, manager, agent and two tasks
    run ! grep -q "127.0.0.1\|:$port" err
    end_program
    equal "$status $(<err)" "0 tprun: PMIx tools on $(uname -n): --uri $uri"
}

@test "a tool is found where tools look for servers" {
    program -n 1 sh -c "$WAITS"
    run -0 tool "" who
    equal "$output" "${namespace%.0}.tool.0.1 0"
    end_program
    equal "$status" 0
}

@test "a tool gets what it asks for of what tasks write" {
    program -n 3 sh -c "$SAYS"
    tool "$uri" watch oe "$namespace" >all 2>all.err 3>&- &
    tool "$uri" watch o "$namespace" 1 >one 2>one.err 3>&- &
    local from
    for from in o0 o1 o2 e0 e1 e2; do wait_for 10 grep -q "^$from: beat" all; done
    wait_for 10 grep -q '^o1: beat' one
    : >go
    wait_for 10 eval '[ "$(grep -vc beat all)" -ge 18 ]'
    end_program
    wait
    equal "$status" 0
    equal "$(grep -v beat all | sort)" "$(for s in e o; do for r in 0 1 2; do for i in 1 2 3; do
        case $s in e) echo "e$r: err $i" ;; o) echo "o$r: out $i" ;; esac; done; done; done)"
    equal "$(grep -v beat one)" "$(printf 'o1: out %d\n' 1 2 3)"
    equal "$(grep -v beat out | sort)" "$(printf 'out %d\n' 1 1 1 2 2 2 3 3 3)"
}

@test "a tool also gets what tasks write last" {
    program -n 1 sh -c "$BEATS; seq 1000"
    tool "$uri" watch o "$namespace" >all 2>all.err 3>&- &
    wait_for 10 grep -q beat all
    : >go
    finish
    wait
    equal "$status $(grep -v beat all | md5sum)" "0 $(seq 1000 | sed 's/^/o0: /' | md5sum)"
}

@test "a tool gets nothing after its request has ended, and nothing of tasks that do not exist" {
    program -n 1 sh -c 'while [ ! -e over ]; do echo again; sleep 0.05; done'
    run -0 --separate-stderr tool "$uri" few 3 o "$namespace"
    equal "$(tail -n 1 <<<"$output")" "0 more"
    LIMIT=2 run --separate-stderr tool "$uri" few 1 o no.such.namespace
    has_line "$output" "*tprun: *nothing comes of no.such.namespace"
    end_program
    equal "$status" 0
}

@test "the end of a request is answered with a status, and not with what memory held before" {
    MALLOC_PERTURB_=90 program -n 1 sh -c 'while [ ! -e over ]; do echo again; sleep 0.05; done'
    run -0 --separate-stderr tool "$uri" few 3 o "$namespace"
    equal "$(tail -n 1 <<<"$output")" "0 more"
    end_program
    equal "$status" 0
}

# A tool's openpmix 6.1 does not tell it how a push was answered.
knows_answers() { [[ $(tool "" version) != "OpenPMIx 6.1."* ]]; }

@test "tools say what tasks read, where that is asked for" {
    program -i tools -n 2 sh -c 'while read -r line; do echo "$TPRUN_RANK: $line"; done; echo "$TPRUN_RANK: end"'
    printf 'one\ntwo\n' | tool "$uri" push "$namespace" 1
    wait_for 5 grep -q '^1: end' out
    equal "$(cat out)" $'1: one\n1: two\n1: end'
    if knows_answers; then
        run -1 tool "$uri" push "$namespace" 1 <<<more # it has come to its end
    fi
    head -c 3000000 /dev/zero | tr '\0' x | fold -w 59 | tool "$uri" push "$namespace" 0
    finish
    equal "$status $(grep -c '^0: xxx' out) $(tail -n 1 out)" "0 50847 0: end"
}

@test "a push is refused without --input tools, also to a task or namespace that does not exist" {
    knows_answers || skip "openpmix 6.1 does not tell tools"
    program -n 2 sh -c "$WAITS"
    run -1 tool "$uri" push "$namespace" 0 <<<more
    has_line "$output" "pmix-tool: IOF_push: NO-PERMISSIONS"
    run -1 tool "$uri" push "$namespace" 2 <<<more
    run -1 tool "$uri" push no.such.namespace 0 <<<more
    end_program
    equal "$status" 0
}

@test "other requests of a tool are answered, and harm nobody" {
    program -n 1 bash -c "trap 'echo signalled' USR1; until [ -e over ]; do read -rt 0.05 <> <(:) || :; done"
    LIMIT=40 run --separate-stderr tool "$uri" requests "$namespace"
    has_line "$output" "query: SUCCESS"
    has_line "$output" "namespaces: right"
    has_line "$output" "get: SUCCESS"
    has_line "$output" "spawn: NOT-SUPPORTED"
    has_line "$output" "control: SUCCESS"
    wait_for 5 grep -q signalled out
    has_line "$output" "abort: *"
    equal "$status" 0
    run -0 tool "$uri" who
    end_program
    equal "$status" 0
}

@test "tools that die in the middle of it change nothing" {
    program -n 1 sh -c "$WAITS; exit 3"
    local i
    for ((i = 0; i < 40; i++)); do
        "$TOOL" "$uri" who >/dev/null 2>&1 3>&- &
        sleep "0.0$((i % 4))$((RANDOM % 10))"
        kill -9 $! 2>/dev/null || true
        wait $! || true
    done
    run -0 tool "$uri" who
    end_program
    equal "$status" 3
}

@test "a tool that does not read loses output, and tasks do not wait for it" {
    program -n 1 sh -c 'until [ -e in ]; do echo beat >&2; sleep 0.05; done; until [ -e go ]; do sleep 0.05; done
        yes "twenty bytes a line." | head -c 42000000;'"$WAITS"
    tool "$uri" watch oe "$namespace" >slow 2>slow.err 3>&- &
    wait_for 10 grep -q beat slow
    : >in
    sleep 0.3
    kill -STOP "$(pgrep -f "^$TOOL $uri watch")"
    : >go
    wait_for 20 eval '[ "$(stat -c %s out)" -ge 42000000 ]'
    kill -CONT "$(pgrep -f "^$TOOL $uri watch")"
    wait_for 10 grep -q ' bytes are missing here' slow
    end_program
    wait
    equal "$status $(stat -c %s out)" "0 42000000"
    local lost
    lost=$(($(sed -n 's/.*tprun: \([0-9]*\) bytes are missing.*/\1/p' slow | paste -sd+)))
    equal "$((lost + $(grep -c 'twenty bytes a line' slow) * 21))" 42000000
}

@test "a program does not wait for a tool that hangs" {
    program -n 1 sh -c "$WAITS; seq 10"
    tool "$uri" watch o "$namespace" >slow 2>slow.err 3>&- &
    wait_for 5 grep -q watching slow.err
    kill -STOP "$(pgrep -f "^$TOOL $uri watch")"
    local before=$SECONDS
    end_program
    within 7 $((SECONDS - before))
    equal "$status" 0
    kill -KILL "$(pgrep -f "^$TOOL $uri watch")"
    wait
}

@test "a tool of another user is refused" {
    { [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; } || skip "needs to be somebody else"
    program -n 1 sh -c "$WAITS"
    cp "$TOOL" "$BATS_RUN_TMPDIR/tool-of-others"
    chmod -R a+rX "$BATS_RUN_TMPDIR"
    mkdir "$BATS_RUN_TMPDIR/tmp-of-others" && chown 65534 "$BATS_RUN_TMPDIR/tmp-of-others"
    LIMIT=20 run -1 env TMPDIR="$BATS_RUN_TMPDIR/tmp-of-others" timeout 20 setpriv --reuid 65534 --regid 65534 --clear-groups \
        "$BATS_RUN_TMPDIR/tool-of-others" "$(head -n 1 "${uri#file:}")" who
    has_line "$output" "pmix-tool: no server: *"
    run -0 tool "$uri" who
    end_program
    equal "$status" 0
}

@test "without --tools nothing is written for tools, and all are refused" {
    start "$TPRUN" --pmi pmix -n 1 sh -c 'env | grep "^PMIX_SERVER_URI4="; '"$WAITS"
    wait_for 5 lines_are out 1
    equal "$(find tmp -name 'pmix*')" ""
    run -1 tool "$(cut -d= -f2- out)" who
    run -1 tool "" who
    end_program
    equal "$status $(cat err)" "0 "
}

@test "an agent that is killed leaves no file" {
    program --kill-grace 1s -n 1 sh -c "$WAITS"
    kill -9 "$(sed -n 3p "${uri#file:}")"
    finish
    equal "$status" 1
}
