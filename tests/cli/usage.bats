# What tprun refuses, and how it says so.
load ../lib/common
setup_file() { build_programs; }
setup() { start_test; }
teardown() { nothing_left; }

# Each line: what stderr's first line must contain | the arguments
refused() { # STATUS
    local want words bad=0
    while IFS='|' read -r want words; do
        [ -n "$want" ] || continue
        eval "run --separate-stderr tprun $words"
        # shellcheck disable=SC2154
        if [ "$status" != "$1" ] || [ -n "$output" ] ||
            [[ "${stderr_lines[0]}" != "tprun: "*"$want"* ]] || [[ "${stderr_lines[0]}" == *. ]]; then
            printf 'tprun %s\n  status %s (wanted %s)\n  said: %s\n  wanted: %s\n' "$words" \
                "$status" "$1" "$stderr$output" "$want"
            bad=1
        fi
    done
    return $bad
}

@test "a wrong command line is refused with status 2, and names the option and what is wrong" {
    refused 2 <<'END'
--nosuch|--nosuch true
-n|-n x true
-n|-n 0 true
-n|-n -1 true
-n|-n 99999999999 true
-n|-n
-N|-N 1.5 true
-c|-c 0 true
--map-by|--map-by nonsense true
--bind-to|--bind-to 0c true
--bind-to|--bind-to 2n true
--mppr|--mppr 0:c true
--order|--order sideways true
--hosts|--hosts 'a[1-' true
--hosts|--hosts '' true
--exclude|--hosts a --exclude 'a[3-1]' true
--umask|--umask 9 true
--rlimit|--rlimit nosuch=3 true
--rlimit|--rlimit core true
--time-limit|--time-limit 5x true
--kill-grace|--kill-grace -1 true
--on-failure|--on-failure maybe true
--fanout|--fanout 0 true
-i|-i 3-1 true
--output|-o 'x%q' true
--error|-e 'x%' true
--topology|--topology nonsense --dry-run true
--format|--dry-run --format=xml true
--display|--display nonsense true
-x|-x =3 true
program|
program|-n 2
END
}

@test "more nodes than this machine is refused with how to name them" {
    refused 1 <<'END'
-N 2: there is only 1 node to choose from; name nodes with --hosts or --hostfile|-N 2 true
END
    run --separate-stderr tprun -N 2 --hosts "$(uname -n)" true
    equal "$stderr" "tprun: -N 2: there is only 1 node to choose from"
}

@test "a single-dash long option is refused with the spelling that works" {
    run --separate-stderr tprun -hosts a true
    [ "$status" = 2 ]
    [[ "$stderr" == *--hosts* ]]
}

@test "an option of the whole program is refused after a colon" {
    run --separate-stderr tprun -n 1 true : --hosts a -n 1 true
    [ "$status" = 2 ]
    [[ "$stderr" == *--hosts* ]]
}

@test "an unknown option, or topic of help, names --help once" {
    local words
    for words in --bogus -Z '--help bogus' '--help=bogus' '-h bogus'; do
        # shellcheck disable=SC2086
        run -2 --separate-stderr tprun $words
        [ -z "$output" ]
        equal "$(grep -c "'tprun --help'\|tprun --help lists" <<<"$stderr")" 1
    done
    [[ "$stderr" == *'"bogus"'*layout*mpiexec* ]]
    ln -s "$TPRUN" mpiexec
    run -2 --separate-stderr ./mpiexec --bogus true
    equal "$(grep -o -- --help <<<"$stderr" | wc -l)" 1
}

@test "hosts with counts are refused with what to write in a hostfile, before any is looked up" {
    run -2 --separate-stderr tprun -v --ssh 'touch ssh-was-run' --hosts nowhere.invalid:2 true
    [[ "$stderr" == *'"nowhere.invalid:2"'*--hostfile* ]]
    [ ! -e ssh-was-run ]
}

