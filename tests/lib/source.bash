# shellcheck shell=bash
# For what builds a Debian source package below $dir: nothing of it changes the machine (no root,
# lists of packages of its own). Where it cannot be had: exit 77, and the reason as the last line.
umask 022
keys=/usr/share/keyrings/debian-archive-keyring.gpg
mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}

cannot() { # REASON
    echo "$package: $*" >&2
    exit 77
}
# step NAME COMMAND...: with a log of its own; what is done already is not done again
step() {
    local name=$1
    shift
    [ ! -e "$log/$name.done" ] || return 0
    "$@" >"$log/$name" 2>&1 </dev/null && : >"$log/$name.done"
}
failed() { cannot "$1: $(tail -n 1 "$log/$1" | tr -d '\r') ($log/$1)"; }

apt() {
    local options=(-q -o Dir::Etc::sourcelist="$dir/apt/sources.list" -o Dir::Etc::sourceparts=-
        -o Dir::State::lists="$dir/apt/lists" -o Dir::Cache="$dir/apt/cache"
        -o APT::Sandbox::User= -o Acquire::Retries=1 -o Acquire::http::Timeout=20)
    timeout -k 5 400 apt-get "${options[@]}" "$@"
}
sources() { # $package's, unpacked in $dir/$package-VERSION; of the directory $given, if that is set
    local release
    if [ -n "${given:-}" ]; then
        rm -rf "$dir/$package"[-_]*
        cp -r "$given" "$dir/$package-given"
        return
    fi
    # shellcheck source=/dev/null
    release=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
    rm -rf "$dir/apt" "$dir/$package"[-_]*
    mkdir -p "$dir/apt/lists/partial" "$dir/apt/cache"
    echo "deb-src [signed-by=$keys] $mirror $release main" >"$dir/apt/sources.list"
    apt update --error-on=any && cd "$dir" && apt source --only-source "$package" &&
        ls -d "$package"-*/configure*
}

build_steps() { # DIR PACKAGE STEP...: functions, the first is `sources`; sets $dir, $log and $package
    dir=$1 log=$1/log package=$2
    shift 2
    mkdir -p "$log" || cannot "$dir cannot be written"
    dir=$(cd "$dir" && pwd) log=$dir/log
    local tool name
    for tool in apt-get dpkg-source; do
        [ -e "$log/sources.done" ] || [ -n "${given:-}" ] || command -v $tool >/dev/null || cannot "no $tool here"
    done
    exec 9>"$dir/lock" && flock 9
    for name; do step "$name" "$name" || failed "$name"; done
}
