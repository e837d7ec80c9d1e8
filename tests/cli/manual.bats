# shellcheck disable=SC2030,SC2031 # each test has its own environment
# What the manual pages show, tprun and tpres do.
load ../lib/common
load ../lib/tpctl
setup() { start_test; }
teardown() { nothing_left; }

PAGE=$ROOT/man/tprun-layout.7
tpres() { timeout --foreground -k 5 60 "$(dirname "$TPRUN")/tpres" "$@"; }

# The examples as a reader of the page sees them.
examples() { # PAGE
    awk '/^\.Bd -literal/ { on = 1; next } /^\.Ed/ { on = 0 } on' "$1" |
        sed 's/\\e/\\/g; s/\\&//g; s/\\-/-/g'
}

# check COMMAND EXPECTED: in this shell, for some say how the next are to be run.
check() {
    [ -n "$1" ] || return 0
    eval "$1" >got 2>&1 </dev/null || true # a refusal is an example, too
    printf '%s' "$2" >expected
    diff -u --label "the page, $1" expected --label tprun got || return 1
    count=$((count + 1))
}

# page_holds PAGE LEAST: every example prints what the page shows; there are so many at least.
page_holds() {
    local line command='' expected='' open=no count=0
    while IFS= read -r line; do
        case $open$line in
        yes*)
            command+=$'\n'$line
            ;;
        "no$ "*)
            check "$command" "$expected"
            command=${line#'$ '} expected=
            ;;
        *)
            expected+=$line$'\n'
            ;;
        esac
        if [ -z "$expected" ] && [[ $line == *\\ ]]; then open=yes; else open=no; fi
    done < <(examples "$1")
    check "$command" "$expected"
    echo "$count examples"
    [ "$count" -ge "$2" ]
}

@test "every example of tprun-layout(7) prints what the page shows" { page_holds "$PAGE" 20; }
@test "every example of tpres(1) prints what the page shows" { page_holds "$ROOT/man/tpres.1" 14; }
@test "every example of tprun-spec(5) prints what the page shows" {
    unset TPRUN_OPTIONS
    PATH=${TPRUN%/*}:$PATH
    page_holds "$ROOT/man/tprun-spec.5" 6
}

# The text as a pattern: numbers, the host and sets of processors are others each time.
pattern_of() {
    sed 's/[][\.*^$()+?{}|]/\\&/g; s/[0-9][0-9]*/[0-9]+/g; s/\bvm\b/[^ ]+/g; s/\bsleeping\b/[a-z]+/g; s/  *[[]0-9[]]+-[[]0-9[]]+  */ [0-9,-]+ /g; s/  */ +/g'
}
# answer COMMAND: what it says, of tpctl attach with the keys that the page shows.
answer() {
    case $1 in
    "tpctl attach"*)
        rm -f keys typescript
        mkfifo keys
        timeout 60 script -qefc "$1" typescript <keys >/dev/null 3>&- &
        exec 8>keys
        wait_for 20 in_typescript 'rank [01]: step' 4
        printf '\003' >&8
        wait_for 5 in_typescript 'again within' 1
        sleep 0.1 # keys that come at once share a line
        printf '\032' >&8
        wait "$!" || true
        exec 8>&-
        # the page shows the first four lines
        sed '/^Script /d; s/\r//g' typescript | awk '/^rank [01]: step/ && ++n > 4 { next } /./'
        ;;
    "tpctl logs"*"| tail"*)
        wait_for 20 eval '[ "$(tpctl logs 1 --ranks 1 | sed -n "/told/,\$p" | wc -l)" = 3 ]'
        eval "$1"
        ;;
    *) eval "$1" 2>&1 </dev/null ;;
    esac
}

