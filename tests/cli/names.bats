# shellcheck disable=SC2154,SC2016 # bats sets stderr; $0 is for the tasks' shells
# Names that tasks publish through PMIx, and through PMI, for each other and for other programs.
load ../lib/common
setup_file() { build_programs; }
setup() {
    start_test
    "$TPRUN" --version | grep -qi 'pmix [0-9]' || skip "this tprun has no PMIx"
    NAMES=$PROGRAMS/pmix-names ASK="$PROGRAMS/pmi-spawn ask"
    [ -x "$NAMES" ] || skip "no libpmix-dev here"
}
teardown() { nothing_left; }

# In the background, until the file "enough" is there: sets $publisher.
publish() { # STEP...
    tprun --overlap "$NAMES" "$@" until enough >log &
    publisher=$!
    wait_for 5 lines_are log 1
}
end_publisher() {
    touch enough
    wait $publisher
    rm enough
}

@test "a task publishes, finds, waits for and withdraws" {
    run -0 --separate-stderr tprun "$NAMES" publish a b lookup a publish a c lookup c await a 9 await c 1 \
        bytes d e lookup d once f g lookup f lookup f unpublish a unpublish a lookup a publish a c lookup a
    equal "$output$stderr" 'publish a: ok
lookup a: "b" of 0
publish a: DUPLICATE-KEY
lookup c: NOT-FOUND
await a: "b" of 0
await c: TIMEOUT
bytes d: ok
lookup d: e of 0
once f: ok
lookup f: "g" of 0
lookup f: NOT-FOUND
unpublish a: ok
unpublish a: NOT-FOUND
lookup a: NOT-FOUND
publish a: ok
lookup a: "c" of 0'
}

@test "64 tasks wait for a name that one of them publishes, and only it withdraws it" {
    local want='await n: "v" of 63'
    run -0 --separate-stderr tprun -n 64 sh -c \
        'if [ $TPRUN_RANK = 63 ]; then exec "$0" publish n v await n 20 until done unpublish n; fi
        "$0" await n 20 unpublish n && echo >>ready && [ $(wc -l <ready) -lt 63 ] || touch done' "$NAMES"
    equal "$(grep -cxF "$want" <<<"$output")" 64
    equal "$(grep -vxF "$want" <<<"$output" | sort | uniq -c | sed 's/^ *//')" '1 publish n: ok
63 unpublish n: NO-PERMISSIONS
1 unpublish n: ok'
}

@test "what is published through PMI is found through PMIx, and the other way round" {
    run -0 --separate-stderr tprun sh -c '
        $1 "cmd=publish_name service=pmi port=tag#0\$x" >/dev/null
        "$0" lookup pmi publish pmi other publish pmix here bytes octets there unpublish pmi' "$NAMES" "$ASK"
    equal "$output" 'lookup pmi: "tag#0$x" of -1
publish pmi: DUPLICATE-KEY
publish pmix: ok
bytes octets: ok
unpublish pmi: NO-PERMISSIONS'
    publish publish pmix here bytes octets there
    run -0 tprun --overlap sh -c 'exec $0 "cmd=lookup_name service=pmix" \
        "cmd=publish_name service=pmix port=x" "cmd=lookup_name service=octets"' "$ASK"
    has_line "$output" "*port=here*"
    equal "$(grep -o 'rc=[-0-9]*' <<<"$output" | sed 's/rc=[^0].*/bad/' | tr '\n' ' ')" "rc=0 bad bad "
    end_publisher
}

@test "a port that a client's line has no room for is an error to it, and the task goes on" {
    need_mpich
    local short long
    short=$(printf '%200s' '' | tr ' ' s) long=$(printf '%2000s' '' | tr ' ' l)
    publish publish short "$short" publish long "$long"
    run -0 --separate-stderr tprun --overlap "$PROGRAMS/mpi-lookup" short
    equal "$output" "$short"
    run -0 --separate-stderr tprun --overlap "$PROGRAMS/mpi-lookup" long
    equal "$output" "no port"
    run -0 --separate-stderr tprun --overlap "$NAMES" lookup long
    equal "$output" "lookup long: \"$long\" of 0"
    end_publisher
}

