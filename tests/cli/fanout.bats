# How many hosts are reached at a time. In place of ssh stands a script that counts its own kind.
load ../lib/common
setup() {
    start_test
    mkdir live
    cat >ssh <<'EOF'
#!/bin/sh
: >"live/$$"
count=0
for file in live/*; do # one that was killed has left its own
    ! kill -0 "${file#live/}" 2>/dev/null || count=$((count + 1))
done
echo $count >>counts
sleep "${PAUSE:-0.05}"
rm "live/$$"
exit 255
EOF
    chmod +x ssh
}
teardown() { nothing_left; }

@test "no more hosts than the fan-out are reached at a time, also where the first of each group fails" {
    run -1 --separate-stderr tprun --fanout 4 --hosts 'h[1-96]' -N 96 --ssh ./ssh touch started
    equal "$(wc -l <counts)" 96
    equal "$(sort -n counts | tail -n 1)" 4
    equal "$(sed 's/ (after.*//' <<<"$stderr")" "tprun: h[1-96]: not started: resolve: the command that reaches it exited with status 255
tprun: 96 of 96 hosts did not start; nothing was run"
    [ ! -e started ]
}

@test "hosts that do not answer are waited for a few at a time, and not all of them" {
    run -1 --separate-stderr env PAUSE=1000 "$TPRUN" --fanout 3 --start-timeout 1s --hosts 'h[1-60]' -N 60 --ssh ./ssh true
    equal "$(sort -n counts | tail -n 1)" 3
    [ "$(wc -l <counts)" -lt 30 ]
    has_line "$stderr" "tprun: h*: not started: resolve: not tried, since no host has answered for 1 s"
    has_line "$stderr" "tprun: 60 of 60 hosts did not start; nothing was run"
}

@test "TERM ends tprun at once, however many hosts are failing" {
    printf '#!/bin/sh\necho >>begun\nexit 1\n' >ssh
    start "$TPRUN" --hosts 'h[1-20000]' -N 20000 --ssh ./ssh true
    wait_for 20 sh -c '[ "$(wc -l <begun)" -ge 500 ]'
    kill -TERM "$job"
    finish
    equal "$status" 143
    [ "$(wc -l <begun)" -lt 5000 ]
}

# Processor time in ms, that of what is started included.
cost() { # HOSTS
    local TIMEFORMAT='%U %S'
    { time "$TPRUN" --ssh /bin/false --hosts "h[1-$1]" -N "$1" true >/dev/null 2>err; } 2>&1 |
        awk '{ print int(1000 * ($1 + $2)) }'
}

@test "hosts that fail at once cost as much each, however many they are" {
    local few many
    few=$(cost 500)
    many=$(cost 8000)
    equal "$(tail -n 1 err)" "tprun: 8000 of 8000 hosts did not start; nothing was run"
    echo "processor time: 500 hosts $few ms, 8000 hosts $many ms"
    [ "$many" -lt $((few * 16 * 2)) ]
}
