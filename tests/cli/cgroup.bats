# The cgroup that tasks are started in, where one can be made.
load ../lib/common
setup_file() { build_programs; }
setup() {
    start_test
    own=$(sed -n 's/^0:://p' /proc/self/cgroup)
    mount= # of several the first where this shell's cgroup is
    while read -r place; do
        [ "$(stat -f -c %T "$place$own" 2>/dev/null)" != cgroup2fs ] || { mount=$place; break; }
    done < <(findmnt -rnt cgroup2 -o TARGET)
    below=$mount${own%/}
}
teardown() {
    nothing_left
    nothing_flees
    no_cgroups
}

# A plain directory can be made where this shell is: then tprun has to use one.
need_cgroup() {
    [ -n "$mount" ] || skip "cgroup2 is not mounted"
    mkdir "$below/tprun-test.$$" 2>/dev/null || skip "no cgroup can be made in $below"
    rmdir "$below/tprun-test.$$"
    case $(uname -m) in x86_64 | aarch64) ;; *) skip "no tasks in cgroups on $(uname -m)" ;; esac
}
need_kill() { # cgroup.kill came with 5.14
    need_cgroup
    printf '%s\n' 5.14 "$(uname -r)" | sort -CV || skip "Linux $(uname -r) cannot kill a cgroup"
}
need_root() { [ "$(id -u)" = 0 ] || skip "needs root"; }

# Directories of this test's programs: other runs on this machine have others.
cgroups() { find "$below" -mindepth 1 -type d -path '*/tprun.*' 2>/dev/null | grep -F "$(ours)"; }
ours() { sed -n 's/^tprun: .*: tasks in cgroup \([^,]*\).*/\1/p' err 2>/dev/null | sed '$!d' | grep . || echo none; }
no_cgroups() {
    local left
    left=$(cgroups) || return 0
    echo "left: $left"
    return 1
}
# The daemon of `stay flee` is another process every moment, and writes down which.
nothing_flees() {
    local before
    [ -e fleeing ] || return 0
    before=$(cat fleeing)
    sleep 0.3
    equal "$(cat fleeing)" "$before"
}
flees() { [ -s fleeing ]; }

@test "-v says which cgroup tasks are in, and it is gone afterwards" {
    need_cgroup
    run --separate-stderr tprun -v -n 2 sed -n 's/^0:://p' /proc/self/cgroup
    equal "$status" 0
    echo "$stderr" >err
    equal "${#lines[@]}" 2
    equal "${lines[0]}" "${lines[1]}"
    equal "$mount${lines[0]}" "$(ours)"
    [[ ${lines[0]} == "${own%/}"/tprun.[0-9]*.[0-9]*.* ]]
    [ ! -e "$(ours)" ]
}

# quota CORES: what runs below `limited` may use so much processor time: v2's or v1's controller.
need_quota() {
    local period=100000 quota
    quota=$(awk "BEGIN { print int($1 * $period) }")
    limited=$below/tprun-test.$$
    if mkdir "$limited" 2>/dev/null && [ -e "$limited/cpu.max" ]; then
        echo "$quota $period" >"$limited/cpu.max"
        return
    fi
    rmdir "$limited" 2>/dev/null || true
    limited=$(findmnt -rnt cgroup -o TARGET,OPTIONS | sed -n 's/ .*[ ,]cpu\(,.*\)\?$//p' | head -n 1)
    [ -n "$limited" ] || skip "no cgroup of a CPU controller is mounted"
    limited=$limited/tprun-test.$$
    mkdir "$limited" 2>/dev/null || skip "no cgroup of a CPU controller can be made"
    echo "$period" >"$limited/cpu.cfs_period_us"
    echo "$quota" >"$limited/cpu.cfs_quota_us"
}
# shellcheck disable=SC2016
limited() { bash -c 'echo $$ >"$0/cgroup.procs"; exec "$@"' "$limited/inner" "$TPRUN" "$@"; }

@test "a CPU quota below the cores of the tasks is said once" {
    need_cores 2
    need_quota 1.5
    mkdir "$limited/inner"
    unset TPRUN_OPTIONS
    run -0 --separate-stderr limited -n 2 true
    local two=$stderr
    run -0 --separate-stderr limited -n 1 true
    local one=$stderr
    run -0 --separate-stderr limited -n 2 --bind-to none true
    wait_for 2 rmdir "$limited/inner"
    rmdir "$limited"
    local said
    said="tprun: $(hostname): the cgroup's CPU quota is 1.5 cores, the tasks have 2"
    equal "$two" "$said"
    equal "$one" ""
    equal "$stderr" "$said"
}

@test "a cgroup's directory is removed when the program failed, too" {
    need_cgroup
    run -3 --separate-stderr tprun -v -n 4 sh -c 'exit 3'
    echo "$stderr" >err
    [ "$(ours)" != none ]
    [ ! -e "$(ours)" ]
}

@test "a program that a task starts has its cgroup inside the outer program's" {
    need_cgroup
    run -0 --separate-stderr tprun -v "$TPRUN" sed -n 's/^0:://p' /proc/self/cgroup
    echo "$stderr" >err
    [[ $mount$output == "$(ours)"/tprun.* ]]
    no_cgroups
}

