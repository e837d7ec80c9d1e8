# Pictures: what --draw writes, and when it does not.
load ../lib/common
setup_file() { build_programs; }
setup() {
    start_test
    unset TPRUN_OPTIONS
}
teardown() { nothing_left; }

FOUR='n[0-3]=package:2 numa:2 core:4 pu:2'
# is_picture FILE: well-formed, and SVG.
is_picture() {
    grep -q '<svg xmlns="http://www.w3.org/2000/svg"' "$1" || return
    ! command -v xmllint >/dev/null || xmllint --noout "$1"
}

@test "--draw writes a picture beside the text" {
    mkdir new
    run -0 --separate-stderr tprun --dry-run -n 16 --map-by core --topology "$FOUR" --draw new/map.svg ./app
    has_line "$output" "Map: 16 tasks on 1 of 4 nodes, by core, each bound to a core"
    is_picture new/map.svg
    grep -q '>16 tasks on 1 of 4 nodes<' new/map.svg
    grep -q '>n0</text>' new/map.svg
    equal "$(ls -A new)" map.svg
}

@test "--draw - is the standard output of a dry run, alone" {
    tprun --dry-run -n 4 --map-by core --topology "$FOUR" --draw - >map.svg 2>err
    is_picture map.svg
    equal "$(head -c 5 map.svg)" '<?xml'
    equal "$(tail -n 1 map.svg)" '</svg>'
    equal "$(cat err)" ""
    tprun --dry-run -n 4 --map-by core --display map --topology "$FOUR" --draw - >map.svg 2>err
    is_picture map.svg
    has_line "$(cat err)" "Map: 4 tasks on 1 of 4 nodes*"
}

# says HOW...: what stands below the title of the picture, and in the head of the text.
says() {
    tprun --dry-run --topology "$FOUR" --display map --draw map.svg "${@:2}" ./app >map.txt
    grep -o '>\./app: [^<]*<' map.svg >head
    equal "$(cat head)" ">./app: $1<"
}

@test "the picture says what decided where ranks are" {
    printf '0 n1 0\n1 n0 4\n' >ranks
    says 'mapped by core, each bound to a core, in natural order' -n 2 --map-by core
    says 'mapped by core, each bound to a core, in sequential order' -n 2 --map-by core --order s
    says 'mapped as rank file ranks says' --rankfile ranks
    says 'mapped by core, each bound to a core, nodes by task map 0;1' --map-by core --taskmap "0;1"
    says 'each bound to its slot of slot=2/core=2' --shape slot=2/core=2
    grep -q '^Map: 2 tasks on 1 node, each bound to its slot of slot=2/core=2$' map.txt
    says 'mapped by core, each bound to a core, over what slot=2/core=2 gives' -n 2 --map-by core \
        --shape slot=2/core=2
}

@test "--draw - without --dry-run is refused" {
    run -2 --separate-stderr tprun --draw - touch started
    [[ "$stderr" == *--draw*--dry-run* ]]
    [ ! -e started ]
}

@test "the picture is there when the program starts" {
    run -0 --separate-stderr tprun --draw map.svg sh -c 'test -s map.svg && echo drawn'
    equal "$output" drawn
    is_picture map.svg
}

@test "what cannot be written is said before anything starts" {
    local where why
    mkdir directory
    : >file
    ln -s nowhere link
    while read -r where why; do
        run -1 --separate-stderr tprun --draw "$where" touch started
        [[ "$stderr" == "tprun: --draw: cannot write $where: "*"$why"* ]] || { echo "$stderr"; false; }
        [ ! -e started ]
    done <<-END
	nowhere/map.svg nowhere: No such file
	file/map.svg Not a directory
	directory it is a directory
	directory/ it is a directory
	/dev/null not a regular file
	link link to nothing
	/proc/map.svg
	END
    [ -c /dev/null ]
}

@test "a directory that may not be written is named" {
    local open as=()
    open=$(mktemp -d)
    chmod 755 "$open"
    cp "$TPRUN" "$open/tprun"
    mkdir -m 555 "$open/closed"
    [ "$(id -u)" != 0 ] || as=(setpriv --reuid=65534 --clear-groups)
    cd "$open"
    run -1 --separate-stderr "${as[@]}" ./tprun --dry-run --topology "$FOUR" --draw closed/map.svg
    cd "$BATS_TEST_TMPDIR"
    rm -r "$open"
    [[ "$stderr" == *"cannot write closed/map.svg: directory "*"closed: Permission denied" ]]
}

@test "a picture that was there is replaced as a whole, through links and with its mode" {
    echo old >real.svg
    chmod 640 real.svg
    ln -s real.svg link.svg
    tprun --dry-run --topology "$FOUR" --draw link.svg >/dev/null
    [ -L link.svg ]
    is_picture real.svg
    equal "$(stat -c %a real.svg)" 640
    umask 027
    tprun --dry-run --topology "$FOUR" --draw new.svg >/dev/null
    equal "$(stat -c %a new.svg)" 640
}

@test "a run that is refused leaves the old picture as it was" {
    echo old >map.svg
    run -1 tprun --dry-run -n 1000 --map-by core --topology "$FOUR" --draw map.svg
    equal "$(cat map.svg)" old
}

@test "a spec says what is drawn" {
    tprun --print-spec --draw map.svg true >spec.json
    jq -e '.draw == "map.svg"' spec.json
    tprun --spec spec.json
    is_picture map.svg
}

@test "names of any characters are drawn as text" {
    tprun --dry-run --topology "n0=core:2 pu:1" --draw map.svg './a<&"b">'$'\xff\e' >/dev/null
    is_picture map.svg
    grep -q '>./a&lt;&amp;&quot;b&quot;&gt;.*: mapped by slot' map.svg
}

@test "a million tasks are drawn in a small file" {
    tprun --dry-run -n 1048576 --map-by core --topology 'n[0-16383]=package:2 numa:8 core:4 pu:1' --draw map.svg >map.txt
    is_picture map.svg
    grep -q 'ranks 0-1048575' map.svg
    has_line "$(cat map.txt)" "  n[[]1-16383]: as n0, ranks 64 higher from node to node"
    [ "$(stat -c %s map.svg)" -lt 50000 ]
    [ "$(stat -c %s map.txt)" -lt 5000 ]
}
