# What tprun, tpres and tpctl say, against what was recorded in data/golden: for changes of structure, which
# change no output. Where a change is meant, data/golden/record writes it anew; the diff is its review.
load ../lib/common
setup() {
    start_test
    unset TPRUN_OPTIONS
    serves_pmix || skip "this tprun has no PMIx, and says so in some of the outputs"
}
teardown() { nothing_left; }

GOLDEN=$ROOT/tests/data/golden

as_recorded() { # FILE
    "$GOLDEN/record" --to new "$1" || return
    diff -u "$GOLDEN/$1" "new/$1"
}
# The command lines that are recorded.
command_lines() {
    sed 's/ -> .*//' "$GOLDEN/refused.txt"
    sed -n 's/^\$ //p' "$GOLDEN"/*.txt
}

@test "help and versions are as recorded" {
    as_recorded help.txt
}

@test "specs of command lines are as recorded" {
    as_recorded specs.txt
}

@test "dry runs are as recorded, as text" {
    as_recorded maps.txt
}

@test "dry runs are as recorded, as JSON" {
    as_recorded maps-json.txt
}

@test "what tpres makes of resource sets is as recorded" {
    as_recorded tpres.txt
}

@test "pictures are as recorded" {
    as_recorded draw.txt
}

@test "refusals are as recorded, and none of them runs" {
    as_recorded refused.txt
    ! grep -n ' -> 0,' "$GOLDEN/refused.txt" || false
}

@test "every option of tprun, topic of help and method of tpres and tpctl is in a recorded command line" {
    local program name missing=0
    command_lines >lines
    for name in $(sed -n 's/^    \(LATER(\|{\)"\([a-z-]*\)".*/\2/p' "$ROOT/launcher/options/option_table.c"); do
        grep -q -e " --\?$name\([ =]\|\$\)" lines || { echo "in no command line: --$name"; missing=1; }
    done
    for name in $("$TPRUN" --help nosuch 2>&1 | sed -n 's/.*unknown topic .*(expected \(.*\))/\1/p' | sed 's/,\| or / /g'); do
        grep -qx "tprun --help $name" lines || { echo "in no command line: --help $name"; missing=1; }
    done
    for program in tpres tpctl; do
        for name in $("$(dirname "$TPRUN")/$program" --help | sed -n 's/^  \([a-z]*\) .*/\1/p'); do
            grep -qx "$program $name --help" lines || { echo "in no command line: $program $name --help"; missing=1; }
        done
    done
    [ "$missing" = 0 ]
}