@test "another program finds names, also those of PMI, for as long as the program that published them runs" {
    publish publish far here bytes octets there
    run -0 --separate-stderr tprun --overlap "$NAMES" lookup far lookup octets publish far mine unpublish far
    equal "$output" 'lookup far: "here" of 0
lookup octets: there of 0
publish far: DUPLICATE-KEY
unpublish far: NOT-FOUND'
    end_publisher
    run -0 --separate-stderr tprun "$NAMES" lookup far publish far mine
    equal "$output" 'lookup far: NOT-FOUND
publish far: ok'
    tprun sh -c '$0 "cmd=publish_name service=old port=here"; until [ -e enough ]; do sleep 0.05; done' "$ASK" >log &
    publisher=$!
    wait_for 5 grep -q publish_result log
    run -0 --separate-stderr tprun --overlap "$NAMES" await old 5
    equal "$output" 'await old: "here" of -1'
    end_publisher
}

@test "a program that is stopped while it publishes holds nobody up" {
    local steps='publish a b lookup a'
    # shellcheck disable=SC2086
    run -0 tprun "$NAMES" $steps
    python3 -c '
import fcntl, struct, sys, time
file = open(sys.argv[1], "a+b", 0)
fcntl.fcntl(file, fcntl.F_OFD_SETLKW, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0))
print("locked", flush=True)
time.sleep(100)' "$(echo "$TPRUN_RUNTIME_DIR"/this-machine-*/names)" >locked 3>&- &
    local locker=$!
    wait_for 5 lines_are locked 1
    # shellcheck disable=SC2086
    LIMIT=15 run -0 --separate-stderr tprun "$NAMES" $steps
    kill $locker
    equal "$output$stderr" $'publish a: DUPLICATE-KEY\nlookup a: NOT-FOUND'
}

@test "who waits finds what another program publishes later" {
    tprun --overlap "$NAMES" await late 20 await never 1 >waited &
    local waiter=$!
    sleep 0.5
    publish publish late here
    wait $waiter
    equal "$(cat waited)" 'await late: "here" of 0
await never: TIMEOUT'
    end_publisher
}

@test "what is to be read once is found by one task of one program, and may be published again then" {
    publish once k 1 until first once k 2 once k 3
    run -0 --separate-stderr tprun --overlap "$NAMES" lookup k lookup k publish k mine unpublish k
    equal "$output" 'lookup k: "1" of 0
lookup k: NOT-FOUND
publish k: ok
unpublish k: ok'
    touch first
    wait_for 5 lines_are log 3
    equal "$(cat log)" 'once k: ok
once k: ok
once k: DUPLICATE-KEY'
    run -0 --separate-stderr tprun --overlap "$NAMES" lookup k lookup k
    equal "$output" 'lookup k: "2" of 0
lookup k: NOT-FOUND'
    end_publisher
}

@test "of programs that wait for the same 20 names each name is read once by one" {
    local i steps=() running=()
    for i in {1..20}; do steps+=(once "k$i" "$i"); done
    # Whoever does not get a name waits for as long as it may: each task for two.
    local waits='exec "$0" until go await "k$((TPRUN_RANK * 2 + 1))" 2 await "k$((TPRUN_RANK * 2 + 2))" 2'
    publish publish up here until publishing "${steps[@]}"
    tprun --overlap -n 10 sh -c "$waits" "$NAMES" >one & running+=($!)
    tprun --overlap -n 10 sh -c "$waits" "$NAMES" >two & running+=($!)
    touch go
    sleep 0.3
    touch publishing
    wait "${running[@]}"
    end_publisher
    equal "$(sed -n 's/.*"\(.*\)".*/\1/p' one two | sort -n)" "$(seq 20)"
}

@test "names of a spawned group end with it, but for those that were to be read first" {
    run -0 --separate-stderr tprun sh -c '
        $1 run -- 1 "$0" publish job 1 once once 2 await go 20 >/dev/null
        exec "$0" await job 20 publish go x gone job lookup once' "$NAMES" "$PROGRAMS/pmi-spawn"
    equal "$(grep -E '^(await job|gone|lookup)' <<<"$output")" 'await job: "1" of 0
gone job: ok
lookup once: "2" of 0'
}

@test "who waits for a name of another program gets it while others look names up" {
    tprun --overlap -n 2 sh -c 'if [ $TPRUN_RANK = 0 ]; then exec "$0" await late 20; fi
        exec "$0" $(yes lookup nothing | head -n 6000)' "$NAMES" >out &
    local asking=$!
    wait_for 5 lines_are out 1
    publish publish late here
    wait_for 5 grep -q '^await' out || { grep -c . out; false; }
    end_publisher
    wait $asking
    equal "$(grep -v nothing out)" 'await late: "here" of 0'
}
