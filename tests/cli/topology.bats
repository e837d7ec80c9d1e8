# shellcheck disable=SC2154 # bats sets stderr
# The node's topology, for tasks that ask their launcher for it: a file that hwloc reads.
load ../lib/common
setup_file() { build_programs; }
setup() { start_test; }
teardown() { nothing_left; }

GET=$ROOT/tests/programs/pmi-get
GET2=$ROOT/tests/programs/pmi2-get

@test "the topology is told as a file by PMI-1 and by PMI-2, and is gone when the program is" {
    for get in "$GET" "$GET2 kvs-get" "$GET2 info-getjobattr"; do
        run -0 --separate-stderr tprun -n 1 bash -c 'file=$('"$get"' PMI_hwloc_xmlfile) &&
            stat -c "%n %a" "$file" && stat -c %a "${file%/*}" && head -n 3 "$file"'
        equal "$stderr" ""
        [[ "${lines[0]}" == /dev/shm/tprun.*/topology.xml" 600" ]]
        equal "${lines[1]}" 700
        equal "${lines[4]}" '<topology version="2.0">'
        file=${lines[0]% *}
        [ ! -e "${file%/*}" ]
    done
}

@test "tasks that share a node are told its topology by PMIx, and all of them the same" {
    need_pmix_programs
    run -0 --separate-stderr tprun -n 2 sh -c 'exec "$0" pmix.hwlocxml2 >found.$PMIX_RANK' "$PROGRAMS/pmix-get"
    equal "$stderr" ""
    has_line "$(cat found.0)" '<topology version="2.0">'
    has_line "$(cat found.0)" '</topology>'
    cmp found.0 found.1
    # alone a task looks for itself
    run -0 --separate-stderr tprun -n 1 "$PROGRAMS/pmix-get" pmix.hwlocxml2
    equal "$output" NOT-FOUND
    run -0 --separate-stderr tprun -n 2 --env HWLOC_SYNTHETIC=core:2 "$PROGRAMS/pmix-get" pmix.hwlocxml2
    equal "$output" $'NOT-FOUND\nNOT-FOUND'
}

@test "PMI and PMIx tell the same topology" {
    need_pmix_programs
    run -0 --separate-stderr tprun -n 2 --pmi pmi1,pmix sh -c '
        "$0" pmix.hwlocxml2 >pmix.$PMI_RANK && cp "$("$1" PMI_hwloc_xmlfile)" pmi.$PMI_RANK' \
        "$PROGRAMS/pmix-get" "$GET"
    for rank in 0 1; do
        equal "$(cat "pmix.$rank")" "$(cat "pmi.$rank")"
    done
}

@test "kinds of memory that are asked for are told by PMI, also under mpiexec" {
    run -0 --separate-stderr tprun --memory-alloc-kinds system,cuda:device -n 1 "$GET" \
        PMI_mpi_memory_alloc_kinds : -n 1 "$GET2" info-getjobattr PMI_mpi_memory_alloc_kinds
    equal "$output" $'system,cuda:device\nsystem,cuda:device'
    run -0 --separate-stderr tprun -n 1 "$GET" PMI_mpi_memory_alloc_kinds
    equal "$output" unknown
    ln -s "$TPRUN" mpiexec
    run -0 --separate-stderr env -u TPRUN_OPTIONS ./mpiexec -memory-alloc-kinds mpi -n 1 "$GET" PMI_mpi_memory_alloc_kinds
    equal "$output" mpi
}

@test "all tasks of a node are told one file" {
    run -0 --separate-stderr tprun -n 4 bash -c 'stat -c "%n %i" "$("$0" PMI_hwloc_xmlfile)"' "$GET" : \
        -n 2 bash -c 'stat -c "%n %i" "$("$0" kvs-get PMI_hwloc_xmlfile)"' "$GET2"
    equal "${#lines[@]}" 6
    equal "$(sort -u <<<"$output" | wc -l)" 1
}

# What the user set is read by the task's hwloc, unless it is given something else.
@test "a task whose environment describes a machine is told no file" {
    for name in HWLOC_XMLFILE HWLOC_SYNTHETIC HWLOC_FSROOT; do
        run -0 --separate-stderr tprun -n 1 --env $name=x "$GET" PMI_hwloc_xmlfile : -n 1 bash -c \
            '[ -r "$("$0" PMI_hwloc_xmlfile)" ]' "$GET"
        equal "$output" unknown
    done
}

@test "a program that is killed with all of tprun leaves its topology to the next one to remove" {
    start='"$0" PMI_hwloc_xmlfile >path; mv path told; sleep 60'
    tprun -n 1 bash -c "$start" "$GET" &
    wait_for 20 [ -e told ]
    directory=$(dirname "$(cat told)")
    [ -d "$directory" ]
    xargs kill -9 <<<"$(marked)" || true # some have ended with the first
    wait || true
    run -0 tprun -n 1 "$GET" PMI_hwloc_xmlfile
    [ ! -e "$directory" ]
}

@test "a program that is killed with all of tprun leaves its files for PMIx and tools to the next one to remove" {
    need_pmix_programs
    export TMPDIR=$PWD
    start='"$0" pmix.nsdir >path; mv path told; sleep 60'
    tprun --tools --pmi pmix -n 1 sh -c "$start" "$PROGRAMS/pmix-get" 2>said &
    wait_for 20 [ -e told ]
    directory=$(dirname "$(cat told)")
    [[ $directory == "$TMPDIR/tprun.$(id -u)."* ]]
    grep -qF "file:$directory/" said
    [ -d "$directory" ]
    run -0 tprun --pmi pmix -n 1 "$PROGRAMS/pmix-get" pmix.nsdir
    [ -d "$directory" ] # its owner lives
    xargs kill -STOP <<<"$(marked)" || true # or one sees another's end, and clears up
    xargs kill -9 <<<"$(marked)" || true # some have ended with the first
    wait || true
    [ -d "$directory" ]
    run -0 tprun --pmi pmix -n 1 "$PROGRAMS/pmix-get" pmix.nsdir
    [ ! -e "$directory" ]
    [ ! -e "$(dirname "$output")" ]
}

@test "a description of the machine that has no end, or is far too large, is refused in a sentence" {
    for file in /dev/urandom /dev/zero; do
        HWLOC_XMLFILE=$file run -1 --separate-stderr tprun -n 1 true
        equal "$stderr" "tprun: this machine's topology: HWLOC_XMLFILE=$file: not a regular file"
    done
    truncate -s 1G large
    HWLOC_XMLFILE=large run -1 --separate-stderr tprun -n 1 true
    equal "$stderr" "tprun: this machine's topology: HWLOC_XMLFILE=large: it is larger than 32 MiB"
}

@test "hwloc is opened by who asks for a topology, and where it is not there that is said" {
    need_plain_build "the library is linked with what looks for its memory"
    { [ "$(id -u)" = 0 ] && unshare -m --propagation private true; } 2>/dev/null || skip "needs root, and namespaces"
    run -0 --separate-stderr ldd "$TPRUN"
    [[ $output != *hwloc* ]]
    local library
    library=$(readlink -f "$(ldconfig -p | sed -n '/libhwloc\.so\./s/.* => //p' | head -n 1)")
    without() { run "$1" --separate-stderr unshare -m --propagation private \
        sh -c 'mount --bind /dev/null "$0" && exec "$@"' "$library" timeout 20 "${@:2}"; }
    without -0 "$TPRUN" --help
    without -0 "${TPRUN%/*}/tpctl" list
    without -1 "$TPRUN" -n 1 true
    has_line "$stderr" "tprun: hwloc cannot be opened: *libhwloc.so*"
}
