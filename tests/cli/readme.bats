# The commands of README.md are what tprun takes, and its picture is what tprun draws.
load ../lib/common
setup_file() { build_programs; }
setup() {
    start_test
    unset TPRUN_OPTIONS
    printf '#!/bin/sh\n' >app
    chmod +x app
    cp app master
    cp app worker
}
teardown() { nothing_left; }

# Each command of tprun and tpres: in a line of its own, in a batch job, or in a table.
commands() {
    sed -n "s/^    \(tp.*\)/\1/p; s/^    sbatch .* --wrap '\(tprun [^']*\)'.*/\1/p" "$ROOT/README.md" | sed 's/  *# .*//'
    sed -n 's/^| .* | `\(tprun [^`]*\)`.* |$/\1/p' "$ROOT/README.md"
}

@test "the README's picture is what its command draws" {
    local line
    line=$(commands | grep -e '--draw layout.svg')
    eval "$line" >text
    diff "$ROOT/examples/layout.svg" layout.svg
    grep -q '](examples/layout.svg)' "$ROOT/README.md"
}

@test "tprun takes every command of the README" {
    local line count=0
    : >hosts
    echo localhost >hosts
    while IFS= read -r line; do
        case $line in
        tpres*) line="$(dirname "$TPRUN")/$line" ;;
        *--mpi*) line=${line/tprun/tprun --print-spec} ;;
        *--dry-run*) ;;
        *) line=${line/tprun/tprun --print-spec} ;;
        esac
        eval "$line" >out 2>err || { echo "refused: $line"; cat err; return 1; }
        count=$((count + 1))
    done < <(commands)
    echo "$count commands"
    [ "$count" -ge 20 ]
}

@test "the README's commands for this machine run an MPI program" {
    local line
    need_mpich
    need_cores 2
    cp "$PROGRAMS/mpi-ring" app
    for line in "$(commands | grep -x 'tprun -n 4 ./app')" "$(commands | grep -x 'tprun -l --time-limit 10m -n 4 ./app')"; do
        run -0 --separate-stderr eval "${line/tprun/tprun --oversubscribe}"
        equal "$(grep -c 'is on my left$' <<<"$output")" 4
    done
}

@test "every line of the README's table stands in tprun-migrate(7), or says the same" {
    mandoc -T utf8 "$ROOT/man/tprun-migrate.7" | sed 's/.\x08//g; s/^ *//' >page
    local other ours
    while IFS='|' read -r _ other ours _; do
        other=$(sed 's/^ *`\([^`]*\)`.*/\1/' <<<"$other") ours=$(sed 's/^ *`\([^`]*\)`.*/\1/' <<<"$ours")
        case $other in
        *--hostfile*) continue ;; # the words are the same
        *-genv*) continue ;;
        esac
        grep -qxF -A1 -e "$other" page || { echo "not in the page: $other"; return 1; }
        grep -xF -A1 -e "$other" page | grep -qxF -e "$ours" || { echo "not below $other: $ours"; return 1; }
    done < <(grep -E '^\| `(mpirun|mpiexec|srun) ' "$ROOT/README.md")
}
