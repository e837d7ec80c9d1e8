# tests/debian, in a source tree that is made up, with a root of a few programs of this machine.
load ../lib/common
setup() {
    cd "$BATS_TEST_TMPDIR"
    [ "$(id -u)" = 0 ] && unshare -mpif --propagation private true 2>/dev/null || skip "roots need root, and namespaces"
    mkdir -p bin tree/tests/lib tree/base
    echo source >tree/base/file
    cp "$ROOT/tests/debian" tree/tests/
    cp "$ROOT/tests/lib/root.bash" tree/tests/lib/
    program tree/tests/setup 'echo "$1" >>/setups'
    program tree/tests/check "$(cat <<'END'
        echo "check: $*"
        echo "the end of ${0%/tests/check}/build/logs/x.log"
        . "${0%/check}/part"
        echo "3 passed, 0 failed, 0 skipped"
END
    )"
    : >tree/tests/part
    program bin/apt-get '. /etc/os-release; echo "$VERSION_CODENAME deb http://mirror/debian $VERSION_CODENAME main"'
    program bin/debootstrap 'echo "$*" >>'"$PWD/made; . $PWD/making; cp -a $PWD/mini \"\$3\""
    : >making
    make_mini
    export PATH=$PWD/bin:$PATH XDG_CACHE_HOME=$PWD/cache
    root=$PWD/cache/tprun-tests/debian/trixie
}
program() { # FILE TEXT
    printf '#!/bin/bash\n%s\n' "$2" >"$1"
    chmod +x "$1"
}
make_mini() {
    local tool file
    mkdir -p mini/{bin,usr/sbin,etc/apt/apt.conf.d,etc/dpkg/dpkg.cfg.d,proc,sys,dev,run,tmp,mnt,root}
    for tool in bash sh env sleep touch true; do
        cp "$(type -P $tool)" mini/bin/
        for file in $(ldd "mini/bin/$tool" | grep -o '/[^ ]*'); do cp -L --parents "$file" mini/; done
    done
    [ ! -d /usr/lib/locale/C.utf8 ] || cp -r --parents /usr/lib/locale/C.utf8 mini/
    program mini/bin/apt-get 'echo "$*" >>/apt-calls'
    program mini/bin/dpkg :
}
debian() { timeout --foreground -k 5 60 tree/tests/debian "$@"; }
made() { wc -l <made; }
nothing_stays() {
    local file
    ! grep "$PWD/" /proc/self/mountinfo
    for file in /proc/[0-9]*/root; do [[ "$(readlink "$file")" != "$PWD/"* ]] || { echo "$file"; return 1; }; done
}

@test "a root is made and set up once, and the stages run in it" {
    run -0 debian trixie gcc "cli part"
    equal "${lines[1]}" "check: gcc cli part"
    equal "${lines[2]}" "the end of $PWD/tree/build/debian/trixie/build/logs/x.log"
    equal "${lines[3]}" "trixie: 3 passed, 0 failed, 0 skipped"
    equal "$(cat made)" "--variant=minbase trixie $root.new http://mirror/debian"
    equal "$(cat "$root/setups")" test
    equal "$(cat "$root/etc/apt/sources.list")" "deb http://mirror/debian trixie main"
    run -0 debian trixie
    equal "${lines[0]}" "check: "
    equal "$(made)" 1
    equal "$(cat "$root/setups")" test
    nothing_stays
}

@test "another command can be run in a root, in the folder of the source tree" {
    echo 'echo "out of $PWD"; exit 7' >tree/base/script
    run -7 debian trixie -- bash base/script
    equal "${lines[-1]}" "out of $PWD/tree"
    [ "${#lines[@]}" = 2 ]
}

@test "a suite that debootstrap has no script for is made as sid is" {
    run -0 debian nosuchsuite
    equal "$(cat made)" "--variant=minbase nosuchsuite $PWD/cache/tprun-tests/debian/nosuchsuite.new http://mirror/debian sid"
}

@test "a root is set up again when what is needed has changed, and brought up to date after a week" {
    debian trixie
    echo "# more" >>tree/tests/setup
    debian trixie
    equal "$(wc -l <"$root/setups")" 2
    ! grep upgrade "$root/apt-calls"
    touch -d "8 days ago" "$root.ready"
    debian trixie
    equal "$(made)" 1
    grep upgrade "$root/apt-calls"
}