# advice | the other launcher's options. mpiexec takes those behind a "+" as they are.
@test "options of other launchers are answered with what works here" {
    local want words took=0
    ln -s "$TPRUN" mpiexec
    while IFS='|' read -r want words; do
        # shellcheck disable=SC2086
        run -2 --separate-stderr tprun ${words#+} true
        [[ "${stderr_lines[0]}" == *": $want"* || "${stderr_lines[0]}" == *"; $want"* ]] || { echo "$words: $stderr"; false; }
        if [[ $want == 'write --per'* || $want == 'write -x'* || $want == 'write --map-by'* ]]; then
            # shellcheck disable=SC2086
            tprun --dry-run --topology 'n=package:2 core:4 pu:1' ${want#write } true >/dev/null
        fi
        [[ $words == +* ]] || continue
        [[ "${stderr_lines[0]}" == *libexec/tprun/mpiexec* ]]
        # shellcheck disable=SC2086
        ./mpiexec ${words#+} --print-spec true >/dev/null
        took=$((took + 1))
    done <<'END'
write --per 2:node --order sequential|--ntasks-per-node=2
write --per 2:node --order sequential|+-ppn 2
write --per 2:node --order sequential|+-npernode 2
write --per 2:socket --order sequential|+-npersocket 2
write --per 2:socket --order sequential|+--map-by ppr:2:socket
write --per 1:numa --order sequential -c 2|+--map-by ppr:1:numa:pe=2
write --map-by socket -c 2|+--map-by socket:PE=2
write -x OMPI_MCA_btl=tcp|+--mca btl tcp
write -x A=1|+-env A 1
write --pmi pmix|--mpi=pmix
write --bind-to core|--cpu-bind=cores
write --map-by hwthread|--smt
write --map-by core|--hint=nomultithread
write --map-by numa|-cc numa_node
write --per 2:numa --order sequential|-S 2
write -x A=1|-E A=1
leave it out|--mem=4G
leave it out|-J name
leave it out|--job-name name
leave it out|--allow-run-as-root
leave it out|--export=ALL
END
    [ $took -ge 8 ]
}

@test "a part without a program is refused" {
    run --separate-stderr tprun -n 1 : true
    [ "$status" = 2 ]
    run --separate-stderr tprun true :
    [ "$status" = 2 ]
}

@test "options end at the program's name" {
    run -0 --separate-stderr tprun printf '%s ' -n 3 --nosuch
    equal "$output" "-n 3 --nosuch "
}

@test "an escaped colon is an argument" {
    run -0 --separate-stderr tprun echo a '\:' b
    equal "$output" "a : b"
}

@test "options of TPRUN_OPTIONS come before the command line's own" {
    TPRUN_OPTIONS='--oversubscribe -n 3' run -0 --separate-stderr tprun echo x
    [ "${#lines[@]}" = 3 ]
    TPRUN_OPTIONS='--oversubscribe -n 3' run -0 --separate-stderr tprun -n 2 echo x
    [ "${#lines[@]}" = 2 ]
    TPRUN_OPTIONS='--nosuch' run -2 --separate-stderr tprun echo x
    [[ "$stderr" == *TPRUN_OPTIONS* || "$stderr" == *--nosuch* ]]
}

@test "help fits a screen's width and names every group" {
    run -0 --separate-stderr tprun --help
    [ -z "$stderr" ]
    [ "$(wc -L <<<"$output")" -le 80 ]
    [ "${#lines[@]}" -le 60 ]
    has_line "$output" "*--map-by*"
    has_line "$output" "*--label-io*"
}

@test "help on layout fits a terminal, and its pictures are what tprun prints" {
    local line command picture seen=0
    run -0 --separate-stderr tprun --help layout
    [ "$(wc -L <<<"$output")" -le 80 ]
    [ "${#lines[@]}" -le 24 ]
    while IFS= read -r line; do
        command=$(sed 's/^ *tprun \(.*[^ ]\)  *\[.*/\1/' <<<"$line")
        picture=$(grep -o '\[.*' <<<"$line")
        # shellcheck disable=SC2086
        equal "$(tprun --dry-run --display map --topology 'n=package:2 core:4 pu:1' $command |
            sed -n 's/ *socket [0-9]* / /gp' | tr -s ' ')" " ${picture//  / }"
        seen=$((seen + 1))
    done < <(grep '^  tprun .*\[ ' <<<"$output")
    equal "$seen" 4
    eval "$(grep '^  tprun --dry-run' <<<"$output")" >shown
    grep -q '  n0: 6 tasks' shown
}

@test "version says the name and the version" {
    run -0 --separate-stderr tprun --version
    [[ "${lines[0]}" == "tprun "[0-9]* ]]
}

@test "a malformed R is refused by what is wrong in it, and starts nothing" {
    local -A cases=(
        [empty.json]=''
        [text.json]='not json'
        [version.json]='{"version":2,"execution":{"R_lite":[{"rank":"0","children":{"core":"0"}}],"nodelist":["a"]}}'
        [execution.json]='{"version":1}'
        [rank.json]='{"version":1,"execution":{"R_lite":[{"rank":"1-0","children":{"core":"0"}}],"nodelist":["a"]}}'
        [core.json]='{"version":1,"execution":{"R_lite":[{"rank":"0","children":{"core":"0,0"}}],"nodelist":["a"]}}'
        [hosts.json]='{"version":1,"execution":{"R_lite":[{"rank":"0-1","children":{"core":"0"}}],"nodelist":["a"]}}'
        [twice.json]='{"version":1,"execution":{"R_lite":[{"rank":"0","children":{"core":"0"}},{"rank":"0","children":{"core":"1"}}],"nodelist":["a","b"]}}'
        [expired.json]='{"version":1,"execution":{"R_lite":[{"rank":"0","children":{"core":"0"}}],"nodelist":["'$(hostname)'"],"expiration":1000}}'
        [early.json]='{"version":1,"execution":{"R_lite":[{"rank":"0","children":{"core":"0"}}],"nodelist":["'$(hostname)'"],"starttime":99999999999}}'
    )
    local file bad=0
    for file in "${!cases[@]}"; do
        printf '%s' "${cases[$file]}" >"$file"
        run --separate-stderr tprun -R "$file" touch started
        if [[ $status != [12] || -n $output || ${#stderr_lines[@]} -gt 2 || $stderr != "tprun: "*"$file"* ]]; then
            echo "$file: status $status: $output$stderr"
            bad=1
        fi
    done
    [ ! -e started ]
    [ $bad = 0 ]
}

@test "an empty R is said to be empty" {
    : >empty.json
    run -1 --separate-stderr tprun -R empty.json true
    equal "$stderr" "tprun: R file empty.json: it is empty; what was to make it may have failed"
}

@test "an R that is not there is refused by name" {
    run --separate-stderr tprun -R nosuch.json true
    [[ $status = [12] ]]
    [[ "$stderr" == *nosuch.json* ]]
}

@test "an R with more cores than this machine has is refused with both sets" {
    printf '{"version":1,"execution":{"R_lite":[{"rank":"0","children":{"core":"0-4095"}}],"nodelist":["%s"]}}' \
        "$(hostname)" >big.json
    run -1 --separate-stderr tprun -R big.json touch started
    [[ "$stderr" == *4095* ]]
    [ ! -e started ]
}

@test "a malformed topology is refused by what is wrong in it" {
    refused 2 <<'END'
n0|--dry-run --topology 'n0=package:x' true
--topology|--dry-run --topology 'n[0-=package:1 core:1 pu:1' true
END
    run --separate-stderr tprun --dry-run --topology 'n0=@nosuch.xml' true
    [[ $status = [12] ]]
    [[ "$stderr" == *nosuch.xml* ]]
}
