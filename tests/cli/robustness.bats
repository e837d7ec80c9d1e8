# What is easily lost: nested runs, what goes on in the background, odd bytes, odd callers.
load ../lib/common
setup_file() { build_programs; }
setup() { start_test; }
teardown() { nothing_left; }

@test "a run inside a task draws from that task's own cores, to any depth" {
    unset TPRUN_OPTIONS
    PATH=$(dirname "$TPRUN"):$PATH run -0 "$TPRUN" -n 1 --bind-to core tprun -n 1 tprun -n 1 \
        sh -c 'grep -c "^Cpus_allowed_list:.[0-9]*$" /proc/self/status'
    [ "$output" = 1 ]
}

@test "what a task left in the background to write for it is heard to its end" {
    run -0 bash -c "$TPRUN sh -c 'seq 1 200000 &' | wc -l"
    [ "$output" = 200000 ]
    run -0 tprun bash -c 'exec > >(sleep 0.3; cat); echo important'
    [ "$output" = important ]
}

@test "a background process that waits for a slow reader is not silent" {
    equal "$(tprun -n 1 sh -c '(head -c 30000000 /dev/zero | tr "\0" x; echo; echo end) & exit 0' | (sleep 3; wc -c))" 30000005
}

@test "a background process that is silent does not keep the run" {
    SECONDS=0
    run -0 tprun sh -c 'sleep 100 &'
    within 4 "$SECONDS"
}

@test "a missing program whose name is not UTF-8 is named" {
    run -127 tprun $'/nosuch\xff'
    [[ "$output" == *'/nosuch\xff'* ]]
}

@test "a run works though its caller blocks SIGCHLD" {
    run -0 env --block-signal=CHLD timeout -k 1 20 "$TPRUN" -n 2 echo hi
    [ "$output" = $'hi\nhi' ]
}

@test "tasks that need more open files than a process may have fail with the limit's name" {
    ulimit -n 64
    run -1 --separate-stderr tprun -n 40 --oversubscribe true
    has_line "$stderr" 'tprun: rank* on *: cannot make its pipes: Too many open files: raise "ulimit -n", which is 64 here'
}

@test "an infinite --kill-grace is not taken for 0" {
    run -3 --separate-stderr tprun --kill-grace infinity -n 2 sh -c \
        'if [ $TPRUN_RANK = 0 ]; then sleep 0.2; exit 3; fi; trap "" TERM; sleep 1; echo end'
    [ "$output" = end ]
}

@test "bytes without any newline come through exactly" {
    run -0 bash -c "$TPRUN -n 4 sh -c 'head -c 3000001 /dev/zero' | wc -c"
    equal "$output" 12000004
}

# type_of NAME, frame TYPE NODE RANK TEXT: one of an agent, of group 0, as launcher/tree/frame.h has it.
type_of() { grep -oE '^    FRAME_[A-Z_]+' "$ROOT/launcher/tree/frame.h" | grep -n "FRAME_$1$" | cut -d: -f1; }
little() { printf '%08x' "$1" | sed 's/\(..\)\(..\)\(..\)\(..\)/\\x\4\\x\3\\x\2\\x\1/'; }
frame() {
    # shellcheck disable=SC2059 # the bytes are the format
    printf "$(little ${#4})$(little "$1")$(little "$2")$(little "$3")$(little 0)"
    printf %s "$4"
}

@test "numbers of an agent that are beyond what there is end the run with a sentence, and no crash" {
    local text unreached lost
    unreached=$(type_of UNREACHED) lost=$(type_of LOST)
    text='{"node":1,"host":"h","stage":0,"text":"t","elapsed":1,"nodes":"0-2147483647"}'
    { printf '\ntprun-agent-greeting-1\n'; frame "$unreached" 0 0 "$text"; } >unreached
    { printf '\ntprun-agent-greeting-1\n'; frame "$lost" 7 0 '{"host":"h","text":"t","nodes":"1"}'; } >lost
    printf '#!/bin/sh\ncat "%s/$1"; exec sleep 9\n' "$PWD" >broken
    chmod +x broken
    run -1 --separate-stderr tprun --hosts far --bootstrap "./broken unreached {host} {agent}" true
    equal "$stderr" "tprun: far: its agent sent a malformed message (type $unreached): node 1 of 1"
    run -1 --separate-stderr tprun --hosts far,off --bootstrap "./broken unreached {host} {agent}" true
    equal "$stderr" "tprun: far: its agent sent a malformed message (type $unreached): nodes 2147483647 of 2"
    run -1 --separate-stderr tprun --hosts far,off --bootstrap "./broken lost {host} {agent}" true
    equal "$stderr" "tprun: a node: its agent sent a malformed message (type $lost): node 7 of 2"
}

@test "an agent that tells of a task before there is any ends the run with its host's name, and no crash" {
    { printf '\ntprun-agent-greeting-1\n'; frame "$(type_of ENDED)" 0 0 '8 bytes.{"ranks":"","why":"exit","status":256}'; } >ended
    printf '#!/bin/sh\ncat "%s/ended"; exec sleep 9\n' "$PWD" >broken
    chmod +x broken
    run -1 --separate-stderr tprun --hosts far --bootstrap "./broken {host} {agent}" true
    equal "$stderr" "tprun: far: exited with status 1"
}
