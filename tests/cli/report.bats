# shellcheck disable=SC2154 # bats sets stderr
# --report and --timing: what happened to a program, in one file, and where time went.
load ../lib/common
setup() { start_test; }
teardown() { nothing_left; }

@test "--report writes what is known of each task, and how long each stage took" {
    run -3 --separate-stderr tprun --report r.json -n 3 --oversubscribe sh -c 'sleep 0.2; [ "$TPRUN_RANK" != 1 ] || exit 3'
    jq -e --arg host "$(hostname)" '.version == 1 and .id == "1" and .state == "complete" and .status > 0 and
        (.reason | startswith("rank ")) and .ntasks == 3 and .R.version == 1 and .nodes == [{id: 0, host: $host}] and
        ([.tasks[].rank] == [0, 1, 2]) and (.tasks[0] | .pid > 1 and .host == $host and .maxrss_kib > 0) and
        ([.stages[].name] == ["allocate", "launch", "run", "end"]) and
        (.stages[2].seconds | . > 0.1 and . < 30)' r.json ||
        { cat r.json; return 1; }
}

@test "a run that does not come to its tasks has a report, too" {
    run -1 --separate-stderr tprun --report r.json --hosts nosuch.invalid true
    jq -e '.status == 1 and (.reason | startswith("nosuch.invalid: not started: ")) and .tasks == []' r.json
    run -127 --separate-stderr tprun --report r.json ./nosuch
    jq -e '.status == 127 and (.tasks[0] | .pid == null and .status == 127)' r.json
}

@test "the report is the same that tpctl has" {
    tprun --report r.json -n 2 true
    "${TPRUN%/*}/tpctl" info 1 --format=json >info.json
    equal "$(jq -S 'del(.stages)' r.json)" "$(jq -S 'del(.spec, .instance, .waits)' info.json)"
}

@test "a report that cannot be written is refused before the start, or said at the end" {
    run -1 --separate-stderr tprun --report nosuch/r.json touch started
    equal "$stderr" "tprun: --report: cannot write nosuch/r.json: directory nosuch: No such file or directory"
    [ ! -e started ]
    run -1 --separate-stderr tprun --report . true
    mkdir d
    run -1 --separate-stderr tprun --report d/r.json sh -c 'rmdir d'
    [[ $stderr = "tprun: --report: cannot write d/r.json: "* ]]
}

@test "--timing says where the time went, in one line" {
    run -0 --separate-stderr tprun --timing -n 2 sleep 0.2
    [[ $stderr =~ ^tprun:\ timing:\ [0-9.e+]+\ ms\ until\ the\ resources\ were\ allocated,\ [0-9.e+]+\ ms\ until\ all\ tasks\ were\ started,\ [0-9.e+]+\ ms\ while\ they\ ran,\ [0-9.e+-]+\ ms\ to\ end$ ]]
    [ -z "$output" ]
}
