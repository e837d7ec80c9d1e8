# What tasks read.
load ../lib/common
setup_file() { build_programs; }
setup() { start_test; }
teardown() { nothing_left; }

@test "stdin goes to rank 0, the others see its end at once" {
    run -0 --separate-stderr bash -c 'printf "a\nb\n" | timeout 20 "$TPRUN" -l -n 3 cat'
    equal "$output" "$(printf '0: a\n0: b')"
}

@test "ranks other than 0 need not wait for stdin to end" {
    mkfifo pipe
    sleep 30 >pipe 3>&- &
    local writer=$!
    LIMIT=10 tprun -n 2 sh -c '[ $TPRUN_RANK = 0 ] || cat' <pipe
    kill $writer
}

@test "-i all gives it to every rank" {
    run -0 --separate-stderr bash -c 'echo x | timeout 20 "$TPRUN" -l -n 3 -i all cat'
    equal "$(sort <<<"$output")" "$(printf '0: x\n1: x\n2: x')"
}

@test "-i with a set of ranks gives it to those" {
    run -0 --separate-stderr bash -c 'echo x | timeout 20 "$TPRUN" -l -n 4 -i 1,3 cat'
    equal "$(sort <<<"$output")" "$(printf '1: x\n3: x')"
}

@test "-i none gives it to nobody, and leaves it unread" {
    run -0 --separate-stderr bash -c 'printf "x\n" | { timeout 20 "$TPRUN" -n 2 -i none cat; cat; }'
    equal "$output" x
}

@test "-i FILE is read where tprun runs" {
    echo content >file
    run -0 --separate-stderr tprun -l -n 2 -i file cat
    equal "$output" "0: content"
    run --separate-stderr tprun -n 2 -i nosuch cat
    [ "$status" != 0 ]
    [[ "$stderr" == *nosuch* ]]
}

@test "-i with a rank that is not there is refused" {
    run --separate-stderr tprun -n 2 -i 5 cat
    [[ "$status" = [12] ]]
    has_line "$stderr" "tprun: *5*"
}

@test "a closed stdin is an end of file" {
    LIMIT=10 run -0 --separate-stderr bash -c 'timeout 10 "$TPRUN" -n 2 cat <&-'
    [ -z "$output" ]
}

@test "where /dev/null is tprun's stdin it is the tasks'" {
    run -0 --separate-stderr bash -c 'timeout 20 "$TPRUN" -n 2 readlink /proc/self/fd/0 </dev/null'
    equal "$output" "/dev/null
/dev/null"
    run -0 --separate-stderr bash -c 'true | timeout 20 "$TPRUN" -n 1 readlink /proc/self/fd/0'
    [[ "$output" == pipe:* ]]
    run -0 --separate-stderr bash -c 'echo x >file; timeout 20 "$TPRUN" -i file -n 1 cat </dev/null'
    equal "$output" x
}

@test "input that nobody reads does not hold the end of the program" {
    LIMIT=10 run -0 --separate-stderr bash -c 'yes | timeout 10 "$TPRUN" sleep 0.2'
}

@test "a task that reads only a part ends as it likes" {
    run -0 --separate-stderr bash -c 'seq 1000000 | timeout 20 "$TPRUN" head -n 1'
    equal "$output" 1
}

type_slowly() { # WORD SECONDS: a word, then nothing for so long
    sleep 0.3
    echo "$1"
    env -u TEST_MARK sleep "$2"
}

@test "a background run does not read from the terminal, and is not stopped by it" {
    cat >session <<'END'
set -m
timeout 20 "$TPRUN" sh -c 'sleep 0.5; echo task done' &
wait $!
echo "status $?"
IFS= read -r -t 5 line
echo "typed: $line"
END
    run -0 timeout 30 script -qec "bash session" /dev/null < <(type_slowly ahead 3)
    has_line "$output" "task done*"
    has_line "$output" "status 0*"
    has_line "$output" "typed: ahead*"
}

@test "a foreground run reads from the terminal" {
    run -0 timeout 30 script -qec "$TPRUN head -n 1" /dev/null < <(type_slowly typed 1)
    [ "$(grep -c typed <<<"$output")" -ge 2 ]
}

@test "256 MiB through stdin are whole, and take little memory" {
    start_watch 1
    "$PROGRAMS/stream" write 0 268435456 |
        LIMIT=120 tprun sh -c "$PROGRAMS/stream check 1 268435456 && $HOLD" 3>&-
    watch_below 65536
}

@test "16 MiB for every one of 4 ranks are whole" {
    "$PROGRAMS/stream" write 0 16777216 |
        tprun -n 4 -i all "$PROGRAMS/stream" check 1 16777216 3>&- >out
    equal "$(sort -u out)" "131072 lines of 1 tasks are right"
    equal "$(wc -l <out)" 4
}