@test "the session of tpctl(1), from a start to the last that is known, goes as the page shows" {
    local line said pattern command="" count=0
    command -v script >/dev/null || skip "no script here"
    unset TPRUN_OPTIONS
    need_cores 2
    PATH=${TPRUN%/*}:$PATH
    # shellcheck disable=SC2016 # for the program
    printf '%s\n' '#!/bin/bash' 'trap "echo rank \$TPRUN_RANK: told; left=3" USR1' \
        'for ((i = 0; ${left:-1}; i++)); do echo "rank $TPRUN_RANK: step $i"; sleep 0.3; ((!left)) || ((left--)); done' \
        'sleep 1000' >app
    chmod +x app
    compare() {
        [ -n "$command" ] || return 0
        answer "$command" >got
        pattern_of <expected >patterns
        equal "$(wc -l <got)" "$(wc -l <expected)" || { echo "$command:"; cat got; return 1; }
        while IFS= read -r said <&5 && IFS= read -r pattern <&6; do
            grep -qxE -e "$pattern" <<<"$said" || { echo "$command: \"$said\" is not as the page shows: $pattern"; return 1; }
        done 5<got 6<patterns
        count=$((count + 1))
    }
    while IFS= read -r line <&4; do
        if [[ $line = '$ '* ]]; then
            compare
            command=${line#'$ '}
            : >expected
        else
            printf '%s\n' "$line" >>expected
        fi
    done 4< <(examples "$ROOT/man/tpctl.1" | sed -n '/^\$ tprun --detach/,/^\$ tpctl reap/p')
    compare
    equal "$count" 9
}

@test "tpctl(1) has each key that list, info and ps print as JSON" {
    local id keeper key page count=0
    unset TPRUN_OPTIONS
    page=$(sed -n '/^\.Ss JSON/,/^\.Sh/p' "$ROOT/man/tpctl.1")
    printf '#!/bin/sh\nexec "$@"\n' >host
    printf '#!/bin/sh\necho hook\n' >hook
    chmod +x host hook
    tprun --bootstrap './host {agent}' --keep-agents 60s true
    keeper=$(tpctl list --format=json | jq -r '.programs[0].id')
    id=$(tprun -d --prolog ./hook -n all sleep 1000)
    start "$TPRUN" -n 1 true
    wait_for 10 eval 'tpctl list --format=json | jq -e ".programs[] | select(.waits)"'
    wait_for 10 eval 'tpctl ps --format=json '"$id"' | jq -e ".tasks[0].pid"'
    {
        tpctl list --format=json
        tpctl info --format=json "$id" | jq 'del(.R, .spec, .taskmap, .hooks)'
        tpctl info --format=json "$id" | jq 'with_entries(.value = 0)'
        tpctl ps --format=json "$id"
    } | jq -r '.. | objects | keys[]' | sort -u >keys
    tpctl terminate "$id" "$keeper"
    finish
    while IFS= read -r key; do
        grep -qw -e "$key" <<<"$page" || { echo "not in the page: $key"; false; }
        count=$((count + 1))
    done <keys
    [ "$count" -gt 30 ]
    grep -qx idle_until keys
    grep -qx hooks keys
}

# The command lines of a page that stand by themselves, whole.
commands_of() { # PAGE
    sed -n 's/^\.Dl *//p' "$1" | sed 's/^"\(.*\)"$/\1/; s/\\&//g; s/\\e$/\\/' |
        sed -e ':more' -e '/\\$/{N; s/\\\n */ /; b more' -e '}' | sed 's/^\$ //' | grep '^tprun '
}
@test "tprun takes every command line that tprun(1), tprun-shape(7) and tprun-migrate(7) show" {
    local page line count=0
    unset TPRUN_OPTIONS
    printf '#!/bin/sh\n' >app
    chmod +x app
    cp app master
    cp app worker
    echo '0 n0 0' >ranks.txt
    tpres make --topology 'node[0-7]=package:2 numa:2 core:8 pu:1' --gpus 4 --property ssd:0-7 >cluster.json
    for page in tprun.1 tprun-shape.7 tprun-migrate.7; do
        while IFS= read -r line; do
            case $line in
            *--check* | *--print-spec* | *--dry-run*'--topology'*) ;;
            *) line=${line/tprun/tprun --print-spec} ;;
            esac
            eval "$line" >out 2>err </dev/null || { echo "$page: $line"; cat err; return 1; }
            count=$((count + 1))
        done < <(commands_of "$ROOT/man/$page")
    done
    echo "$count command lines"
    [ "$count" -ge 24 ]
}