@test "two at once make a root once" {
    echo 'sleep 0.5' >making
    cp -r tree another
    debian trixie >one &
    timeout --foreground -k 5 60 another/tests/debian trixie >two
    wait $!
    equal "$(made)" 1
    equal "$(tail -qn 1 one two)" "$(printf 'trixie: 3 passed, 0 failed, 0 skipped\n%.0s' 1 2)"
}

@test "a root that is broken is made anew" {
    debian trixie
    rm "$root/bin/true"
    program "$root/bin/apt-get" 'exit 100'
    run -0 debian trixie
    equal "$(made)" 2
    nothing_stays
}

# Ends what has made the file once it is there.
end_when() { # FILE SIGNAL PID
    until [ -e "$1" ]; do sleep 0.05; done
    kill "-$2" "$3"
    ! wait "$3"
}

@test "who is ended while a root is made leaves nothing, and the next one makes it" {
    echo 'mkdir -p "$3"; mount -t tmpfs none "$3"; touch '"$PWD/begun; sleep 60" >making
    tree/tests/debian trixie >out 2>&1 &
    end_when begun TERM $!
    [ ! -e "$root" ]
    nothing_stays
    : >making
    run -0 debian trixie
    equal "$(made)" 2
}

@test "Ctrl-C ends what runs in the root, which says its sum, and nothing stays" {
    cat >tree/tests/part <<'END'
        trap 'echo "2 passed, 1 failed, 0 skipped"; exit 1' TERM
        touch /begun
        sleep 60 & # it does not end by itself
        bash -c 'trap "" TERM INT; sleep 60' & # nor when it is told to
        wait
END
    # As from a terminal, or it would ignore SIGINT.
    env --default-signal tree/tests/debian trixie >out 2>&1 &
    end_when "$root/begun" INT $!
    has_line "$(cat out)" "trixie: 2 passed, 1 failed, 0 skipped"
    nothing_stays
}

@test "in the root sources cannot be written, and its builds are apart from this machine's" {
    mkdir tree/build
    echo here >tree/build/file
    echo here >tree/configure
    cat >tree/tests/part <<'END'
        cd "${0%/tests/check}"
        [ "$(<base/file)" = source ] && [ ! -e build/file ] && [ ! -e configure ] || exit 1
        touch base/more 2>/dev/null && exit 2
        echo there >build/file
        echo there >configure
        echo there >/tmp/file
END
    debian trixie
    equal "$(cat tree/build/file tree/configure)" "$(printf 'here\nhere')"
    equal "$(cat tree/build/debian/trixie/build/file tree/build/debian/trixie/configure)" "$(printf 'there\nthere')"
    [ ! -e "$root/tmp/file" ]
    rm -r tree/base
    echo '[ ! -e "${0%/tests/check}/base" ]  || exit 1; [ ! -e /tmp/file ] || exit 1' >tree/tests/part
    debian trixie
}

@test "what fails in the root fails here" {
    echo 'echo "0 passed, 1 failed, 0 skipped"; exit 1' >tree/tests/part
    run -1 debian trixie
    equal "${lines[-1]}" "trixie: 0 passed, 1 failed, 0 skipped"
}

skipped() { # REASON
    run -0 debian trixie
    has_line "$output" "debian: trixie is skipped: $1"
    equal "${lines[-1]}" "trixie: 0 passed, 0 failed, 1 skipped"
    [ ! -e "$root" ]
}
@test "where no root can be made one is skipped, with the reason" {
    echo 'echo "E: no such release"; exit 1' >making
    skipped "E: no such release ($root.log)"
    : >making
    program bin/apt-get :
    skipped "apt-get on this machine has no mirror of Debian ($root.log)"
    program bin/df 'echo 3G'
    skipped "fewer than 4 GB are free in $PWD/cache/tprun-tests/debian"
    program bin/unshare 'exit 1'
    skipped "namespaces are not permitted here"
    program bin/id 'echo 1000'
    skipped "roots need root"
    [ "$(made)" = 1 ]
}

@test "a suite has to be named" {
    run -2 debian
    has_line "$output" "tests/debian SUITE *"
    run -2 debian ../x
    run -2 debian --long
}
