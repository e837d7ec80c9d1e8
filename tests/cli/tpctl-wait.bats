# shellcheck disable=SC2154,SC2030,SC2031 # bats sets stderr, common.bash job; each test has its own environment
# tpctl wait and reap: until a program has come to something, and the end of what is kept.
load ../lib/common
setup() {
    start_test
    PATH=${TPRUN%/*}:$PATH
}
teardown() { nothing_left 5; }

STATE() { echo "$XDG_STATE_HOME"/tprun/this-machine-*; }
ids() { tpctl list -a --format=json | jq -r '.programs[].id' | paste -sd' '; }
until_there() { wait_for 5 eval "[ \"\$(tpctl list --format=json | jq '.programs | length')\" = 1 ]"; }

@test "wait returns when the program is complete, and with --status exits as it did" {
    start "$TPRUN" -n 2 sh -c 'until [ -e go ]; do sleep 0.05; done; exit 7'
    until_there
    tpctl wait 1 --for running
    run -124 --separate-stderr tpctl wait 1 --timeout 0.2
    equal "$stderr" 'tpctl: program 1: no event "complete" in the time of --timeout'
    (sleep 0.2; touch go) &
    run -7 tpctl wait --status 1
    run finish
    run -0 tpctl wait 1
    run -7 tpctl wait --status 1
    run -0 tpctl wait --for tasks-started 1
}

@test "wait on several programs waits for all, and their last status counts" {
    tprun true
    run tprun sh -c 'exit 3'
    run -3 tpctl wait --status 1 2
    run -0 tpctl wait --status 2 1
    run -3 --separate-stderr tpctl wait 1 9
    equal "$stderr" "tpctl: there is no program 9"
}

@test "what never came is status 4" {
    tprun true
    run -4 --separate-stderr tpctl wait --for nodes-lost 1
    equal "$stderr" 'tpctl: program 1 is complete, and its log has no event "nodes-lost"'
}

@test "wait ends when the manager is killed" {
    start "$TPRUN" -n 1 sleep 60
    until_there
    tpctl wait --for running 1
    tpctl wait 1 &
    waiter=$!
    kill -KILL "$(pgrep -P "$job" -x tprun-manager)"
    run finish
    wait "$waiter"
}

@test "twenty waiters on programs that end at once all see it" {
    start "$TPRUN" -n 1 sh -c 'until [ -e go ]; do sleep 0.02; done'
    until_there
    for i in {1..20}; do tpctl wait 1 --timeout 20 & pids[i]=$!; done
    touch go
    for pid in "${pids[@]}"; do wait "$pid"; done
    finish
}

@test "reap removes what is kept of complete programs, and refuses one that runs" {
    tprun true
    tprun true
    start "$TPRUN" -n 1 sleep 60
    until_there
    run -4 --separate-stderr tpctl reap 1 3
    equal "$stderr" "tpctl: program 3 is not complete: wait for it, or terminate it"
    equal "$(ids)" '1 2 3'
    run -0 tpctl reap 1
    [ -z "$output" ]
    equal "$(ids)" '2 3'
    run -0 tpctl reap --all
    equal "$(ids)" '3'
    kill "$job"
    run finish
    run -2 --separate-stderr tpctl reap
    equal "${stderr_lines[0]}" "tpctl: write ids of programs, or --all; --older needs --all"
    # numbers are not used again
    tprun true
    equal "$(ids)" '3 4'
}

@test "reap --older spares what ended since" {
    tprun true
    tprun true
    tpctl list -a >/dev/null
    log=$(STATE)/1/events
    sed -i 's/"timestamp":[0-9.]*,"name":"complete"/"timestamp":1000000000.5,"name":"complete"/' "$log"
    rm "$(STATE)"/index-*
    run -0 tpctl reap --all --older 1d
    equal "$(ids)" 2
    run -2 --separate-stderr tpctl reap --all --older soon
    [[ ${stderr_lines[0]} = "tpctl: --older: "* ]]
}

@test "reap --archive keeps the files in a tar archive" {
    tprun true
    run tprun false
    run -0 tpctl reap --archive kept.tar --all
    equal "$(ids)" ''
    tar -xf kept.tar
    equal "$(jq -r 'select(.name == "complete").context.status' this-machine-*/2/events)" 1
    tprun true
    run -1 --separate-stderr tpctl reap --archive kept.tar --all
    [[ $stderr = "tpctl: --archive kept.tar: cannot make it: File exists" ]]
    run -1 --separate-stderr tpctl reap --archive /dev/full/x --all
    equal "$(ids)" 3
}