@test "a daemon that forks and exits again and again ends with its task" {
    need_kill
    start "$TPRUN" -v --kill-grace 1s -n 1 "$PROGRAMS/stay" flee
    wait_for 5 flees
    SECONDS=0
    kill -TERM "$job"
    finish
    equal "$status" 143
    within 3 "$SECONDS"
    nothing_flees
}

# killed WHO...: these are killed; within 3 s all is gone.
killed() {
    local manager agent who victims=
    rm -f fleeing
    start "$TPRUN" -v -n 2 "$PROGRAMS/stay" flee ignore
    wait_for 5 flees
    wait_for 5 lines_are out 2
    [ -d "$(ours)" ]
    manager=$(pgrep -P "$job" -x tprun-manager)
    agent=$(pgrep -P "$manager" -x tpagent)
    for who; do
        case $who in
        front) victims+=" $job" ;;
        manager) victims+=" $manager" ;;
        agent) victims+=" $agent" ;;
        esac
    done
    # shellcheck disable=SC2086
    kill -9 $victims
    finish
    [ "$status" != 0 ]
    wait_for 3 no_cgroups
    nothing_flees
}

@test "SIGKILL of the agent leaves no daemon and no cgroup" {
    need_kill
    killed agent
}

@test "SIGKILL of the manager leaves no daemon and no cgroup" {
    need_kill
    killed manager
}

@test "SIGKILL of the front end leaves no daemon and no cgroup" {
    need_kill
    killed front
}

@test "SIGKILL of any two of them leaves no daemon and no cgroup" {
    need_kill
    killed agent manager
    killed front manager
    killed front agent
}

@test "SIGKILL of a program in a program leaves no cgroup of either" {
    need_kill
    start "$TPRUN" -v -n 1 "$TPRUN" -n 2 "$PROGRAMS/stay" ignore
    wait_for 5 lines_are out 2
    equal "$(cgroups | wc -l)" 2
    kill -9 "$job"
    finish
    wait_for 3 no_cgroups
}

# without COMMAND...: where the command leaves cgroup2, tasks run, and -v says why in no cgroup.
without() { # REASON COMMAND
    need_root
    [ -n "$mount" ] || skip "cgroup2 is not mounted"
    run -0 --separate-stderr unshare -m sh -c "$2"' && exec "$0" "$@"' \
        "$TPRUN" -v -n 2 "$PROGRAMS/where"
    equal "${#lines[@]}" 2
    has_line "$stderr" "tprun: *: no cgroup: $1"
}

EACH='for m in $(findmnt -rnt cgroup2 -o TARGET | sort -r); do' # cgroup2 may be mounted twice

@test "where cgroup2 is not mounted tasks run without" {
    without "cgroup2 is not mounted" "$EACH umount \$m; done"
}

@test "where cgroup2 is read-only tasks run without" {
    without "cannot make one in *: Read-only file system" "$EACH mount -o remount,bind,ro \$m; done"
}

@test "where something hides cgroup2 tasks run without" {
    without "cgroup2 is mounted, but not where this process's cgroup * is" \
        "$EACH mount -t tmpfs none \$m; done"
}

# elsewhere COMMAND: where the command spoils the first cgroup2, tasks are in the second one.
elsewhere() {
    need_root
    need_cgroup
    mkdir second
    run -0 --separate-stderr unshare -m sh -c \
        "mount -t cgroup2 none $PWD/second && $1"' && exec "$0" "$@"' "$TPRUN" -v -n 1 "$PROGRAMS/where"
    has_line "$stderr" "tprun: *: tasks in cgroup $PWD/second*"
    rmdir second
}

@test "of several cgroup2 the one that can be used is used, and said" {
    elsewhere "umount $mount"
    elsewhere "mount -t tmpfs none $mount"
    elsewhere "mount -o remount,bind,ro $mount"
}

# Empty cgroups of programs that were killed with all that could have removed them. DEAD: nobody
# owns it; LIVE: somebody is about to start something in it.
@test "what a killed program left is removed by the next one, and nothing that is in use" {
    need_cgroup
    local dead="$below/tprun.0.1.dead$$" live="$below/tprun.0.1.live$$"
    mkdir -p "$dead/tprun.inner.2.dead" "$live"
    exec 7<"$live"
    flock -s 7
    tprun true
    [ ! -e "$dead" ]
    [ -e "$live" ]
    exec 7<&-
    tprun true
    [ ! -e "$live" ]
}

@test "in an instance a program that starts a second later removes it" {
    need_cgroup
    ln -s "$TPRUN" tpbatch
    dead="$below/tprun.0.1.inside$$" run -0 --separate-stderr ./tpbatch sh -c '
        "$TPRUN" true # and may look
        mkdir "$dead"
        sleep 1.1
        "$TPRUN" true
        for try in 1 2 3 4 5 6 7 8 9 10; do [ -e "$dead" ] || exit 0; sleep 0.1; done # beside its task
        rmdir "$dead"
        echo left'
    equal "$output" ""
}

