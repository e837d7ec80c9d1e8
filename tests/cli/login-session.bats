# shellcheck disable=SC2154,SC2016 # bats sets output and stderr, common.bash job and status; $0 is for inner shells
# The end of a login session, and the programs that go on without it: with and without systemd.
load ../lib/common
setup() {
    start_test
    TPCTL=${TPRUN%/*}/tpctl
    top=
}
teardown() {
    local status=0
    touch go
    nothing_left 10 || status=1
    [ -z "$top" ] || find "$top" -depth -type d -exec rmdir {} +
    return "$status"
}
# A task that lives until `go` is there.
WAITS="until [ -e go ]; do sleep 0.05; done"

# ---- without systemd ----

# From another login: nothing is the same but the user and where instances are.
next_login() { # COMMAND...
    env -i PATH="$PATH" HOME=/ LC_ALL=C.UTF-8 TEST_MARK="$TEST_MARK" TPRUN_RUNTIME_DIR="$TPRUN_RUNTIME_DIR" \
        XDG_STATE_HOME="$XDG_STATE_HOME" XDG_RUNTIME_DIR="$PWD/next" \
        setsid -w env -C / timeout --foreground -k 5 60 "$@" </dev/null
}
running() { next_login "$TPCTL" list | awk '$2 == "running" { print $1 }' | paste -sd' '; }
# script(1) has a terminal and a session for sh. The one is closed, all processes of the other get SIGHUP, and
# its directory is removed.
session_ends() {
    local leader
    leader=$(cat leader)
    kill -KILL "$job"
    finish
    pkill -HUP -s "$leader" || true
    rm -rf session.run
    wait_for 5 eval "! pgrep -s $leader"
}

@test "list, attach, logs and terminate work from the next login, whatever the end of the session did" {
    mkdir session.run
    cat >session <<END
echo \$\$ >leader
"\$TPRUN" --overlap -d sh -c 'echo before; $WAITS; echo after; exit 3'
"\$TPRUN" --overlap -d sh -c 'echo second; exec sleep 60'
exec "\$TPRUN" --overlap --on-disconnect=continue sh -c 'echo third; exec sleep 60'
END
    mkfifo typed
    XDG_RUNTIME_DIR=$PWD/session.run start sh -c 'exec script -qefc "exec sh session" typescript <typed'
    exec 8>typed
    wait_for 10 in_typescript third 1
    session_ends
    exec 8>&-
    [ ! -e session.run ]
    equal "$(running)" "1 2 3"
    next_login "$TPCTL" attach 1 >attached 2>said 3>&- &
    job=$!
    wait_for 5 lines_are attached 1
    run -0 --separate-stderr next_login "$TPCTL" logs 3
    equal "$output$stderr" third
    touch go
    finish
    [ "$status" = 3 ]
    equal "$(cat attached)" $'before\nafter'
    next_login "$TPCTL" terminate 2
    next_login "$TPCTL" terminate 3
    run -143 next_login "$TPCTL" wait --status 2
    run -143 next_login "$TPCTL" wait --status 3
    equal "$(running)" ""
    run -0 --separate-stderr next_login "$TPCTL" logs 2
    equal "$output" second
}

# stand_in NAME [LINE...]: a program of that name that comes first in PATH, and writes down its arguments.
stand_in() {
    mkdir -p bin
    { printf '#!/bin/sh\necho "${0##*/} $*" >>"%s/called"\n' "$PWD"; printf '%s\n' "${@:2}"; } >"bin/$1"
    chmod 755 bin bin/"$1"
    PATH=$PWD/bin:${PATH#"$PWD/bin:"}
}

@test "without a login session of logind nothing is asked, and no program started for it" {
    local name
    for name in busctl systemd-run loginctl dbus-send; do stand_in "$name"; done
    run -0 --separate-stderr tprun -n 1 true
    equal "$output$stderr" ""
    run -0 --separate-stderr env XDG_SESSION_ID=7 "$TPRUN" -d true
    equal "$output$stderr" 2
    run -0 --separate-stderr tprun --on-disconnect=continue true
    equal "$output$stderr" ""
    [ ! -e called ]
}

@test "without a login session of logind neither its configuration nor a bus is looked at" {
    need_plain_build "nothing can be traced"
    command -v strace >/dev/null || skip "no strace here"
    run -0 strace -f -qq -o trace -e trace=openat,connect "$TPRUN" -n 1 true
    run -0 strace -f -qq -o detached -e trace=openat,connect "$TPRUN" -d true
    next_login "$TPCTL" wait 2
    ! grep -E 'logind|/linger/|/bus"|dbus' trace detached
}

# ---- in a scope ----

# A login session as logind makes it, of the user daemon or of root, is a cgroup here; what is in it finds this
# logind.conf. Its user's systemd is the program busctl, which moves processes into other cgroups.
need_session() { # USER
    { [ "$(id -u)" = 0 ] && unshare -m --propagation private true; } 2>/dev/null || skip "needs root, and namespaces"
    local mount
    mount=$(findmnt -rnt cgroup2 -o TARGET | head -n 1)
    top=$mount$(sed -n 's/^0:://p' /proc/self/cgroup | sed 's|/$||')/tprun-test.$$.$RANDOM
    [ -n "$mount" ] && mkdir "$top" 2>/dev/null || { top='' && skip "no cgroup can be made here"; }
    user=$1 uid=$(id -u "$1")
    slice=$top/user-$uid.slice
    mkdir -p "$slice/session-3.scope" "$slice/user@$uid.service" linger home/run home/state
    chown -R "$uid" "$top" home
    chmod 700 home/run
    chmod a+x "$BATS_RUN_TMPDIR" "$BATS_TEST_TMPDIR" "$(dirname "$BATS_TEST_TMPDIR")"
    chmod a+rw "$BATS_TEST_TMPDIR"
    : >called && chmod a+rw called
    export TPRUN_RUNTIME_DIR=$PWD/home/run XDG_STATE_HOME=$PWD/home/state
    printf '[Login]\nKillUserProcesses=yes\nKillExcludeUsers=\n' >logind.conf
    # Arguments 8 to 14 of the call: the unit, and its properties, of which the first are the processes.
    stand_in busctl "[ \$# = 24 ] && [ \"\$1 \$2 \$7 \${11} \${12} \${13}\" = \"--$([ "$uid" = 0 ] && echo system || echo user) call ssa(sv)a(sa(sv)) PIDs au 1\" ] || exit 9" \
        "mkdir '$slice/user@$uid.service'/\$8 && echo \${14} >'$slice/user@$uid.service'/\$8/cgroup.procs" \
        'echo "o \"/org/freedesktop/systemd1/job/9\""'
}
in_session() { # COMMAND...: as the user, in the session
    unshare -m --propagation private sh -c '
        mount --bind logind.conf /etc/systemd/logind.conf && mount -t tmpfs none /var/lib/systemd || exit 99
        mkdir /var/lib/systemd/linger && mount --bind linger /var/lib/systemd/linger || exit 99
        echo 0 >"$0" && exec "$@"' "$slice/session-3.scope/cgroup.procs" \
        setpriv --reuid "$uid" --clear-groups env HOME="$PWD/home" "$@"
}
# Where the tasks of program 1 were, below the slice.
was_in() { in_session "$TPCTL" logs 1 | sed -n "s|^0::.*/user-$uid.slice/||p"; }

@test "where logind kills what a session leaves, a detached program gets a scope that systemd grants" {
    need_session daemon
    : >linger/daemon
    run -0 --separate-stderr in_session "$TPRUN" -d cat /proc/self/cgroup
    equal "$output$stderr" 1
    run -0 in_session "$TPCTL" wait --status 1
    [[ "$(was_in)" == "user@$uid.service/tprun-"*.scope* ]]
    equal "$(wc -l <called)" 1
    run -0 --separate-stderr in_session "$TPRUN" --on-disconnect=continue true
    equal "$output$stderr" ""
    equal "$(wc -l <called)" 2
    run -0 --separate-stderr in_session "$TPRUN" true
    equal "$(wc -l <called)" 2
}

@test "a program in a scope starts others there, and systemd is not asked again" {
    need_session daemon
    : >linger/daemon
    run -0 --separate-stderr in_session "$TPRUN" -d sh -c '"$0" -d --overlap true; cat /proc/self/cgroup' "$TPRUN"
    run -0 in_session "$TPCTL" wait --status 1
    run -0 in_session "$TPCTL" wait --status 2
    [[ "$(was_in)" == "user@$uid.service/tprun-"*.scope* ]]
    equal "$(wc -l <called)" 1
}

@test "who does not linger is told so before the start" {
    need_session daemon
    local line='tprun: this program will be ended once daemon has no login session any more ("loginctl enable-linger daemon" prevents that)'
    run -0 --separate-stderr in_session "$TPRUN" -d cat /proc/self/cgroup
    equal "$output" 1
    equal "$stderr" "$line"
    run -0 in_session "$TPCTL" wait --status 1
    [[ "$(was_in)" == "user@$uid.service/tprun-"*.scope* ]]
    run -127 --separate-stderr in_session "$TPRUN" -d ./nosuch
    equal "${stderr_lines[0]}" "$line"
}

@test "where systemd grants no scope that is said before the start, and the program runs" {
    need_session daemon
    stand_in busctl 'echo "Failed to set bus address: No medium found" >&2; exit 1'
    run -0 --separate-stderr in_session "$TPRUN" -d true
    equal "$output" 1
    equal "$stderr" "tprun: this program will be ended with the login session (KillUserProcesses=yes in logind.conf): cannot get a scope of systemd: busctl: it ended with status 1: Failed to set bus address: No medium found"
    run -0 in_session "$TPCTL" wait --status 1
    stand_in busctl 'echo "o \"/org/freedesktop/systemd1/job/9\""' # and moves nothing
    run -0 --separate-stderr in_session "$TPRUN" -d true
    [[ "$stderr" == *": cannot get a scope of systemd: tprun-"*".scope was not begun within 5 s" ]]
    run -0 in_session "$TPCTL" wait --status 2
}

@test "where logind kills nothing, or not this user's, no scope is asked for" {
    need_session daemon
    local conf
    for conf in '' KillUserProcesses=no $'KillUserProcesses=yes\nKillExcludeUsers=bin daemon' \
        $'KillUserProcesses=yes\nKillOnlyUsers=bin'; do
        printf '[Login]\n%s\n' "$conf" >logind.conf
        run -0 --separate-stderr in_session "$TPRUN" -d true
        [[ "$output" == [1-4] ]]
        equal "$stderr" ""
    done
    wait_for 10 eval '[ -z "$(in_session "$TPCTL" list)" ]'
    [ ! -s called ]
}

@test "root asks the system's systemd, and need not linger" {
    need_session root
    mkdir "$top/system.slice"
    sed -i "s|'$slice/user@0.service'|'$top/system.slice'|g" bin/busctl
    run -0 --separate-stderr in_session "$TPRUN" -d cat /proc/self/cgroup
    equal "$output$stderr" 1
    run -0 in_session "$TPCTL" wait --status 1
    in_session "$TPCTL" logs 1 | grep -q '/system.slice/tprun-.*\.scope'
}
