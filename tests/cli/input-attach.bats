# shellcheck disable=SC2154,SC2030,SC2031 # bats sets output and stderr, common.bash job and status
# tpctl attach --input: stdin for tasks of a program that runs.
load ../lib/common
load ../lib/tpctl
setup_file() { build_programs; }
setup() { start_test; }
teardown() {
    stop_senders
    nothing_left 10
}

READS='while read -r line; do echo "$TPRUN_RANK: $line"; done; echo "$TPRUN_RANK at its end"'
# send WORDS...: tpctl attach with these, in the background, of what is written to descriptor 8; $sender.
send() {
    rm -f typed
    mkfifo typed
    "$TPCTL" attach "$@" <typed >sent 2>refused 3>&- &
    sender=$!
    exec 8>typed
}
leave() {
    kill "$sender"
    wait "$sender" || :
}
stop_senders() { exec 8>&- 2>/dev/null || :; }
shows() { [ "$(tpctl logs --stdout 1 | sort | paste -sd,)" = "$1" ]; } # LINES, with commas
# refused STATUS SENTENCE WORDS...: tpctl attach with these says this, and passes nothing on.
refused() {
    run "-$1" --separate-stderr timeout --foreground -k 5 20 "$TPCTL" attach "${@:3}" <<<"never seen"
    equal "$output" ""
    has_line "$stderr" "tpctl: $2"
}

@test "input goes to the ranks that are named, and their stdin stays open" {
    tprun -d -n 3 -i all sh -c "$READS" >id
    send -i 1 1
    echo one >&8
    wait_for 5 shows "1: one"
    exec 8>&-
    sleep 0.2
    tpctl list | grep -q '^ *1 *running'
    leave
    send -i 0,2 1
    echo two >&8
    wait_for 5 shows "0: two,1: one,2: two"
    leave
    tpctl attach -i all --eof 1 <<<three >out
    equal "$(sort out | paste -sd,)" \
        "0 at its end,0: three,0: two,1 at its end,1: one,1: three,2 at its end,2: three,2: two"
}

@test "--eof ends the stdin of these ranks, and no others" {
    tprun -d -n 2 -i all sh -c "$READS; sleep 0.1" >id
    "$TPCTL" attach -i 1 --eof 1 <<<last >sent 3>&- &
    sender=$!
    wait_for 5 shows "1 at its end,1: last"
    refused 4 "program 1: rank 1 *" -i 1 1
    tpctl attach -i 0 --eof 1 <<<more >out
    wait "$sender"
    equal "$(tail -n 2 sent)" "0: more
0 at its end"
}

@test "who cannot be sent input is named" {
    tprun -d -n 4 -i 0-2 --on-failure=continue sh -c 'case $TPRUN_RANK in
        0) exit 0 ;;
        1) exec <&-; : >closed; until [ -e go ]; do sleep 0.05; done ;;
        *) until [ -e go ]; do sleep 0.05; done ;;
        esac' >id
    wait_for 5 test -e closed
    wait_for 5 eval '[ "$(tpctl ps 1 | grep -c "^[0-9]")" = 3 ]'
    refused 1 "program 1: unknown rank 7 (expected 0-3)" -i 2,7 1
    refused 1 "program 1: rank 3 was started without a stdin (started with one: 0-2)" -i 2-3 1
    refused 4 "program 1: rank 0 has ended, rank 1 reads no more: *" -i 0-2 1
    refused 2 "--input: *" -i 3-1 1
    refused 2 "--input: expected at least one rank" -i '' 1
    refused 2 "--eof: nothing is sent: give --input, too" --eof 1
    refused 3 "*no program 9*" -i 0 9
    touch go
    tpctl wait 1
    refused 4 "program 1 is complete" -i 2 1
}

@test "a program that was started without --input takes none" {
    tprun -d sh -c "cat; : >ended; until [ -e go ]; do sleep 0.05; done" >id
    wait_for 5 test -e ended
    refused 4 "program 1: rank 0 reads no more: the end of its stdin was sent*" -i 0 1
    tprun -d -i none sh -c "until [ -e go ]; do sleep 0.05; done" >id
    refused 1 "program 2: none of its tasks has a stdin (--input none, or tprun's own stdin is /dev/null)" -i all 2
    touch go
    tpctl wait 1 2
}

