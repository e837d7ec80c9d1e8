# shellcheck shell=bash
# Completion of tprun, tpbatch, tpres and tpctl for bash. Which options and methods there are, the programs say themselves.

_tprun_levels='hwthread core l1cache l2cache l3cache numa socket board node'

# The word at the cursor and the one before it, where --opt=VALUE is two words.
_tprun_here() {
    cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
    if [ "$cur" = = ]; then
        cur=''
    elif [ "$prev" = = ]; then
        prev=${COMP_WORDS[COMP_CWORD - 2]}
    fi
}

_tprun_offer() { # WORD...
    mapfile -t COMPREPLY < <(compgen -W "$*" -- "$cur")
}

_tprun_files() {
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$cur")
}

# Ids of programs, by the tpctl $1.
_tprun_ids() {
    "$1" list -a --format=json 2>/dev/null | grep -o '"id": *"[^"]*"' | cut -d'"' -f4
}

# What stands behind the option $1, whose argument is called $2.
_tprun_value() {
    case $1 in
    --map-by) _tprun_offer slot "$_tprun_levels" ;;
    --bind-to) _tprun_offer none slot "$_tprun_levels" ;;
    --rank-by) _tprun_offer slot "$_tprun_levels" ;;
    --order) _tprun_offer natural sequential ;;
    --gpu-bind) _tprun_offer per-task closest none ;;
    --display) _tprun_offer alloc topo map bind all ;;
    --taskmap) _tprun_offer block cyclic ;;
    --input | -i) _tprun_offer 0 all none tools ;;
    --pmi) _tprun_offer auto pmi1 pmi2 pmix none ;;
    --mpi) _tprun_offer mpich openmpi ;;
    --bootstrap) _tprun_offer auto local ssh slurm pals pbs flux lsf sge kubernetes ;;
    --on-disconnect) _tprun_offer terminate continue ;;
    --after) _tprun_offer "$(_tprun_ids tpctl)" ;;
    --hosts | --exclude) mapfile -t COMPREPLY < <(compgen -A hostname -- "$cur") ;;
    --env | -x | --env-remove) mapfile -t COMPREPLY < <(compgen -e -- "$cur") ;;
    --chdir) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -d -- "$cur") ;;
    --check) mapfile -t COMPREPLY < <(compgen -c -f -- "$cur") ;;
    *)
        case $2 in
        *\|*) _tprun_offer "${2//|/ }" ;;
        FILE* | PATH | TEMPLATE) _tprun_files ;;
        *) COMPREPLY=() ;;
        esac
        ;;
    esac
}

_tprun() {
    local cur prev words word i program=0 names='' argument=''
    local -A takes=()
    _tprun_here
    while read -ra words; do # each spelling, and the argument
        argument=''
        for word in "${words[@]}"; do [[ $word = -* ]] || argument=$word; done
        for word in "${words[@]}"; do
            [[ $word = -* ]] || continue
            names+=" $word"
            takes[$word]=$argument
        done
    done < <("${COMP_WORDS[0]}" --help options 2>/dev/null)
    for ((i = 1; i < COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if [ "$word" = : ]; then
            program=0
        elif ((program)) || [[ $word = = ]]; then
            :
        elif [[ $word = -* ]]; then
            if [ "${COMP_WORDS[i + 1]-}" = = ]; then
                i=$((i + 2))
            elif [[ ${takes[$word]-} = ?* && ${takes[$word]} != \[* ]]; then
                i=$((i + 1))
            fi
        else
            program=$i
        fi
    done
    if ((program)); then
        _tprun_files
    elif [[ ${takes[$prev]-} = ?* && (${takes[$prev]} != \[* || ${COMP_LINE:0:COMP_POINT} = *=) ]]; then
        _tprun_value "$prev" "${takes[$prev]}"
    elif [[ $cur = -* || ${no_program-} ]]; then
        _tprun_offer "$names"
    else
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -c -f -- "$cur")
    fi
}

# tpctl new: what stands behind word $1 are options of tprun.
_tprun_new() {
    local no_program=1
    COMP_WORDS=("${COMP_WORDS[0]%tpctl}tprun" "${COMP_WORDS[@]:$1 + 1}")
    COMP_CWORD=$((COMP_CWORD - $1))
    _tprun
}

# tpres and tpctl: a method, its options, and files, or the ids of programs.
_tprun_methods() {
    local cur prev method at=1 line names='' argument=''
    _tprun_here
    while ((at < COMP_CWORD)) && [[ ${COMP_WORDS[at]} = -* ]]; do at=$((at + 1)); done
    method=${COMP_WORDS[at]}
    if ((COMP_CWORD == at)); then
        _tprun_offer "$("${COMP_WORDS[0]}" --help 2>/dev/null | sed -n 's/^  \([a-z]*\) .*/\1/p')" --help
        return
    fi
    if [ "$method" = new ]; then
        _tprun_new "$at"
        return
    fi
    while read -r line; do
        [[ $line =~ ^(-.,\ )?(--[a-z-]+)(\ ([^ ]+))? ]] || continue
        names+=" ${BASH_REMATCH[2]}"
        [[ $prev != "${BASH_REMATCH[2]}" && "$prev, " != "${BASH_REMATCH[1]}" ]] || argument=${BASH_REMATCH[4]}
    done < <("${COMP_WORDS[0]}" "$method" --help 2>/dev/null | sed -n '/^ /s/  */ /gp' | sed 's/^ //')
    if [[ $argument && $prev = @(--input|-i) ]]; then
        _tprun_offer 0 all none
    elif [[ $argument =~ ^[A-Z] || $argument = *\|* ]]; then
        _tprun_value "$prev" "$argument"
    elif [[ $cur = -* ]]; then
        _tprun_offer "$names" --help
    elif [ "${COMP_WORDS[0]##*/}" = tpres ]; then
        _tprun_files
    elif [ "$method" = signal ] && ((COMP_CWORD == at + 2)); then
        mapfile -t COMPREPLY < <(compgen -A signal -- "SIG${cur#SIG}")
    else
        _tprun_offer "$(_tprun_ids "${COMP_WORDS[0]}")" @
    fi
}

complete -F _tprun tprun tpbatch
complete -F _tprun_methods tpres tpctl
