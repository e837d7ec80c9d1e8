# shellcheck shell=bash
# Systems of Debian in a directory, made by debootstrap: roots for tests/apps and tests/debian.

# Lines for sources.list, from the mirrors that apt on this machine has: all of them for the release
# of this machine, for another one the main archive.
root_sources() { # SUITE
    local release
    # shellcheck source=/dev/null
    release=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
    # Like "bookworm-updates deb http://deb.debian.org/debian bookworm-updates main".
    apt-get indextargets 'Created-By: Packages' --format '$(CODENAME) deb $(REPO_URI) $(RELEASE) $(COMPONENT)' |
        awk -v suite="$1" -v own="$release" '
            suite == own && index($1, own) == 1 { print $2, $3, $4, $5 }
            suite != own && $1 == own && !found++ { print $2, $3, suite, "main" }'
}
# A root that holds what each Debian has, and where packages start no daemon. DIR is made only when
# all of that is there. What goes wrong is said in the last line.
root_make() { # SUITE DIR
    local sources suite=$1 new=$2.new script=()
    rm -rf "$new"
    sources=$(root_sources "$suite")
    if [ -z "$sources" ]; then # apt has no lists yet
        apt-get -q update
        sources=$(root_sources "$suite")
    fi
    [ -n "$sources" ] || { echo "apt-get on this machine has no mirror of Debian"; return 1; }
    [ -e "/usr/share/debootstrap/scripts/$suite" ] || script=(sid) # a suite newer than debootstrap
    # What debootstrap mounts goes with the namespace.
    unshare -mpf --mount-proc --kill-child debootstrap --variant=minbase "$suite" "$new" \
        "$(awk '{ print $2; exit }' <<<"$sources")" "${script[@]}" || return
    echo "$sources" >"$new/etc/apt/sources.list"
    # The Release file of testing is valid for a week, which a mirror or a clock may miss.
    echo 'Acquire::Check-Valid-Until "false";' >"$new/etc/apt/apt.conf.d/tests"
    echo force-unsafe-io >"$new/etc/dpkg/dpkg.cfg.d/tests"
    printf '#!/bin/sh\nexit 101\n' >"$new/usr/sbin/policy-rc.d"
    chmod 755 "$new/usr/sbin/policy-rc.d"
    mv "$new" "$2"
}
# Run a command in a root, as its packages' scripts and apt-get want to be run.
root_run() { # DIR COMMAND...
    # shellcheck disable=SC2016 # for the inner shell
    unshare -mpf --kill-child sh -c 'mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" &&
        : >>"$0/etc/resolv.conf" && mount --bind /etc/resolv.conf "$0/etc/resolv.conf" &&
        exec chroot "$0" env DEBIAN_FRONTEND=noninteractive PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"' "$@"
}
root_room() { # DIR GB: is so much free there?
    [ "$(df --output=avail -BG "$1" | tail -n 1 | tr -dc 0-9)" -ge "$2" ]
}
