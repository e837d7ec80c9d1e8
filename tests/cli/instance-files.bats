# shellcheck disable=SC2154 # common.bash sets job
# The files of tprun are those that tprun-instance(5) names, and no others; what it says of removing them holds.
load ../lib/common
load ../lib/tpctl
setup_file() { build_programs; }
setup() { start_test; }
teardown() { nothing_left 5; }

PAGE=$ROOT/man/tprun-instance.5
STATE() { echo "$XDG_STATE_HOME"/tprun/this-machine-*; }

# The paths of one section of the page, as patterns of grep -E: a line each.
paths_of() { # TITLE
    awk -v title=".Ss $1" '
        /^\.S[hs] / { on = $0 == title }
        on && /^\.It / {
            out = ""
            for (i = 2; i <= NF; i++) {
                if ($i == "Pa" || $i == "Ar") { kind = $i; continue }
                if ($i == "Ns") continue
                word = $i
                gsub(/\\&/, "", word)
                gsub(/\./, "\\.", word)
                if (kind == "Ar") word = value[$i]
                out = out word
            }
            print out
        }
        BEGIN {
            value["id"] = "[0-9]+(\\.[0-9]+)?"; value["n"] = "[0-9]+"; value["pid"] = "[0-9]+"; value["random"] = "[0-9a-f]+"
            value["name"] = "[A-Za-z]+(\\.json)?"; value["instance"] = "[A-Za-z0-9-]+"; value["host"] = "[^/@]+"
        }' "$PAGE"
}
# What there is below a directory, by relative names.
files_of() { find "$1" -mindepth 1 -printf '%P\n' 2>/dev/null | sort; }

# look: everything that is there now is named by the page; adds it to the files seen.
look() {
    local instance program name
    paths_of 'Files of an instance' >instance.paths
    paths_of 'Files of a program' >program.paths
    paths_of 'Files of the state directory' >state.paths
    for instance in "$TPRUN_RUNTIME_DIR"/*; do
        files_of "$instance" | grep -v '^programs/[^/]*/' >names || true
        { cat names; cat names.instance 2>/dev/null; } | sort -u >all && mv all names.instance
        for program in "$instance"/programs/{,.}[0-9s]*; do
            files_of "$program"
        done >names
        { cat names; cat names.program 2>/dev/null; } | sort -u >all && mv all names.program
    done
    { files_of "$XDG_STATE_HOME/tprun"; cat names.state 2>/dev/null; } | sort -u >all && mv all names.state
    for name in instance program state; do
        ! grep -vxE -f "$name.paths" "names.$name" >unknown || { echo "not in the page:"; cat unknown; return 1; }
    done
    find "$TPRUN_RUNTIME_DIR" "$XDG_STATE_HOME" -mindepth 1 \( -type d ! -perm 700 -o ! -type d ! -perm 600 \) >open || true
    [ ! -s open ] || { echo "open to others:"; cat open; return 1; }
}
# Every path of the page was seen, but for those that are there for moments: these are names in the sources.
all_seen() {
    local name pattern source
    while read -r name pattern source; do
        grep -qF -e "$source" -r "$ROOT/launcher" || { echo "not in the sources any more: $source"; return 1; }
        grep -qxF -e "$pattern" "$name.paths" || { echo "not in the page: $pattern"; return 1; }
        grep -vxF -e "$pattern" "$name.paths" >rest
        mv rest "$name.paths"
    done <<'END'
instance turn ledger_open_lock(instance, "turn")
instance saved/[0-9]+(\.[0-9]+)?/moved #define OUTPUT_MOVED "moved"
instance programs/\.end-[0-9]+(\.[0-9]+)? #define CONTEXT_ENDING ".end-"
state [A-Za-z0-9-]+@[^/@]+/empty/\.new-[0-9]+(\.[0-9]+)?-[0-9a-f]+ #define STATE_DRAFT ".new-"
state [A-Za-z0-9-]+@[^/@]+/\.new-[0-9]+(\.[0-9]+)?-[0-9a-f]+ #define STATE_DRAFT ".new-"
state [A-Za-z0-9-]+@[^/@]+/\.new-index-[0-9]+ #define INDEX_DRAFT ".new-index-%ld"
END
    for name in instance program state; do
        while read -r pattern; do
            grep -qxE -e "$pattern" "names.$name" || { echo "$name: no file is $pattern"; return 1; }
        done <"$name.paths"
    done
}

