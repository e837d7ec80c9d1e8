# shellcheck disable=SC2154,SC2030,SC2031,SC2016 # bats sets output and stderr; scripts are quoted
# --keep-agents on this machine, where a template in place of ssh says how often an agent was started.
load ../lib/common
load ../lib/tpctl
setup_file() { build_programs; }
setup() {
    start_test
    printf '#!/bin/sh\necho >>starts\nexec "$@"\n' >start
    chmod +x start
    : >starts
}
teardown() { nothing_left 10; }

run_kept() { # -STATUS FSD ARGUMENTS...
    run "$1" --separate-stderr timeout --foreground -k 5 "${LIMIT:-60}" "$TPRUN" --bootstrap './start {agent}' --keep-agents "${@:2}"
}
starts() { wc -l <starts; }
kept_is() { tpctl list | grep -q "($1"; }
# Of these agents: their program's id.
keeper() { tpctl list --format=json | jq -r '.programs[] | select(.agents) | .id'; }
end_kept() { run_tpctl -0 terminate "$(keeper)"; }

@test "a second run starts no agent, and each is a run like any other" {
    run_kept -0 60s -n 2 sh -c 'echo "$TPRUN_RANK of $TPRUN_SIZE"'
    equal "$(sort <<<"$output")" "$(printf '0 of 2\n1 of 2')"
    equal "$stderr" ""
    equal "$(starts)" 1
    run_kept -7 60s -n 1 sh -c 'read -r line; echo "$line"; exit 7' <<<"in"
    equal "$output" in
    has_line "$stderr" "tprun: rank 0 on *: exited with status 7"
    run_kept -0 60s --output 'out.%r' -n 1 echo text
    equal "$(cat out.0)" text
    equal "$(starts)" 1
    end_kept
}

@test "they are listed, with the time until which they are kept, and ended by their id" {
    local until
    run_kept -0 60s true
    wait_for 10 kept_is 'not in use, kept until '
    run_tpctl -0 list
    has_line "$output" " *running *- *0 *1 *tprun --keep-agents 1m  (not in use, kept until 2*)"
    until=$(tpctl list --format=json | jq '.programs[].agents.idle_until')
    echo "until $until"
    [ "${until%.*}" -gt "$(date +%s)" ]
    [ "${until%.*}" -le $(($(date +%s) + 61)) ]
    start "$TPRUN" --bootstrap './start {agent}' --keep-agents 60s sh -c 'echo ready; exec sleep 1000'
    wait_for 10 lines_are out 1
    wait_for 10 kept_is 'in use)'
    run_tpctl -0 info "$(keeper)"
    has_line "$output" "agents *"
    has_line "$output" "kept *in use"
    kill "$job"
    finish
    wait_for 10 kept_is 'not in use, kept until '
    end_kept
    nothing_left 5
    run_tpctl -0 list
    equal "$output" ""
    equal "$(starts)" 1
}

@test "they end after their time, which the last run says" {
    run_kept -0 1s true
    nothing_left 5
    run_tpctl -0 list -a
    has_line "$output" " *complete *0 *0 *1 *tprun --keep-agents 1s"
    run_kept -0 60s true
    run_kept -0 1s true
    nothing_left 5
    equal "$(starts)" 2
    equal "$(ls "$TPRUN_RUNTIME_DIR/agents")" ""
}

