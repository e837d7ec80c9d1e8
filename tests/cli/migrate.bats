# What tprun-migrate(7) says of tprun is so, and what it says of launchers that are installed, too.
load ../lib/common
load ../lib/migrate
setup() {
    start_test
    unset TPRUN_OPTIONS
}
teardown() { nothing_left; }

# The cores of each rank in the order of the ranks, behind the names of their nodes.
cores_of_plan() {
    jq -r '.nodes as $nodes | reduce .tasks[] as $task ({at: null, out: ""};
        ($nodes[] | select(.id == $task.node).host) as $host
        | .out += (if .at == $host then "" else " \($host):" end) + " \($task.cores)"
            + (if ($task.gpus // "") == "" then "" else "/\($task.gpus)" end)
        | .at = $host) | .out[1:]'
}
@test "the common lines of tprun-migrate(7) place each rank where the page says" {
    local launcher line own cores count=0 shown=0
    echo '0 n0 0' >ranks.txt
    "$(dirname "$TPRUN")/tpres" make --hosts 'n[0-1]' --cores 16 --gpus 4 >two.json
    for launcher in srun mpirun mpiexec 'flux run' aprun jsrun; do
        [ "$(common_lines "$launcher" | wc -l)" -eq 10 ] || { echo "not ten lines of $launcher"; false; }
        while IFS=$'\t' read -r line own cores; do
            count=$((count + 1))
            if [ -z "$cores" ]; then
                eval "tprun --print-spec ${own#tprun}" >/dev/null
                continue
            fi
            shown=$((shown + 1))
            eval "tprun --dry-run --format=json -R two.json --topology 'n[0-1]=$NODE' ${own#tprun}" >plan
            equal "$line: $(cores_of_plan <plan)" "$line: $cores"
        done < <(common_lines "$launcher")
    done
    [ "$count" -eq 60 ]
    [ "$shown" -ge 45 ]
}

# The real launchers are shown the page's node; binding to its cores may fail, what they chose does not.
on_the_node() {
    HWLOC_COMPONENTS=xml HWLOC_XMLFILE=$PWD/node.xml HWLOC_THISSYSTEM=1 timeout -k 5 60 "$@" 2>&1 </dev/null || true
}
real_cores_are() { # LAUNCHER COMMAND...: reads the common lines; the command prints a rank's list a line
    local launcher=$1 line own cores count=0
    shift
    lstopo-no-graphics -i "$NODE" --of xml node.xml
    while IFS=$'\t' read -r line own cores; do
        [ -n "$cores" ] || continue
        count=$((count + 1))
        # shellcheck disable=SC2086 # words
        equal "$line: n0: $("$@" ${line#* } | paste -sd' ')" "$line: $cores"
    done < <(common_lines "$launcher" | sed 's|\./app|true|')
    [ "$count" -ge 7 ]
}

@test "Open MPI's mpirun binds to the cores that tprun-migrate(7) shows for its lines" {
    command -v mpirun.openmpi lstopo-no-graphics >/dev/null || skip "no Open MPI here"
    [[ "$(mpirun.openmpi --version)" == *' 4.'* ]] || skip "another Open MPI than 4"
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    openmpi_cores() {
        on_the_node mpirun.openmpi --host localhost:16 --display-map "$@" |
            sed -n 's/^.*Process rank: \([0-9]*\) Bound: N.A.*/\1 ................/p
                s/^.*Process rank: \([0-9]*\) Bound: .*:\[/\1 /p' | sort -n | cut -d' ' -f2 | tr -d '][/' | lists
    }
    real_cores_are mpirun openmpi_cores
}

@test "MPICH's mpiexec binds to the cores that tprun-migrate(7) shows for its lines" {
    command -v mpiexec.hydra lstopo-no-graphics >/dev/null || skip "no MPICH here"
    # From 5.0 on hydra ends a program whose tasks it cannot bind.
    case $(mpiexec.hydra --version) in
    *'Version: '*' '[1-4].*) ;;
    *) need_cores 16 ;;
    esac
    hydra_cores() {
        local try
        for try in 1 2 3; do # what its proxies say is lost now and then, beside other work
            HYDRA_TOPO_DEBUG=1 on_the_node mpiexec.hydra "$@" >said
            ! grep -q '^process [0-9]* binding:' said || break
        done
        if grep -q '^process [0-9]* binding:' said; then
            sed -n 's/^process \([0-9]*\) binding: /\1 /p' said | sort -n | cut -d' ' -f2 | lists
        else # bound to nothing
            yes ................ | head -n 4 | lists
        fi
    }
    real_cores_are mpiexec hydra_cores
}

