# Completion of tprun, tpbatch, tpres and tpctl for fish. Which options and methods there are, the programs say themselves.

set -g __tprun_levels hwthread core l1cache l2cache l3cache numa socket board node

# Ids of programs, by the tpctl $argv[1].
function __tprun_ids
    $argv[1] list -a --format=json 2>/dev/null | string match -ragr '"id": *"([^"]*)"'
end

# What stands behind the option $argv[1], whose argument is called $argv[2].
function __tprun_value
    switch $argv[1]
        case --map-by --rank-by
            printf '%s\n' slot $__tprun_levels
        case --bind-to
            printf '%s\n' none slot $__tprun_levels
        case --order
            printf '%s\n' natural sequential
        case --gpu-bind
            printf '%s\n' per-task closest none
        case --display
            printf '%s\n' alloc topo map bind all
        case --taskmap
            printf '%s\n' block cyclic
        case --input -i
            printf '%s\n' 0 all none tools
        case --pmi
            printf '%s\n' auto pmi1 pmi2 pmix none
        case --mpi
            printf '%s\n' mpich openmpi
        case --bootstrap
            printf '%s\n' auto local ssh slurm pals pbs flux lsf sge kubernetes
        case --on-disconnect
            printf '%s\n' terminate continue
        case --after
            __tprun_ids tpctl
        case --hosts --exclude
            __fish_print_hostnames
        case --env -x --env-remove
            set -nx
        case --chdir
            __fish_complete_directories (commandline -ct)
        case --check
            __fish_complete_command
        case '*'
            switch "$argv[2]"
                case '*|*'
                    string split '|' -- $argv[2]
                case 'FILE*' PATH TEMPLATE
                    __fish_complete_path (commandline -ct)
            end
    end
end

# The argument of an option of tprun; nothing: it takes none.
function __tprun_argument
    tprun --help options 2>/dev/null | while read -l line
        set -l words (string split ' ' -- $line)
        if contains -- $argv[1] $words
            string match -v -- '-*' $words
            return
        end
    end
end

# The program whose words the cursor is among; nothing: options still come.
function __tprun_program
    set -l words (commandline -opc)[2..-1]
    set -l found
    while set -q words[1]
        set -l word $words[1]
        set -e words[1]
        if test "$word" = :
            set found
        else if not set -q found[1]
            switch $word
                case '--*=*'
                case '-*'
                    set -l argument (__tprun_argument $word)
                    if test -n "$argument"; and not string match -q '[*' -- $argument
                        set -e words[1]
                    end
                case '*'
                    set found $word
            end
        end
    end
    printf '%s\n' $found
end

function __tprun_complete
    set -l current (commandline -ct)
    set -l before (commandline -opc)[-1]
    if test -n "$(__tprun_program)"
        __fish_complete_path $current
    else if string match -q -- '--*=*' $current
        set -l option (string split -m1 = -- $current)[1]
        __tprun_value $option (__tprun_argument $option) | string replace -r -- '^' "$option="
    else if string match -q -- '-*' $before; and set -l argument (__tprun_argument $before); and test -n "$argument"; and not string match -q '[*' -- $argument
        __tprun_value $before $argument
    else if string match -q -- '-*' $current
        tprun --help options 2>/dev/null | string split ' ' | string match -- '-*'
    else
        __fish_complete_command
    end
end

function __tprun_methods
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l program $words[1]
    while set -q words[2]; and string match -q -- '-*' $words[2]
        set -e words[2]
    end
    if test (count $words) -eq 1
        $program --help 2>/dev/null | string match -rg '^  ([a-z]+) +(.*)$' | paste - -
        return
    end
    set -l before $words[-1]
    if test "$words[2]" = new # options of tprun
        if string match -q -- '--*=*' $current
            set -l option (string split -m1 = -- $current)[1]
            __tprun_value $option (__tprun_argument $option) | string replace -r -- '^' "$option="
        else if string match -q -- '-*' $before; and set -l value (__tprun_argument $before); and test -n "$value"; and not string match -q '[*' -- $value
            __tprun_value $before $value
        else
            tprun --help options 2>/dev/null | string split ' ' | string match -- '-*'
        end
        return
    end
    set -l help ($program $words[2] --help 2>/dev/null)
    set -l argument (string match -rg -- '^ +(?:-., )?'$before' ([A-Z][^ ]*|[^ ]*\|[^ ]*)' $help)
    if test "$before" = --input; and test -n "$argument"
        printf '%s\n' 0 all none
    else if string match -q -- '-*' $before; and test -n "$argument"
        __tprun_value $before $argument
    else if string match -q -- '-*' $current
        string match -rg -- '^ +(?:-., )?(--[a-z-]+)' $help
        echo -- --help
    else if string match -q -- '*tpres' $program
        __fish_complete_path $current
    else if test "$words[2]" = signal; and test (count $words) -eq 3
        kill -l | string split ' ' | string replace -r '^(SIG)?' SIG
    else
        __tprun_ids $program
        echo @
    end
end

complete -c tprun -f -a '(__tprun_complete)'
complete -c tpbatch -f -a '(__tprun_complete)'
complete -c tpres -f -a '(__tprun_methods)'
complete -c tpctl -f -a '(__tprun_methods)'