@test "the tprun at a terminal has the input of its program, and one attach keeps out another" {
    mkfifo held
    start sh -c 'exec "$TPRUN" -n 1 sh -c "echo ready; cat" <held'
    exec 8>held
    wait_for 10 lines_are out 1
    refused 1 "program 1: its input comes from the tprun that started it*" -i 0 1
    echo typed >&8
    exec 8>&-
    finish
    equal "$(cat out)" "ready
typed"
    tprun -d -n 2 -i all sh -c "$READS" >id
    send -i 0 2
    wait_for 5 eval 'echo >&8; tpctl logs 2 | grep -q 0:'
    refused 1 "program 2: tpctl (pid $sender) sends input to it: only one can at a time" -i 1 2
    kill -STOP "$sender"
    refused 1 "program 2: tpctl (pid $sender) sends input to it: only one can at a time" -i 1 2
    kill -KILL "$sender"
    wait_for 5 eval 'tpctl attach -i all --eof 2 </dev/null >out 2>&1'
}

@test "a rank that ends later is told, and the others go on" {
    tprun -d -n 2 -i all --on-failure=continue sh -c "[ \$TPRUN_RANK = 0 ] && head -n 1 && exit; $READS" >id
    send -i all 1
    echo one >&8
    wait_for 5 shows "1: one,one"
    wait_for 5 eval 'echo more >&8; grep -q "tpctl: program 1: rank 0 reads no more input" refused'
    echo last >&8
    wait_for 5 eval 'grep -qx "1: last" sent'
    leave
    tpctl attach -i 1 --eof 1 </dev/null >out
    [ "$(grep -c "rank 0" refused)" = 1 ]
}

@test "when nobody reads any more that is said, and output is shown to the end" {
    tprun -d -n 2 -i all --on-failure=continue sh -c '[ $TPRUN_RANK = 0 ] && head -n 1 && exit
        until [ -e go ]; do sleep 0.05; done; echo over; exit 5' >id
    start sh -c 'yes | exec "$TPCTL" attach -i 0 1'
    wait_for 10 grep -q "tpctl: program 1: rank 0 reads no more input" err
    touch go
    finish
    [ "$status" = 5 ]
    equal "$(cat out)" "y
over"
}

@test "256 MiB through attach are whole, and take little memory" {
    need_plain_build "memory is not looked at"
    start_watch 1
    tprun -d -i 0 sh -c "$PROGRAMS/stream check 1 268435456 && $HOLD" >id
    "$PROGRAMS/stream" write 0 268435456 | LIMIT=120 tpctl attach -i 0 --eof 1 3>&- >out
    cat out
    watch_below 65536
    has_line "$(cat out)" "2097152 lines of 1 tasks are right"
}

@test "a task that does not read holds up who sends to it, with little memory, and nobody else" {
    need_plain_build "memory is not looked at"
    local first
    start_watch 2
    tprun -d -n 2 -i all sh -c "if [ \$TPRUN_RANK = 0 ]; then until [ -e go ]; do sleep 0.05; done; wc -c >counted
        else while read -r line && [ \$line != end ]; do echo \$line; done; fi; $HOLD" >id
    mkfifo zeroes
    head -c 1G /dev/zero >zeroes 3>&- &
    "$TPCTL" attach -i 0 1 <zeroes >sent 2>refused 3>&- &
    first=$!
    sleep 1
    kill -KILL "$first"
    wait_for 5 eval 'tpctl attach -i 0 1 </dev/null 2>&1 | grep -q "rank 0 has not read what was sent to it before"'
    send -i 1 1
    echo word >&8
    wait_for 5 shows word
    echo end >&8
    wait_for 5 test -e held.1
    leave
    touch go
    wait_for 5 eval 'tpctl attach -i 0 --eof 1 </dev/null'
    watch_below 65536
    [ "$(cat counted)" -gt 65536 ] && [ "$(cat counted)" -lt 4194304 ]
}

@test "what is typed at a terminal goes to the tasks" {
    tprun -d -i 0 sh -c 'echo ready; read -r line; echo "got <$line>"; cat; exit 4' >id
    rm -f typescript answers
    mkfifo answers
    start sh -c 'timeout 20 script -qefc "exec \"$TPCTL\" attach -i 0 --eof 1" typescript <answers'
    exec 8>answers
    wait_for 10 in_typescript ready 1
    printf 'a word\n' >&8
    wait_for 5 in_typescript "got <a word>" 1
    printf '\004' >&8
    finish
    [ "$status" = 4 ]
}

@test "--on-disconnect=continue --input: who attaches later goes on typing" {
    mkfifo held
    start sh -c 'exec "$TPRUN" --on-disconnect=continue -i 0 sh -c "echo ready; cat; echo end" <held'
    exec 8>held
    wait_for 10 lines_are out 1
    echo first >&8
    wait_for 5 lines_are out 2
    refused 1 "program 1: its input comes from the tprun that started it*" -i 0 1
    kill -KILL "$job"
    finish
    exec 8>&-
    wait_for 5 eval 'tpctl attach -i 0 --eof 1 <<<second >out'
    equal "$(cat out)" "ready
first
second
end"
}