@test "they hold no core, no terminal, no port and no file" {
    local pid
    run_kept -0 60s true
    run -0 tprun --no-wait -n all true
    for pid in $(marked); do
        [ "$(cat "/proc/$pid/comm")" != sleep ] || continue
        [ -e "/proc/$pid/fd" ] || continue
        equal "$(awk '{ print $7 }' "/proc/$pid/stat")" 0 # no terminal
        run -1 grep -E "$BATS_TEST_TMPDIR/(out|err)" <(readlink "/proc/$pid"/fd/*)
    done
    run -1 grep -E 'pid=('"$(marked | paste -sd'|')"')' <(ss -ltnpH)
    equal "$(stat -c %a "$TPRUN_RUNTIME_DIR/agents" "$TPRUN_RUNTIME_DIR"/agents/*)" "$(printf '700\n600')"
    end_kept
}

@test "runs at once share them, on disjoint cores" {
    need_cores 2
    run_kept -0 60s true
    local i jobs=()
    for i in 0 1; do
        env -u TPRUN_OPTIONS "$TPRUN" --bootstrap './start {agent}' --keep-agents 60s --bind-to core \
            sh -c "$PROGRAMS/where; : >here.$i; until [ -e go ]; do sleep 0.05; done" >"cores.$i" 3>&- &
        jobs+=($!)
    done
    wait_for 20 test -e here.0 -a -e here.1
    : >go
    wait "${jobs[@]}"
    equal "$(cat cores.* | awk '{ print $3 }' | sort -u | wc -l)" 2
    equal "$(starts)" 1
    end_kept
}

@test "of runs that are started at once each has agents, and one keeps them" {
    local i jobs=()
    for i in 1 2 3 4 5 6; do
        "$TPRUN" --bootstrap './start {agent}' --keep-agents 60s echo "$i" >"out.$i" 3>&- &
        jobs+=($!)
    done
    for i in "${jobs[@]}"; do wait "$i"; done
    equal "$(cat out.* | sort)" "$(seq 6)"
    equal "$(starts)" 1
    end_kept
}

@test "a run that names others, or is of another tprun, does not use them" {
    run_kept -0 60s true
    run -0 tprun --bootstrap './start  {agent}' --keep-agents 60s true # another template
    equal "$(starts)" 2
    run -0 tprun --bootstrap './start {agent}' --keep-agents 60s --hosts "$(uname -n)" true
    equal "$(starts)" 3
    mkdir other
    cp "$TPRUN" "$(dirname "$TPRUN")/tpagent" other
    run -0 timeout 60 other/tprun --bootstrap './start {agent}' --keep-agents 60s true
    equal "$(starts)" 4
    run_kept -0 60s true
    equal "$(starts)" 4
    # shellcheck disable=SC2046
    run_tpctl -0 terminate $(keeper)
}

@test "what has no agents to keep is as without the option" {
    run_kept -0 0 true
    equal "$(starts)" 1
    run -0 tprun --keep-agents 60s true # this machine alone
    run -0 tprun --bootstrap './start {agent}' --keep-agents 60s --dry-run true
    equal "$(starts)" 1
    run -0 --separate-stderr tprun --bootstrap './start {agent}' --keep-agents 60s --on-disconnect continue echo text
    equal "$output" text
    equal "$(starts)" 2
    nothing_left 3
    run -0 tprun "$TPRUN" --bootstrap './start {agent}' --keep-agents 60s true # a task's run
    equal "$(starts)" 3
    run_tpctl -0 list
    equal "$output" ""
    run -0 env TPRUN_OPTIONS='--oversubscribe --keep-agents 60s' "$TPRUN" --bootstrap './start {agent}' --keep-agents 0 true
    nothing_left 3
}

@test "a time that does not end is refused" {
    run_kept -2 inf true
    has_line "$stderr" 'tprun: --keep-agents: "inf": agents are kept for a time that ends, such as 5m'
}

@test "where agents do not start that is said once, and nothing is left" {
    run -1 --separate-stderr tprun --bootstrap 'false {agent}' --keep-agents 60s touch started
    equal "$(grep -c 'not started' <<<"$stderr")" 1
    [ ! -e started ]
    nothing_left 5
    printf '#!/bin/sh\n: >up\nexec sleep 1000\n' >start
    for signal in INT TERM HUP; do
        rm -f up
        start "$TPRUN" --bootstrap './start {agent}' --keep-agents 60s true
        wait_for 10 test -e up
        kill -$signal "$job"
        finish
        echo "$signal: $status: $(cat err)"
        [ "$status" != 0 ]
        nothing_left 5
    done
    equal "$(ls "$TPRUN_RUNTIME_DIR/agents")" ""
}

named() { # NAME: processes of this test with this name, oldest first
    marked | while read -r pid; do [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = "$1" ] && echo "$pid"; done | sort -n
}

@test "wherever they are killed nothing is left, and the next run keeps others" {
    local victim number
    for victim in tprun:1 tprun-manager:1 tpagent:1 tpagent:2 tprun-nursery:1; do
        run_kept -0 60s true
        number=$(named "${victim%:*}" | sed -n "${victim#*:}p")
        [ -n "$number" ] || { echo "no $victim"; ps -o pid,ppid,comm,args -p "$(marked | paste -sd,)"; false; }
        kill -9 "$number"
        nothing_left 10
        run_kept -0 60s echo again
        equal "$output" again
        end_kept
        nothing_left 5
    done
    equal "$(ls "$TPRUN_RUNTIME_DIR/agents")" ""
}

@test "a run whose agents are killed ends, says so, and leaves nothing" {
    local victim number
    for victim in tprun:1 tprun-manager:1 tpagent:1 tpagent:2; do
        run_kept -0 60s true
        number=$(named "${victim%:*}" | sed -n "${victim#*:}p")
        start "$TPRUN" --bootstrap './start {agent}' --keep-agents 60s sh -c 'echo ready; exec sleep 1000'
        wait_for 10 lines_are out 1
        kill -9 "$number"
        finish
        echo "$victim: $status: $(cat err)"
        [ "$status" != 0 ]
        [ -s err ]
        nothing_left 10
    done
}

@test "a run that is killed leaves nothing, and they are kept" {
    local victim pid
    run_kept -0 60s true
    for victim in tprun tprun-manager tpagent; do
        start "$TPRUN" --bootstrap './start {agent}' --keep-agents 60s sh -c 'echo ready; exec sleep 1000'
        wait_for 10 lines_are out 1
        if [ $victim = tpagent ]; then pid=$(ps -o ppid= -p "$(named sleep)"); else pid=$(named $victim | tail -n 1); fi
        kill -9 "${pid// /}"
        finish
        [ "$status" != 0 ]
        wait_for 10 kept_is 'not in use, kept until '
        equal "$(named sleep)" ""
    done
    equal "$(starts)" 1
    end_kept
}

@test "those that are stopped are not waited for" {
    local pid
    run_kept -0 60s true
    pid=$(named tprun-manager)
    kill -STOP "$pid"
    run_kept -0 1s echo text
    equal "$output" text
    equal "$(starts)" 2
    kill -KILL "$pid"
    nothing_left 10
}

@test "a run that comes while they are ended starts its own" {
    local id terminate
    run_kept -0 60s true
    id=$(keeper)
    kill -STOP "$(named tpagent | tail -n 1)" # the end takes as long as an agent is waited for
    "$TPCTL" terminate "$id" 3>&- &
    terminate=$!
    wait_for 10 eval '[ -n "$(events finish)" ]'
    run_kept -0 1s echo text
    equal "$output" text
    equal "$stderr" ""
    equal "$(starts)" 2
    wait "$terminate"
    nothing_left 10
}

@test "the socket is its user's" {
    [ "$(id -u)" = 0 ] || skip "needs root"
    run_kept -0 60s true
    run -1 python3 -c 'import glob, os, socket, sys
os.setuid(65534)
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.connect(sys.argv[1])' "$(echo "$TPRUN_RUNTIME_DIR"/agents/*)"
    end_kept
}

@test "nonsense at the socket harms nobody" {
    run_kept -0 60s true
    run -0 python3 -c 'import os, socket, sys
for bytes in (b"", b"inf", b"x" * 2000, b"\0" * 40, b"-1", b"1e300"):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.connect(sys.argv[1])
    try:
        s.send(bytes)
        socket.send_fds(s, [b"nosuch"], [0, 1])
        socket.send_fds(s, [b"a"], [0])
    except OSError: # it was sent away
        pass
    s.close()' "$(echo "$TPRUN_RUNTIME_DIR"/agents/*)"
    run_kept -0 60s echo well
    equal "$output" well
    equal "$(starts)" 1
    end_kept
}

# ---- agents ahead of programs that speak PMIx ----

speak_pmix() { # twice: the first time openpmix is read
    for _ in 1 2; do
        run_kept -0 60s --pmi pmix -n 2 "$PROGRAMS/pmix-get" pmix.jobid
        equal "${#lines[@]}-${lines[0]}" "2-${lines[1]}"
    done
    wait_for 10 waits_ahead
}
# Behind the processes of the agent that is kept there are two more, and the server listens.
waits_ahead() {
    ahead=$(named tpagent | sed -n 4p)
    [ -n "$ahead" ] && ss -Htlnp | grep -q "pid=$ahead,"
}

@test "after programs with PMIx an agent waits for the next of these, and ends with the others" {
    speak_pmix
    local waiting=$ahead
    run_kept -0 60s --pmi none sh -c 'echo $PPID'
    [ "$output" != "$waiting" ]
    run_kept -0 60s --pmi pmix -n 2 sh -c 'echo $PPID; exec "$0" pmix.jobid' "$PROGRAMS/pmix-get"
    equal "$(grep -c "^$waiting$" <<<"$output")-$(grep -c '^tprun\.' <<<"$output")-$stderr" "2-2-"
    wait_for 10 waits_ahead
    [ "$ahead" != "$waiting" ]
    end_kept
    nothing_left 5
}

@test "an agent that waits is not missed when it is killed, or its guard" {
    local victim
    for victim in 3 4; do
        speak_pmix
        kill -9 "$(named tpagent | sed -n "${victim}p")"
        run_kept -0 60s --pmi pmix -n 2 "$PROGRAMS/pmix-get" pmix.jobid
        equal "${#lines[@]}-${lines[0]}-$stderr" "2-${lines[1]}-"
    done
    equal "$(starts)" 1
    end_kept
    nothing_left 5
}
