# shellcheck disable=SC2154 # bats sets output and stderr
# A launch that is sent before the agent has answered, to an agent that is kept.
load ../lib/common
load ../lib/tpctl
setup_file() { build_programs; }
setup() {
    start_test
    printf '#!/bin/sh\necho $$ >agent.pid\nshift\nexec "$@"\n' >start
    chmod +x start
}
teardown() { nothing_left 10; }

# On a host that is not this one by its name, and is by its agent.
run_kept() { # -STATUS ARGUMENTS...
    run "$1" --separate-stderr timeout --foreground -k 5 60 "$TPRUN" --bootstrap './start {host} {agent}' \
        --hosts n0 --keep-agents 60s "${@:2}"
}
end_kept() { run_tpctl -0 terminate "$(tpctl list --format=json | jq -r '.programs[] | select(.agents) | .id')"; }

# As if the host had had eight cores more.
remember_more() {
    local file more
    file=$(instance)/topologies.json
    more=$(jq -c '(.nodes[0].topology.os[0][2] + 8) as $n | .nodes[0].topology = {version: 1, os: [[0, 1, $n]],
        levels: {numa: [$n, 1], socket: [$n, 1], core: [1, $n]}, memory: [0, $n], gib: [8, $n]}' "$file")
    printf '%s\n' "$more" >"$file"
}

@test "a host that is another than is remembered gets what fits it" {
    local fit
    run_kept -0 -n all echo task
    fit=${#lines[@]}
    run_kept -0 -n all echo task
    equal "${#lines[@]}" "$fit"
    remember_more
    run_kept -0 -n all sh -c 'echo "$TPRUN_SIZE"'
    equal "$(sort -u <<<"$output")" "$fit"
    equal "$stderr" ""
    equal "${#lines[@]}" "$fit"
    end_kept
}

# The agent that is kept sleeps while a program is launched: sets $agent and $job.
launch_to_sleeper() { # ARGUMENTS...
    run_kept -0 true
    agent=$(pgrep -P "$(cat agent.pid)" -x tpagent)
    kill -STOP "$agent"
    start "$TPRUN" --bootstrap './start {host} {agent}' --hosts n0 --keep-agents 60s "$@"
    wait_for 10 test -e "$(instance)/programs/3/R.json" # the claim that the launch goes behind
    run_tpctl -0 list
    has_line "$output" "* 3 pending *"
}

@test "who is ended before the agent answers runs nothing, however late the agent is" {
    launch_to_sleeper -n 1 touch ran
    kill -INT "$job"
    finish
    equal "$status" 130
    has_line "$(cat err)" "tprun: ended by SIGINT * while connecting to n0 *"
    run_tpctl -0 list
    [[ $output != *touch* ]]
    kill -CONT "$agent"
    run_kept -0 echo next
    equal "$output" next
    sleep .3
    [ ! -e ran ]
    end_kept
}

until_of() { awk -v id="$1" '$1 == id && $2 == "h" { print $4 }' "$(instance)/claims"; } # the end of its claim
@test "the end that others are told is that of tasks that start late" {
    local before after
    launch_to_sleeper -n 1 --time-limit 100s sh -c 'echo ready; exec sleep 1000'
    before=$(until_of 3)
    sleep 2.2
    kill -CONT "$agent"
    wait_for 10 lines_are out 1
    after=$(until_of 3)
    echo "$before, then $after"
    [ $((after - before)) -ge 2 ]
    kill -TERM "$job"
    finish
    end_kept
}