@test "every file of programs that run and that are complete is in tprun-instance(5), and every path of the page is there" {
    [ -x "$PROGRAMS/pmix-names" ] || skip "no libpmix-dev here"
    # one that saves its output, has a shape, has published names, and has run before
    tprun true
    tprun --overlap --hosts elsewhere --bootstrap 'env HOST={host} {agent}' -n 1 true
    look
    tprun --detach --shape slot/core sh -c 'seq 20000; exec "$0" "$@"' \
        "$PROGRAMS/pmix-names" publish a b once c d until enough # so much output is moved at once
    wait_for 10 eval 'tpctl logs 3 | grep -q "once c: ok"'
    wait_for 10 test -S "$(instance)/programs/3/control"
    look
    touch enough
    tpctl wait 3
    look
    wait_for 10 test -e "$(STATE)/3/output.0"
    look
    tprun -n 1 sh -c "exit 3" || true
    tpctl new >/dev/null
    tpctl list -a >/dev/null
    look
    # saved output that cannot be moved yet
    mv "$XDG_STATE_HOME" kept-state
    : >"$XDG_STATE_HOME"
    tprun --detach true
    wait_for 10 eval 'ls "$(instance)"/saved/6/output.0'
    rm "$XDG_STATE_HOME"
    mv kept-state "$XDG_STATE_HOME"
    look
    # one that waits
    tprun --detach -n "$(nproc)" --bind-to core sh -c 'until [ -e free ]; do sleep 0.05; done'
    start "$TPRUN" true
    wait_for 10 test -p "$(instance)/programs/8/bell"
    look
    : >free
    finish
    tpctl wait 7
    look
    all_seen
}

@test "the register of the host has the files that tprun-instance(5) names" {
    tprun -n 1 sh -c 'until cd "$TPRUN_RUNTIME_DIR"/register-*/programs/1 && [ -e R.json ]; do sleep 0.05; done 2>/dev/null
        cd ../.. && find . -type f -printf "%P\n" | sort' >got
    equal "$(grep -v '^\.' got | paste -sd' ')" "alive claims id identity lock programs/1/R.json"
    grep -qx 'register of this host' "$TPRUN_RUNTIME_DIR"/register-*/identity
}

@test "what tprun-instance(5) says may be removed at any time is missed by nobody" {
    tprun --overlap --hosts elsewhere --bootstrap 'env HOST={host} {agent}' -n 1 true
    tprun --detach sh -c 'echo saved'
    tpctl wait 2
    tprun true
    wait_for 10 test -e "$(STATE)/2/output.0"
    tpctl list -a >/dev/null
    start "$TPRUN" sleep 60
    wait_for 10 test -S "$(instance)/programs/4/control"
    rm -rf "$(instance)"/completed "$(instance)"/saved/* "$(instance)"/topologies.json
    rm -rf "$(STATE)"/index-2 "$(STATE)"/2/output.* "$(STATE)"/3 "$XDG_STATE_HOME"/tprun/.limited
    run -0 --separate-stderr tpctl list -a --format=json
    equal "$stderr" ''
    equal "$(jq -r '.programs[] | "\(.id) \(.state)"' <<<"$output")" $'1 complete\n2 complete\n4 running'
    run -1 --separate-stderr tpctl logs 2
    tprun --overlap --hosts elsewhere --bootstrap 'env HOST={host} {agent}' -n 1 true
    equal "$(tprun printenv TPRUN_PROGRAM)" 6
    rm -rf "$(STATE)"
    kill "$job"
    finish
    [ "$status" = 143 ]
    equal "$(tpctl list -a --format=json | jq -r '.programs[].id' | paste -sd' ')" "4 5 6"
    rm -rf "$TPRUN_RUNTIME_DIR"
    equal "$(tprun printenv TPRUN_PROGRAM)" 7
}
