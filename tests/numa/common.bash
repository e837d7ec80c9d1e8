# shellcheck shell=bash
# What the bats files of emulated machines load.
load ../lib/common

NUMA=$ROOT/tests/numa

# For the tests of a file: where there can be no machine they are skipped.
find_machine() {
    local reason
    build_programs
    reason=$("$NUMA/machine" check 2>&1) || export NO_MACHINE=${reason#machine: }
}
need_machine() { [ -z "${NO_MACHINE:-}" ] || skip "$NO_MACHINE"; }

# boot DIRECTORY SHAPE [TABLE...]: the machine runs the script at stdin, which begins with the functions
# of guest.sh; what it leaves is then in DIRECTORY, which is $left to the functions below.
boot() {
    [ -z "${NO_MACHINE:-}" ] || return 0
    export left=$1
    mkdir -p "$left"
    cat "$NUMA/guest.sh" - >"$left/script"
    "$NUMA/machine" run "$2" "$left" "$left/script" "$TPRUN" "$(dirname "$TPRUN")/tpagent" \
        "$PROGRAMS"/{where,memory,touched,export-topology} "${@:3}" 3>&- || { cat "$left/screen"; return 1; }
}

# "RANK CPUS" of each task: as a plan (or what is said of a run) has it; as the tasks said.
of_plan() { jq -r '.tasks[] | "\(.rank) \(.cpus)"' "$1"; }
of_tasks() { sort -n "$1" | cut -d' ' -f1,3; }

# The policy in this directory: all views of it agree, with each other and with what is expected.
views_agree() {
    local mask policy expected plan
    IFS='|' read -r mask policy expected <line
    if [[ $expected == *refused* ]]; then
        equal "$(cat plan.status tasks.status)" "$(printf '1\n1')" && [ ! -s tasks ]
        return
    fi
    equal "$(cat plan.status tasks.status)" "$(printf '0\n0')" || { cat plan.said tasks.said; return 1; }
    plan=$(of_plan plan)
    if [ -n "$expected" ]; then
        equal "$(cut -d' ' -f2 <<<"$plan")" "$(xargs -n 1 <<<"$expected")" || return
    fi
    equal "$(of_tasks tasks)" "$plan" || return
    equal "$(jq .tasks tasks.said)" "$(jq .tasks plan)" || return
    [[ $mask == *[0-9]* ]] || equal "$(of_plan export)" "$plan"
}
# Every policy of the table does so.
state_agrees() { # STATE
    local good=0 bad=0 case
    for case in "$left/$1.d"/*; do
        cd "$case" || return
        if views_agree; then
            good=$((good + 1))
        else
            echo "^ not so: $(cat line)"
            bad=$((bad + 1))
        fi
    done
    echo "# $1: $good policies agree, $bad do not"
    [ "$bad" = 0 ] && [ "$good" = "$(grep -vc '^#' "$left/$1")" ]
}
# A task on each object of each level is where the kernel has that object.
levels_agree() { # STATE LEVEL...
    local level
    for level in "${@:2}"; do
        equal "$(jq -r '.tasks[].cpus' "$left/$1.levels/$level.plan" | sort)" \
            "$(cat "$left/$1.levels/$level")" || { echo "^ level $level"; return 1; }
    done
}
