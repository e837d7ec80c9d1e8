# Command templates in place of ssh.
load ../lib/common
setup() { start_test; }
teardown() { nothing_left; }

@test "a template that is just the agent starts it on this machine" {
    run -0 tprun --bootstrap '{agent}' -n 2 sh -c 'echo $TPRUN_RANK'
    equal "$(sort <<<"$output")" "$(printf '0\n1')"
    run -0 tprun --bootstrap "env 'MARK=a b' {agent}" -n 1 sh -c 'tr "\0" "\n" <"/proc/$PPID/environ" | grep ^MARK='
    equal "$output" "MARK=a b"
}

@test "an agent that may have one process only says so" {
    { [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; } || skip "needs to be another user"
    local agent
    agent=$(dirname "$TPRUN")/tpagent
    run -1 --separate-stderr setpriv --reuid 54321 --regid 54321 --clear-groups prlimit --nproc=1 "$agent" </dev/null
    has_line "$stderr" '*: cannot start the agent'"'"'s second process: Resource temporarily unavailable ("ulimit -u" limits processes)'
}

@test "a template without {host} reaches no other host, and that is said" {
    run -1 --separate-stderr tprun --bootstrap '{agent}' --hosts nosuch true
    has_line "$stderr" "tprun: nosuch is not this machine, and --bootstrap {agent} reaches no other (a template with {host} does)"
}

@test "a command that prints without end and starts no agent is quoted in one short line" {
    run -1 --separate-stderr tprun --bootstrap 'yes {host}' --start-timeout 1s --hosts h0 true
    has_line "$stderr" 'tprun: h0: not started: exec: no answer within 1 s; the login printed "h0 */tpagent; h0 *..." (after *'
    [ "${#stderr}" -lt 600 ]
}

@test "tprun that is killed while agents start leaves no file, and nothing of the command" {
    local template
    printf '#!/bin/sh\n: >up\nsleep 1000\n' >hang
    chmod +x hang
    export HOME=$PWD
    for template in "$PWD/hang {hosts} {agent} {call}" "$PWD/hang {host}"; do
        start "$TPRUN" --bootstrap "$template" --hosts "$(hostname)" -n 1 true
        wait_for 10 test -e up
        kill -KILL "$job"
        finish
        nothing_left 10
        equal "$(find . -name '.tprun-call*')" ""
        rm up
    done
}

# The agents of a command come up one after the other.
@test "a command for many hosts starts several of those that had to wait for their turn" {
    cat >many <<'END'
#!/bin/bash
echo "$1" >>commands
IFS=, read -ra hosts <<<"$1"
mkfifo "${hosts[@]}"
for i in "${!hosts[@]}"; do
    { sleep 0.$((2 * i)); SLURMD_NODENAME=${hosts[i]} exec "$2" <"${hosts[i]}"; } >/dev/null &
    agents+=($!)
done
tee "${hosts[@]}" <&0 >/dev/null &
wait "${agents[@]}"
kill $!
END
    chmod +x many
    run -0 --separate-stderr tprun --bootstrap './many {hosts} {agent}' --fanout 4 --hosts 'n[0-7]' --oversubscribe -n 8 true
    equal "$(head -n 1 commands)" n0,n1,n2,n3
    [ "$(wc -l <commands)" -le 3 ]
}

@test "a command for many hosts that keeps its input from the agents is told what is missing" {
    run -1 --separate-stderr tprun --bootstrap "sh -c 'exec \"\$1\" </dev/null' {hosts} {agent}" -n 1 true
    has_line "$stderr" "tprun: *: not started: exec: sh, which starts the agent, ended with status 0 and no agent connected: it must hand its standard input to each agent, or be told {call} *"
    run -1 --separate-stderr tprun --bootstrap "sh -c 'exit 3' {hosts} {agent}" -n 1 true
    has_line "$stderr" "tprun: *: not started: exec: sh, which starts the agent, ended with status 3 (after *"
}