# Cells of the tables as words of a command line: macros resolved, names of values filled in.
cells() {
    sed -n '/^\.Sh TABLES/,/^\.Sh WHAT DIFFERS/s/^\.It .* Ta Fl /Fl /p' "$PAGE" | awk '
        BEGIN {
            split("N 2 FILE ./file HOSTLIST n[0-1] LEVEL numa NAME A VALUE b WHAT ssd GLOB A* " \
                "ID 17 DIR /tmp PROGRAM true COMMAND ssh PATH /agent", pairs, " ")
            for (i = 1; i in pairs; i += 2) value[pairs[i]] = pairs[i + 1]
        }
        {
            out = ""; join = 0; kind = ""
            for (i = 1; i <= NF && $i != "No"; i++) {
                if ($i ~ /^(Fl|Ar|Cm)$/) { kind = $i; continue }
                if ($i == "Ns") { join = 1; kind = ""; continue }
                word = $i
                gsub(/\\-/, "-", word)
                if (kind == "Fl") word = "-" word
                if (kind == "Ar" && word !~ /^[0-9]/) word = word in value ? value[word] : "UNKNOWN:" word
                out = out (join || out == "" ? "" : " ") word
                join = 0
            }
            print out
        }'
}

@test "every cell of the tables of tprun-migrate(7) is a command line that tprun takes" {
    local cell count=0 words
    export DISPLAY=:0
    echo '0 n0 0' >file
    while IFS= read -r cell; do
        count=$((count + 1))
        [ "$cell" != '--pmi pmix' ] || serves_pmix || continue
        read -ra words <<<"$cell"
        [[ "$cell" == --check* ]] || words=(--print-spec "${words[@]}" true)
        run tprun "${words[@]}"
        [ "$status" -eq 0 ] || { echo "$cell: $output"; false; }
    done < <(cells | sort -u)
    [ "$count" -gt 45 ]
}

@test "every option of tprun that tprun-migrate(7) names exists" {
    local option count=0
    while IFS= read -r option; do
        count=$((count + 1))
        run tprun "$option" -- 2>&1
        [[ "$output" != *'unknown option'* && "$output" != *'not offered'* ]] ||
            { echo "$option: $output"; false; }
    done < <(grep -v 'Ic tpctl' "$PAGE" | grep -o '\bFl [^ ]*\( , [a-z\\][^ ]*\)*' | sed 's/^Fl //; s/ , /\n/g' |
        sed 's/\\-/-/g; s/^/-/' | sort -u)
    [ "$count" -gt 30 ]
}

@test "every method and option of tpctl that tprun-migrate(7) names exists" {
    local line method option count=0
    while read -r line; do
        method=$(sed -n 's/^\([a-z]*\).*/\1/p' <<<"$line")
        "$(dirname "$TPRUN")/tpctl" "${method:-list}" --help >help
        while read -r option; do
            grep -qE -e "(^|[ ,])$option( |\$)" help || { echo "tpctl $line: no $option"; false; }
        done < <(grep -o 'Fl [^ ]*' <<<"$line" | sed 's/^Fl //; s/\\-/-/g; s/^/-/')
        count=$((count + 1))
    done < <(sed -n 's/^.* Ic tpctl //p' "$PAGE")
    [ "$count" -ge 10 ]
}

@test "every option of another launcher that tprun knows what to say of is on the page of tprun-migrate(7)" {
    sed -n '/^} option_hints/,/^};/p' "$ROOT/launcher/cli/option_hints.c" | tr '\n' ' ' |
        grep -oE '\{"[^"]*"( *"[^"]*")*, *("[A-Z]|NULL)' | sed -E 's/, *(NULL|"[A-Z])$//; s/[{"]//g' |
        tr -s ' ' '\n' | sort -u >names
    [ "$(wc -l <names)" -gt 200 ]
    sed 's/\\-/-/g' "$PAGE" | grep -oE '(^|[^A-Za-z0-9-])--?[A-Za-z][A-Za-z0-9_-]*' |
        sed 's/^[^-]*-*//' | sort -u >page
    equal "$(comm -23 names page)" ""
}

@test "a value that an option has elsewhere is refused, and ./ makes a file's name of it" {
    local words
    for words in '-o cpu-affinity=off' '--output tag' '-e A=1'; do
        # shellcheck disable=SC2086 # two words
        run -2 tprun $words true
        [[ "$output" == *"${words#* }"*': write '* ]]
    done
    [ ! -e tag ]
    tprun -o ./tag -e ./A=1 sh -c 'echo out; echo err >&2'
    equal "$(cat tag A=1)" "$(printf 'out\nerr')"
}

@test "a task has the variables that tprun-migrate(7) says it has, and no others of its table" {
    local name names=()
    mapfile -t names < <(sed -n '/^\.Ss What a task knows/,/^\.Sh/p' "$PAGE" | tr ' ' '\n' |
        grep -xE '(TPRUN|OMPI|MPI|SLURM|FLUX|PMI)_[A-Z_]*' | sort -u)
    [ "${#names[@]}" -eq 23 ]
    # What an outer launcher gave is not handed down.
    env "${names[@]/%/=7}" timeout 60 "$TPRUN" -n 1 env >has
    for name in "${names[@]}"; do
        case $name in
        SLURM_* | FLUX_*) run ! grep "^$name=" has ;;
        *) grep -qE "^$name=[01]$" has ;;
        esac
    done
}
