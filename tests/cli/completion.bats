#!/usr/bin/env bats
# Completion in bash, zsh and fish: options, values, files, methods.
load ../lib/common

setup() {
    start_test
    PATH=${TPRUN%/*}:$PATH
    COMPLETION=$ROOT/launcher/cli/completion
    : >some-file
}
teardown() { nothing_left; }

# What the shell offers for a line whose last word is begun: a word each line.
of_bash() { # LINE
    COMPLETION=$COMPLETION bash -c '
        source "$COMPLETION/tprun.bash"
        COMP_LINE=$1 COMP_POINT=${#1}
        read -ra COMP_WORDS <<<"${1//=/ = }"
        [[ $1 != *" " ]] || COMP_WORDS+=("")
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        function=$(complete -p "${COMP_WORDS[0]}") && function=${function#*-F } && ${function% *}
        printf "%s\n" "${COMPREPLY[@]}"' bash "$1" 2>&1
}
of_fish() { fish --no-config -c "source $COMPLETION/tprun.fish; complete -C '$1'" 2>&1 | cut -f1; }
# What its line is once Tab was pressed.
of_zsh() {
    mkdir -p zsh
    cp "$COMPLETION/_tprun" zsh
    zsh -f -c '
        zmodload zsh/zpty
        zpty shell zsh -f -i
        zpty -w shell "PS1= PROMPT_EOL_MARK= fpath=($PWD/zsh \$fpath); autoload -U compinit; compinit -u -D"
        zpty -w shell "zstyle \":completion:*\" insert-tab false; echo REA""DY"
        while zpty -r shell line && [[ $line != READY* ]]; do :; done
        zpty -w -n shell "$1"
        sleep 0.2 # no key waits any more: zsh takes a Tab among others for text
        zpty -w -n shell $'"'\\t'"'
        sleep 0.2
        zpty -w -n shell $'"'\\x15echo EN\"\"D\\n'"'
        while zpty -r shell line && [[ $line != END* ]]; do print -r -- $line; done
        zpty -d shell' zsh "$1" | tr -d '\r\a' | sed 's/\x1b\[[0-9;?]*[A-Za-z]//g'
}
offers() { # SHELL LINE WORD...
    local shell=$1 line=$2 word
    shift 2
    run "of_$shell" "$line"
    for word; do
        grep -qxF -- "$word" <<<"$output" || { echo "$shell, '$line': $word is not among: $output"; return 1; }
    done
}
offers_none() { # SHELL LINE WORD
    run "of_$1" "$2"
    ! grep -qxF -- "$3" <<<"$output" || { echo "$1, '$2': $3 is among: $output"; return 1; }
}

both() { # LINE WORD...
    offers bash "$@"
    offers fish "$@"
}

@test "every option of --help is on the list that completion reads, and offered" {
    options=$(tprun --help | grep -oE -- '(^|[ ,])--?[a-z][a-z-]+' | tr -d ' ,' | grep -vx -- '--help layout' | sort -u)
    [ "$(wc -l <<<"$options")" -gt 60 ]
    for option in $options; do
        grep -qE -- "(^| )$option( |\$)" <(tprun --help options)
        [[ $option != --* ]] || echo "$option" >>wanted
    done
    mapfile -t wanted <wanted
    both 'tprun --' "${wanted[@]}"
}

@test "the value of an option is offered, after a blank and after =" {
    both 'tprun --map-by nu' numa
    both 'tprun -n 4 --bind-to ' none numa core
    both 'tprun --format ' text json
    both 'tprun --on-failure c' continue
    both 'tprun --on-disconnect ' terminate continue
    both 'tprun --bootstrap k' kubernetes
    tprun true
    both 'tprun --after ' 1
    both 'tprun --hostfile so' some-file
    offers bash 'tprun --map-by=nu' numa
    offers fish 'tprun --map-by=nu' --map-by=numa
    offers_none bash 'tprun --map-by nu' --numa
}

@test "what is offered as a level or a policy, tprun takes" {
    for option in --map-by --bind-to --rank-by --order --display --taskmap --pmi --bootstrap; do
        values=$(of_bash "tprun $option ")
        [ -n "$values" ]
        for value in $values; do
            run tprun --print-spec "$option" "$value" true
            [ "$status" -eq 0 ] || { echo "$option $value: $output"; return 1; }
        done
    done
}

@test "behind the program its own words come, and behind a colon options again" {
    both 'tprun -n 2 cat so' some-file
    both 'tprun --wait cat so' some-file
    both 'tprun -n 2 cat : --map-by nu' numa
    offers_none bash 'tprun -n 2 cat --map' --map-by
    offers_none fish 'tprun -n 2 cat --map' --map-by
}

@test "methods of tpres, their options and values are offered" {
    both 'tpres ' alloc make intersect
    both 'tpres make --ho' --hosts --hostfile
    both 'tpres show --format ' text json
    both 'tpres show so' some-file
    both 'tpctl attach --in' --input --instance
    both 'tpctl attach --input ' 0 all none
    offers_none bash 'tpctl attach -i ' tools
    offers_none fish 'tpctl attach --input ' tools
}

@test "methods and options of tpctl are offered, also behind an option" {
    both 'tpctl ' list current
    both 'tpctl --parent cur' current
    both 'tpctl list --par' --parent
    both 'tpctl --parent info --why' --why
    run of_zsh 'tpctl --parent curr'
    [[ $output = *'tpctl --parent current'* ]]
}

@test "what tpctl new takes are options of tprun, and their values" {
    both 'tpctl ne' new
    both 'tpctl new --map' --map-by
    both 'tpctl new -n 4 --map-by nu' numa
    both 'tpctl new ' --ntasks --umask
    offers fish 'tpctl new --map-by=nu' --map-by=numa
    offers_none bash 'tpctl new --' --instance
    run of_zsh 'tpctl new --map-b'
    [[ $output = *'tpctl new --map-by'* ]]
    run of_zsh 'tpctl new -n 4 --map-by num'
    [[ $output = *'--map-by numa'* ]]
}

@test "zsh completes options, values, files and methods" {
    run of_zsh 'tprun --map-b'
    [[ $output = *'tprun --map-by'* ]]
    run of_zsh 'tprun --map-by num'
    [[ $output = *'--map-by numa'* ]]
    run of_zsh 'tprun --map-by=num'
    [[ $output = *'--map-by=numa'* ]]
    run of_zsh 'tprun -n 2 cat some-'
    [[ $output = *'cat some-file'* ]]
    run of_zsh 'tpres interse'
    [[ $output = *'tpres intersect'* ]]
    run of_zsh 'tpres make --hostf'
    [[ $output = *'--hostfile'* ]]
}
