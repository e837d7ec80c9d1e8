# What systemd does at the end of a login session, and which programs are there at the next login: on a machine
# with Debian's systemd, logind and login, where KillUserProcesses=yes. The system is made once, by debootstrap,
# and kept below ${XDG_CACHE_HOME:-~/.cache}/tprun-tests.
load common
# shellcheck source-path=SCRIPTDIR source=../lib/root.bash
. "$ROOT/tests/lib/root.bash"

make_system() ( # DIR
    exec 9>"$1.lock"
    flock 9
    [ ! -e "$1" ] || return 0
    root_room "${1%/*}" 2 || { echo "fewer than 2 GB are free in ${1%/*}"; return 1; }
    root_make "$(. /etc/os-release && echo "${VERSION_CODENAME:-}")" "$1.made" &&
        root_run "$1.made" apt-get -q update &&
        root_run "$1.made" apt-get -q -y install --no-install-recommends systemd-sysv dbus dbus-user-session \
            libpam-systemd login bsdutils procps || return
    rm -rf "$1.made"/{boot,usr/share/{doc,man,locale,info,i18n},var/cache/apt,var/lib/apt/lists}/*
    printf '[Login]\nKillUserProcesses=yes\nUserStopDelaySec=0\n' >"$1.made/etc/systemd/logind.conf"
    root_run "$1.made" useradd -m -s /bin/bash ann
    mv "$1.made" "$1"
)
find_system() {
    find_machine
    [ -z "${NO_MACHINE:-}" ] || return 0
    [ -z "${TPRUN_TEST_ROOT:-}" ] || { export NO_MACHINE="no root is made in a root"; return; }
    { [ "$(id -u)" = 0 ] && command -v debootstrap >/dev/null; } || { export NO_MACHINE="needs root, and debootstrap"; return; }
    local cache=${XDG_CACHE_HOME:-$HOME/.cache}/tprun-tests
    mkdir -p "$cache"
    export MACHINE_ROOT=$cache/login MACHINE_MEMORY=2560
    make_system "$MACHINE_ROOT" >"$cache/login.log" 2>&1 || export NO_MACHINE="no system: $(tail -n 1 "$cache/login.log")"
}
setup_file() {
    find_system
    boot "$BATS_FILE_TMPDIR/left" 'package:1 core:2 pu:1' "${TPRUN%/*}/tpctl" <<'SCRIPT'
# login FILE: ann logs in at a terminal, and does what is in the file; what she leaves in $HOME/left is kept as FILE.d
login() {
    cp "$1" /home/ann/.profile
    mkdir -p /home/ann/left
    chown -R ann: /home/ann
    timeout 60 script -qec 'login -f ann' /dev/null </dev/null >"$1.screen" 2>&1
    until_true 20 no_sessions || loginctl list-sessions >"$1.sessions"
    mv /home/ann/left "$1.d"
}
until_true() { # SECONDS COMMAND...
    for i in $(seq $(($1 * 10))); do
        "${@:2}" && return
        sleep 0.1
    done
    return 1
}
no_sessions() { [ -z "$(loginctl --no-legend list-sessions | grep ann)" ]; }
no_manager() { ! systemctl -q is-active user@1000.service; }

BEGIN='export TPRUN_OPTIONS="--oversubscribe --overlap"; cd ~/left; cat /proc/self/cgroup >place'
END='exit 0'
cat >first <<PROFILE
$BEGIN
setsid sleep 4242 </dev/null >/dev/null 2>&1 &
tprun -d sh -c 'cat /proc/self/cgroup; until [ -e /tmp/go ]; do sleep 0.1; done; echo after; exit 4' >id 2>said
tprun -d sleep 5000 >id2
tprun --on-disconnect=continue sh -c 'echo third >/tmp/third; exec sleep 6000' &
until [ -e /tmp/third ]; do sleep 0.1; done
tpctl list --format=json >list
$END
PROFILE
cat >second <<PROFILE
$BEGIN
tpctl list --format=json >list
tpctl logs 1 >logs
(sleep 1; : >/tmp/go) &
tpctl attach 1 >attached
echo \$? >attached.status
tpctl terminate 2
tpctl wait --status 2
echo \$? >second.status
tpctl terminate 3
tpctl wait --status 3
echo \$? >third.status
tpctl list --format=json >after
$END
PROFILE
cat >third <<PROFILE
$BEGIN
tprun -d sleep 7000 >id 2>said
tpctl list --format=json >list
$END
PROFILE
cat >fourth <<PROFILE
$BEGIN
tpctl list -a --format=json >list
$END
PROFILE

loginctl enable-linger ann
login first
keep kept pgrep -fa '^sleep 4242|^sleep 5000|^sleep 6000'
login second
loginctl disable-linger ann
until_true 20 no_manager
login third
until_true 20 no_manager
keep ended pgrep -u ann -a
login fourth
SCRIPT
}
setup() { need_machine; }

at() { cat "$left/$1.d/$2"; } # LOGIN FILE
running() { jq -r '.programs[] | select(.state == "running") | .id' "$left/$1.d/$2" | paste -sd' '; } # LOGIN FILE

@test "a login is a session of logind, which kills what it leaves" {
    [[ "$(at first place)" == *"/user.slice/user-1000.slice/session-"*.scope ]]
    [ ! -e "$left/first.sessions" ]
    ! grep 4242 "$left/kept"
}

@test "with --detach and with --on-disconnect=continue a program has a scope of the user's systemd, and outlives the session" {
    equal "$(at first id) $(at first id2)" "1 2"
    equal "$(at first said)" ""
    equal "$(running first list)" "1 2 3"
    equal "$(grep -c . "$left/kept")" 2
    equal "$(running second list)" "1 2 3"
    [[ "$(at second logs)" == *"/user.slice/user-1000.slice/user@1000.service/"*"/tprun-"*.scope* ]]
}

@test "attach, logs and terminate work from the next login" {
    equal "$(at second attached | tail -n 1) $(at second attached.status)" "after 4"
    equal "$(at second second.status) $(at second third.status)" "143 143"
    equal "$(running second after)" ""
}

@test "where the user does not linger that is said, and the program ends with the user's systemd" {
    equal "$(at third said)" 'tprun: this program will be ended once ann has no login session any more ("loginctl enable-linger ann" prevents that)'
    equal "$(running third list)" "$(at third id)"
    equal "$(cat "$left/ended")" ""
    equal "$(running fourth list)" ""
    jq -e '.programs | length == 4' "$left/fourth.d/list"
}