@test "SIGKILL of all of them leaves an empty cgroup that the next run removes" {
    need_kill
    local manager all
    start "$TPRUN" -v -n 2 "$PROGRAMS/stay"
    wait_for 5 lines_are out 2
    manager=$(pgrep -P "$job" -x tprun-manager)
    all="$(pgrep -P "$manager" -x tpagent) $manager $job"
    # Stopped before: or one of them sees another's end, and removes the cgroup, before its own.
    # shellcheck disable=SC2086 # process ids
    kill -STOP $all && kill -9 $all
    finish
    nothing_left
    # Any run on this machine removes it: one of another test may have, so whether it is there now says nothing.
    tprun --overlap true
    no_cgroups
}

@test "SIGKILL of all of them leaves tasks that the next run ends, with their cgroup" {
    need_kill
    local manager all
    start "$TPRUN" -v -n 2 "$PROGRAMS/stay" flee ignore
    wait_for 5 lines_are out 2
    wait_for 5 flees
    manager=$(pgrep -P "$job" -x tprun-manager)
    all="$(pgrep -P "$manager" -x tpagent) $manager $job"
    # shellcheck disable=SC2086 # process ids
    kill -STOP $all && kill -9 $all
    finish
    tprun --overlap true
    no_cgroups
    nothing_flees
}

# The manager ends what a killed agent leaves: the cgroup is in use until it has.
@test "what is left of a program whose manager lives is not the next run's to end" {
    need_kill
    local manager agent tasks
    start "$TPRUN" -v -n 2 "$PROGRAMS/stay" ignore
    wait_for 5 lines_are out 2
    manager=$(pgrep -P "$job" -x tprun-manager)
    agent=$(pgrep -P "$manager" -x tpagent)
    tasks=$(cat "$(ours)/cgroup.procs")
    kill -STOP "$manager"
    kill -9 "$agent"
    wait_for 5 eval 'ps -o stat= -p '"$agent"' | grep -q Z'
    tprun --overlap true
    equal "$(cat "$(ours)/cgroup.procs")" "$tasks"
    kill -CONT "$manager"
    finish
    [ "$status" != 0 ]
    wait_for 3 no_cgroups
}

@test "runs that start at the same time leave each other's cgroups alone" {
    need_cgroup
    local i
    for i in 1 2 3 4 5 6 7 8; do
        tprun --overlap -v -n 1 true 2>"err.$i" 3>&- &
    done
    wait
    equal "$(cat err.* | grep -c ': tasks in cgroup ')" 8
}

# A memory limit is set for a shell that starts tprun in it.
@test "a task that the kernel kills for lack of memory is said to be" {
    need_root
    need_cgroup
    grep -qw memory "$below/cgroup.controllers" || skip "no memory controller in cgroup2 here"
    local limited="$below/tprun-limit.$$" status=0
    [ -z "$(cat "$below/cgroup.procs")" ] || grep -qw memory "$below/cgroup.subtree_control" ||
        skip "the memory controller cannot be given to a cgroup in $below"
    echo +memory >"$below/cgroup.subtree_control" || skip "the memory controller is not to be had"
    mkdir "$limited"
    echo 100M >"$limited/memory.max"
    echo 0 >"$limited/memory.swap.max" || true
    sh -c 'echo $$ >"$0/cgroup.procs" && exec timeout 30 "$TPRUN" -n 1 \
        python3 -c "x = bytearray(300 << 20); x[::4096] = b\"x\" * (300 << 8)"' "$limited" 2>err || status=$?
    wait_for 5 rmdir "$limited"
    equal "$status" 137
    has_line "$(cat err)" "tprun: rank 0 on *: killed by the kernel for lack of memory (cgroup limit 100 MiB)"
}

@test "where the user may not write tasks run without" {
    need_root
    need_cgroup
    chmod 711 "$BATS_RUN_TMPDIR" "$BATS_FILE_TMPDIR" "$BATS_TEST_TMPDIR" 2>/dev/null || true
    mkdir -m 700 nobody
    chown 65534:65534 nobody
    run -0 --separate-stderr setpriv --reuid 65534 --regid 65534 --clear-groups \
        env TPRUN_RUNTIME_DIR="$PWD/nobody" "$TPRUN" -v -n 2 "$PROGRAMS/where"
    equal "${#lines[@]}" 2
    has_line "$stderr" "tprun: *: no cgroup: cannot make one in *: Permission denied"
}

@test "unbound tasks are kept to the cores that their program holds where the kernel can" {
    need_cgroup
    need_cores 2
    grep -qw cpuset "$below/cgroup.subtree_control" || skip "no cpuset controller for new cgroups"
    run -0 --separate-stderr tprun -v -n 1 --bind-to none sh -c \
        'taskset -pc 0-1023 $$ >/dev/null; exec "$0"' "$PROGRAMS/where"
    echo "$stderr" >err
    equal "${output##* }" "$(sed -n 's/^tprun: .*: tasks in cgroup .*, kept to processors //p' err)"
    run -0 tprun --overlap -n 1 --bind-to none "$PROGRAMS/where"
    equal "${output##* }" "$(sed -n 's/^Cpus_allowed_list:\s*//p' /proc/self/status)"
}
