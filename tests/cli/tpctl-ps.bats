# shellcheck disable=SC2154,SC2030,SC2031 # bats sets stderr, start_program id
# tpctl ps and top: what the tasks of a program do now.
load ../lib/common
load ../lib/tpctl
setup() { start_test; }
teardown() { nothing_left 4; }

end_program() {
    kill -KILL "$job"
    finish
}
processor_time() { tpctl ps --format=json "$id" | jq ".tasks[$1].cputime"; }
memory() { tpctl ps --format=json "$id" | jq ".tasks[$1].rss_kib"; }

@test "each task has a line: rank, host, process, state, processor time and memory" {
    # shellcheck disable=SC2016
    start_program 3 -n 3 sh -c 'echo "ready $TPRUN_RANK $$"; exec sleep 1000'
    local host
    host=$(jq -r .execution.nodelist[0] "$(instance)/programs/$id/R.json")
    run_tpctl -0 ps "$id"
    equal "$stderr" ""
    equal "$(awk 'NR == 1' <<<"$output" | tr -s ' ')" "RANK HOST PID STATE CPU TIME MEMORY"
    equal "$(awk 'NR > 1 { print $1, $2, $3, $4 }' <<<"$output")" \
        "$(sed -n 's/^ready //p' out | sort -n | awk -v host="$host" '{ print $1, host, $2, "sleeping" }')"
    has_line "$output" "2 * ?.?s *.?M"
    end_program
}

@test "as JSON it is the same, in numbers" {
    # shellcheck disable=SC2016
    start_program 2 -n 2 sh -c 'echo "ready $TPRUN_RANK $$"; exec sleep 1000'
    run_tpctl -0 ps --format=json "$id"
    equal "$(jq -c '[.version, .program, .silent]' <<<"$output")" "[1,\"$id\",[]]"
    equal "$(jq -r '.tasks[] | "ready \(.rank) \(.pid)"' <<<"$output")" "$(sort out)"
    equal "$(jq -c '[.tasks[] | (.cputime | type), (.rss_kib > 0), .state]' <<<"$output")" \
        '["number",true,"sleeping","number",true,"sleeping"]'
    end_program
}

@test "a task that works is told from one that sleeps, with what its children use" {
    # shellcheck disable=SC2016
    start_program 2 -n 2 sh -c 'echo ready; [ "$TPRUN_RANK" = 0 ] || exec sleep 1000
        (while :; do :; done) & wait'
    wait_for 20 works
    equal "$(processor_time 1 | cut -c1)" 0
    [ "$(tpctl ps --format=json "$id" | jq '.tasks[1].cputime < 0.3')" = true ]
    end_program
}
works() { [ "$(processor_time 0 | cut -d. -f1)" -ge 1 ]; }

@test "memory is what a task has now" {
    start_program 1 -n 1 python3 -c '
import os, time
print("ready", flush=True)
while not os.path.exists("much"): time.sleep(0.02)
more = bytearray(64 << 20)
for i in range(0, len(more), 4096): more[i] = 1
print("more", flush=True)
while not os.path.exists("little"): time.sleep(0.02)
del more
print("less", flush=True)
time.sleep(1000)'
    local before now
    before=$(memory 0)
    : >much
    wait_for 20 grep -q more out
    now=$(memory 0)
    [ "$now" -ge $((before + 60000)) ]
    : >little
    wait_for 20 grep -q less out
    [ "$(memory 0)" -lt $((before + 30000)) ]
    end_program
}

@test "tasks that have ended have no line" {
    # shellcheck disable=SC2016
    start_program 2 -n 3 sh -c '[ "$TPRUN_RANK" != 1 ] || exit 0; echo ready; exec sleep 1000'
    wait_for 5 ranks_are "0 2"
    end_program
}
ranks_are() { [ "$(tpctl ps --format=json "$id" | jq '.tasks[].rank' | paste -sd' ')" = "$1" ]; }

@test "of many tasks those that do the same share a line" {
    start_program 80 -n 80 sh -c 'echo ready; exec sleep 1000'
    run_tpctl -0 ps "$id"
    equal "$(head -n 1 <<<"$output" | tr -s ' ')" "RANKS HOST TASKS STATE CPU TIME MEMORY"
    has_line "$output" "0-79 *  80 *sleeping *"
    equal "$(wc -l <<<"$output")" 2
    tpctl signal "$id" STOP --ranks 7-9
    run_tpctl -0 ps "$id"
    has_line "$output" "0-6,10-79 *  77 *sleeping *"
    has_line "$output" "7-9 *  3 *stopped *"
    end_program
}

@test "programs that are complete or not there, and words that are wrong" {
    run_tpctl -3 ps 99999
    run_tpctl -2 ps --format=xml 1
    start_program 1 -n 1 sh -c 'echo ready; sleep 0.5'
    finish
    run_tpctl -4 ps "$id"
    has_line "$stderr" "tpctl: program $id is complete*"
    run_tpctl -2 top --delay 0 "$id"
}

@test "top that is not on a terminal shows once what ps does" {
    start_program 2 -n 2 sh -c 'echo ready; exec sleep 1000'
    run_tpctl -0 top "$id"
    has_line "$(head -n 1 <<<"$output")" "program $id  ??:??:??"
    equal "$(sed 1d <<<"$output" | awk '{ print $1, $4 }')" "$(tpctl ps "$id" | awk '{ print $1, $4 }')"
    [[ $output != *$'\x1b'* ]]
    end_program
}

# on_terminal KEYS: top on a terminal of 5 lines of 40 columns, with these keys in its third picture.
on_terminal() {
    python3 - "$TPCTL" "$id" "$1" <<'E2'
import fcntl, os, pty, select, struct, sys, termios, time
known, know = os.pipe()
pid, fd = pty.fork()
if pid == 0:
    os.read(known, 1)
    os.execv(sys.argv[1], ["tpctl", "top", "-d", "0.1", sys.argv[2]])
fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 5, 40, 0, 0))
before = termios.tcgetattr(fd)[3]
os.write(know, b"x")
seen, sent, end = b"", False, time.time() + 20
while time.time() < end:
    if select.select([fd], [], [], 0.1)[0]:
        try:
            more = os.read(fd, 65536)
        except OSError:
            break
        if not more:
            break
        seen += more
    if not sent and seen.count(b"program ") >= 3:
        os.write(fd, eval("b'" + sys.argv[3] + "'"))
        sent = True
try:
    same = termios.tcgetattr(fd)[3] == before
except termios.error:
    same = True
status = os.waitpid(pid, 0)[1]
pictures = seen.split(b"\x1b[H")
lines = [line for line in pictures[-1].split(b"\n")]
print(status, same, max(len(l.replace(b"\x1b[K", b"").rstrip()) for l in lines) <= 40, len(lines) <= 5)
E2
}

@test "on a terminal it goes on until q or Ctrl-C, and leaves the terminal as it was" {
    start_program 8 -n 8 sh -c 'echo ready; exec sleep 1000'
    equal "$(on_terminal q)" "0 True True True"
    equal "$(on_terminal '\x03')" "0 True True True"
    run_tpctl -0 ps "$id"
    end_program
}

@test "top ends with its program" {
    start_program 1 -n 1 sh -c 'echo ready; exec sleep 1'
    run on_terminal x
    finish
    equal "$output" "1024 True True True"
}
