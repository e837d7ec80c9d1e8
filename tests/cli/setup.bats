# tests/setup on a machine that is made up: all that it can call is in bin/.
load ../lib/common
setup() {
    cd "$BATS_TEST_TMPDIR"
    export TMPDIR=$PWD
    mkdir bin
    local tool
    for tool in env grep ls mktemp rm sh tail touch true; do
        ln -s "$(type -P $tool)" bin/
    done
    fake dpkg-query '[ -e installed ] && echo installed'
    fake id 'case $1 in -u) [ -e root ] && echo 0 || echo 1000 ;; -un) echo ann ;; esac'
    fake apt-get 'echo "$*" >>calls
        case " $* " in
        *" update "*) [ -e network ] && touch lists || echo "W: Failed to fetch http://mirror/x  No route" ;;
        *" install "*) [ -e lists ] && touch installed || { echo "E: Unable to locate package gcc"; exit 1; } ;;
        esac'
}
fake() { # NAME TEXT
    printf '#!/bin/sh\n%s\n' "$2" >"bin/$1"
    chmod +x "bin/$1"
}
setup_here() { PATH=$PWD/bin "$ROOT/tests/setup" "$@"; }

@test "where nothing is missing setup says nothing and calls nobody" {
    touch installed
    run -0 setup_here test
    equal "$output" ""
    [ ! -e calls ]
}

@test "root installs without fetching lists where they are there, and says one line" {
    touch root lists
    run -0 setup_here run
    equal "${#lines[@]}" 1
    [[ "$output" == "setup: installing "*" gcc "*" mpich "* ]]
    equal "$(wc -l <calls)" 1
}

@test "where lists are absent they are fetched, and that is no failure" {
    touch root network
    run -0 setup_here run
    equal "${#lines[@]}" 1
    equal "$(wc -l <calls)" 3
    run -0 setup_here run
    equal "$output" ""
}

# clang depends on clang-N, and libFuzzer and the sanitizers are in libclang-rt-N-dev.
clang_installed() { # N
    fake dpkg-query "case \"\$*\" in
        *Depends*' clang') echo 'clang-$1 (>= $1~)' ;;
        *) [ -e installed ] && echo installed ;;
        esac"
}
clang_available() { # N
    fake apt-cache "printf 'clang\n  Depends: clang-$1\n  Breaks: <clang-3.2>\n'"
}

@test "clang's run-time library is installed in the version of the clang that is here" {
    touch root lists
    clang_installed 19
    clang_available 21
    run -0 setup_here test
    [[ "$output " == *" libclang-rt-19-dev "* ]]
    run -0 setup_here test
    equal "$output" ""
}

@test "clang's run-time library is installed in the version of the clang that would be installed" {
    touch root lists
    clang_available 21
    run -0 setup_here test
    [[ "$output " == *" libclang-rt-21-dev "* ]]
    grep -q 'install .* clang .* libclang-rt-21-dev ' calls
}

@test "where lists are absent clang's version is looked up after they are fetched" {
    touch root network
    fake apt-cache '[ -e lists ] && echo "  Depends: clang-21"'
    run -0 setup_here test
    [[ "$output " == *" libclang-rt-dev "* ]]
    tail -n 1 calls | grep -q ' libclang-rt-21-dev '
}

@test "a user installs through sudo" {
    touch lists
    fake sudo 'echo sudo >>calls; exec "$@"'
    run -0 setup_here run
    [ -e installed ]
    grep -q sudo calls
}

@test "without root and sudo setup ends in one sentence with the packages to ask for" {
    run -1 setup_here run
    equal "${#lines[@]}" 1
    [[ "$output" == "setup: neither root nor sudo here; ask for: apt-get install gcc "* ]]
}

@test "a sudo that refuses ends in one sentence, after its own" {
    fake sudo 'echo "sudo: a password is required" >&2; exit 1'
    run -1 setup_here run
    equal "${lines[1]}" "sudo: a password is required"
    equal "${lines[2]}" "setup: sudo does not let ann do that; ask somebody whom it lets"
    equal "${#lines[@]}" 3
    [ ! -e calls ]
}

@test "without a network setup ends in one sentence with the first cause, and keeps what was said" {
    touch root
    run -1 setup_here run
    equal "${#lines[@]}" 2
    [[ "${lines[1]}" == "setup: apt-get failed: Failed to fetch http://mirror/x  No route; is the network up? "* ]]
    local log=${lines[1]##* }
    grep -q "^E: Unable" "${log%)}"
}

@test "--dry-run installs nothing, and needs neither root nor sudo" {
    touch lists
    fake apt-get 'echo "$*" >>calls'
    run -0 setup_here --dry-run run
    has_line "$output" "setup: missing: gcc *"
    grep -q -- "-s install" calls
    equal "$(wc -l <calls)" 1
}

@test "setup without run or test shows its usage" {
    ln -s "$(type -P sed)" bin/
    run -2 setup_here
    has_line "$output" "tests/setup *run|test*"
    run -2 setup_here nonsense
}

@test "tests/check refuses a stage that it does not have, before it runs any" {
    run -2 --separate-stderr "$ROOT/tests/check" gcc nosuch
    has_line "$stderr" 'check: there is no stage "nosuch"'
    [ -z "$output" ]
}