@test "every heading of the manual pages is shown as it is written" {
    local page title count=0
    for page in "$ROOT"/man/*.[0-9]; do
        mandoc -T utf8 "$page" | sed 's/.\x08//g; s/^ *//' >shown
        while IFS= read -r title; do
            grep -qxF -e "$title" shown || { echo "$page shows \"$title\" as something else"; return 1; }
            count=$((count + 1))
        done < <(sed -n 's/\\[&]//g; s/^\.S[hs] //p' "$page" | tr -d '"')
    done
    [ "$count" -gt 60 ]
}

@test "tprun(1) lists what a task has beyond what it inherits, and that is there" {
    local name pattern listed found
    listed=$(sed -n '/^\.Sh ENVIRONMENT OF A TASK/,/^\.Sh FILES/s/^\.It Ev //p' "$ROOT/man/tprun.1" | tr -d ',')
    [ "$(wc -w <<<"$listed")" -gt 35 ]
    env -i PATH="$PATH" TPRUN_RUNTIME_DIR="$BATS_TEST_TMPDIR/ledger" "$TPRUN" -c 1 env >added
    has_line "$(cat added)" "TPRUN_DEFAULTS=*OMP_NUM_THREADS=1*"
    while IFS='=' read -r name _; do
        case $name in PATH | TPRUN_RUNTIME_DIR | '{'*) continue ;; esac
        found=
        for pattern in $listed; do
            # shellcheck disable=SC2053 # a pattern
            [[ $name == $pattern ]] && found=yes
        done
        [ -n "$found" ] || { echo "not listed: $name"; false; }
    done <added
    for name in $listed; do
        case $name in
        CUDA_* | ROCR_* | ZE_* | TPRUN_GROUP | TPRUN_STAGE_DIR | TPRUN_BATCH* | PMI_SPAWNED | *_HOSTNAME | *_oversubscribe | *_alloc_kinds) continue ;;
        OMPI_* | PMIX_* | MPIR_*) serves_pmix || continue ;;
        esac
        grep -q "^${name%'*'}[^=]*=" added || { echo "not there: $name"; false; }
    done
}

@test "tprun(1) marks the options that are refused behind a colon, and no others" {
    local spellings option value
    sed -n 's/^\.It \(Fl .*\)/\1 /p' "$ROOT/man/tprun.1" | sed 's/\\-/--/g' >items
    tprun --help options | grep -vE -- '--(help|version|check|spec|print-spec)( |$)' >options
    while read -r spellings; do
        option=$(grep -oE -- '--[a-z-]+' <<<"$spellings" | head -n 1)
        [ -n "$option" ] || continue
        value=$(grep -oE ' [A-Zkt][^ ]*$' <<<"$spellings") || value=
        ! tprun --print-spec true : "$option" ${value:+x} true 2>&1 >/dev/null | grep -q 'is of the whole program' ||
            echo "$option" >>refused
        ! grep -E -- "(^| )$option " items | grep -q ' No \*' || echo "$option" >>marked
    done <options
    [ "$(wc -l <refused)" -gt 30 ]
    diff refused marked
}

@test "each word of --map-by is the string that the page gives for it" {
    local words word string count=0
    local machine='n[0-2]=group:2 package:2 numa:2 l3:2 l2:2 l1:2 core:2 pu:2'
    while IFS=$'\t' read -r words string; do
        for word in ${words//,/}; do
            [ "$word" != board ] || continue # synthetic machines have none
            tprun --dry-run --format=json -n 150 --map-by "$word" --topology "$machine" true >word
            tprun --dry-run --format=json -n 150 --map-by "$string" --topology "$machine" true >string
            cmp word string
            count=$((count + 1))
        done
    done < <(sed -n 's/^\.It \([a-z0-9, ]*\) Ta \([nbNschL123]*\)$/\1\t\2/p' "$PAGE")
    equal "$count" 10
}
