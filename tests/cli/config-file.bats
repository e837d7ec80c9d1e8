#!/usr/bin/env bats
# Configuration files: options that are read before TPRUN_OPTIONS and the command line.
load ../lib/common

setup() {
    start_test
    unset TPRUN_OPTIONS TPRUN_CONFIG
    export XDG_CONFIG_HOME=$BATS_TEST_TMPDIR/config
    FILE=$XDG_CONFIG_HOME/tprun/tprun.conf
    mkdir -p "${FILE%/*}"
}
teardown() { nothing_left; }

map_of() { # OPTION...: what --map-by is in the end
    tprun --print-spec "$@" true | jq -r '.parts[0].map'
}

@test "a file's options are read first, TPRUN_OPTIONS after them, and the command line last" {
    [ "$(map_of)" = null ]
    echo '--map-by numa' >"$FILE"
    [ "$(map_of)" = numa ]
    [ "$(TPRUN_OPTIONS='--map-by socket' map_of)" = socket ]
    [ "$(TPRUN_OPTIONS='--map-by socket' map_of --map-by core)" = core ]
    printf '# of the site\n\n  --map-by "core" -l\n\t# and more\n--umask 022' >"$FILE"
    run -0 tprun --print-spec true : false
    run -0 jq -c '[.label, .parts[].map, .parts[].umask]' <<<"$output"
    [ "$output" = '[true,"core","core","0022","0022"]' ]
}

@test "a file in the home is found without XDG_CONFIG_HOME, and none without a home" {
    unset XDG_CONFIG_HOME
    mkdir -p home/.config/tprun
    echo '--map-by numa' >home/.config/tprun/tprun.conf
    [ "$(HOME=$PWD/home map_of)" = numa ]
    [ "$(HOME='' map_of)" = null ]
    run -0 --separate-stderr env -u HOME "$TPRUN" -n 1 true
}

@test "TPRUN_CONFIG lists the files that are read in place of the usual ones" {
    echo '--map-by numa' >"$FILE"
    echo '--map-by core' >a.conf
    echo '--order n' >b.conf
    run -0 env TPRUN_CONFIG="$PWD/a.conf:$PWD/nothing.conf:$PWD/b.conf" "$TPRUN" --print-spec true
    run -0 jq -c '.parts[0] | [.map, .order]' <<<"$output"
    [ "$output" = '["core","n"]' ]
    [ "$(TPRUN_CONFIG='' map_of)" = null ]
}

@test "tasks that start tprun themselves have the same files" {
    echo '--map-by numa' >"$FILE"
    export TPRUN_CONFIG=$FILE
    run -0 --separate-stderr tprun -n 1 "$TPRUN" --print-spec true
    [ "$(jq -r '.parts[0].map' <<<"$output")" = numa ]
}

@test "what is wrong in a file is said with the file and the line" {
    printf '\n--nosuch' >"$FILE"
    run -2 --separate-stderr tprun true
    [ "${stderr_lines[0]}" = "tprun: $FILE, line 2: unknown option --nosuch" ]
    echo "-x 'A=b" >"$FILE"
    run -2 --separate-stderr tprun true
    [ "${stderr_lines[0]}" = "tprun: $FILE, line 1: the quote at 'A=b is not closed" ]
    echo 'true' >"$FILE"
    run -2 --separate-stderr tprun true
    [ "${stderr_lines[0]}" = "tprun: $FILE, line 1: \"true\" is not an option: programs stand on the command line" ]
    echo '--fanout 0' >"$FILE"
    run -2 --separate-stderr tprun true
    [[ ${stderr_lines[0]} = "tprun: $FILE, line 1: --fanout: "* ]]
    echo '--bind-to nosuch' >"$FILE"
    run -2 --separate-stderr tprun true
    [[ ${stderr_lines[0]} = "tprun: $FILE, line 1: --bind-to \"nosuch\": unknown width; "* ]]
    run -2 --separate-stderr tprun --bind-to other true
    [[ ${stderr_lines[0]} = 'tprun: --bind-to "other": unknown width; '* ]]
    echo '--hosts a --hostfile b' >"$FILE"
    run -2 --separate-stderr tprun true
    [ "${stderr_lines[0]}" = "tprun: $FILE, line 1: --hosts and --hostfile both say which nodes to use: give one of them" ]
}

@test "a file that others could have written, or that is none, is refused" {
    echo '-l' >"$FILE"
    chmod 666 "$FILE"
    run -2 --separate-stderr tprun true
    [[ ${stderr_lines[0]} = "tprun: $FILE can be written by everybody: "* ]]
    chmod 644 "$FILE"
    chown 12345 "$FILE"
    run -2 --separate-stderr tprun true
    [[ ${stderr_lines[0]} = "tprun: $FILE belongs to user 12345: "* ]]
    rm "$FILE" && mkdir "$FILE"
    run -2 --separate-stderr tprun true
    [ "${stderr_lines[0]}" = "tprun: $FILE is not a file" ]
    rmdir "$FILE" && mkfifo "$FILE"
    run -2 --separate-stderr tprun true
    [ "${stderr_lines[0]}" = "tprun: $FILE is not a file" ]
    rm "$FILE" && printf -- '-l\0-u' >"$FILE"
    run -2 --separate-stderr tprun true
    [ "${stderr_lines[0]}" = "tprun: $FILE has a zero byte: must be text" ]
    head -c 2000000 /dev/zero | tr '\0' '#' >"$FILE"
    run -2 --separate-stderr tprun true
    [ "${stderr_lines[0]}" = "tprun: $FILE has more than 1048576 bytes" ]
}

@test "a spec of before is run as it is, whatever the files say" {
    tprun --print-spec --map-by core true >spec.json
    echo '--map-by numa' >"$FILE"
    [ "$(tprun --spec spec.json --print-spec | jq -r '.parts[0].map')" = core ]
}

@test "which option came from where is kept with the program" {
    echo '--map-by core' >"$FILE"
    export TPRUN_OPTIONS=--oversubscribe
    run -0 --separate-stderr tprun -n 1 sh -c 'cat "$TPRUN_INSTANCE/programs/$TPRUN_PROGRAM/spec.json"'
    jq -e --arg file "$FILE, line 1" '.origins == [
        {option: "map-by", value: "core", part: 0, from: $file},
        {option: "oversubscribe", part: 0, from: "TPRUN_OPTIONS"},
        {option: "ntasks", value: "1", part: 0, from: "command line"}]' <<<"$output"
    # What was kept can be run again.
    run -0 --separate-stderr tprun --spec <(echo "$output") --print-spec
    jq -e '.parts[0].map == "core" and has("origins") == false' <<<"$output"
}
