# What scripts in an emulated machine begin with; they stand in the bats files.
# Each policy of a table is shown there, shown again from hwloc's own export of the machine, and run.
# shellcheck shell=sh disable=SC2030,SC2031 # what a loop reads is for the loop
set -u
export LC_ALL=C
export TPRUN_OPTIONS='--node-timeout 20m' # an emulated machine may stand still where this one is busy

# keep NAME COMMAND...: what it prints, what it says, how it ends.
keep() {
    kept=$1
    shift
    "$@" >"$kept" 2>"$kept.said" </dev/null
    echo $? >"$kept.status"
}

# each STATE: every line "MASK | POLICY | EXPECTED" of the table of that name, in STATE.d/NUMBER/.
each() {
    state=$1 number=0
    export-topology >"$state.xml"
    grep -v '^#' "$state" | while IFS='|' read -r mask policy expected; do
        number=$((number + 1)) mask=${mask% }
        mkdir -p "$state.d/$number"
        echo "$mask|$policy|$expected" >"$state.d/$number/line"
        all_views "$state.d/$number" ${mask:+taskset -c $mask}
    done
}
all_views() { # DIRECTORY [PREFIX...]
    into=$1
    shift
    # shellcheck disable=SC2086 # a policy is several words
    {
        keep "$into/plan" "$@" tprun --dry-run --format=json $policy where
        keep "$into/tasks" "$@" tprun --display bind --format=json $policy where
        keep "$into/export" tprun --dry-run --format=json --topology "machine=@$state.xml" $policy where
    }
}

# The processors of each object of a level, a line each, as the kernel has them.
kernel_sets() { # LEVEL
    cpu=/sys/devices/system/cpu/cpu
    case $1 in
    numa) cat /sys/devices/system/node/node*/cpulist ;;
    socket) cat $cpu*/topology/package_cpus_list ;;
    core) cat $cpu*/topology/core_cpus_list ;;
    l1cache) cat $cpu*/cache/index0/shared_cpu_list ;;
    l2cache) cat $cpu*/cache/index2/shared_cpu_list ;;
    l3cache) cat $cpu*/cache/index3/shared_cpu_list ;;
    esac 2>/dev/null | grep . | sort -u
}
# levels STATE: a task on each object of each level that the kernel knows, in STATE.levels/.
levels() {
    mkdir "$1.levels"
    for level in numa socket core l1cache l2cache l3cache; do
        kernel_sets $level >"$1.levels/$level"
        tprun --dry-run --format=json -n "$(wc -l <"$1.levels/$level")" --map-by $level --mppr none \
            where >"$1.levels/$level.plan" 2>&1
    done
}

R_of() { # CORES: an R with these cores of this machine
    printf '{"version":1,"execution":{"nodelist":["machine"],"R_lite":[%s]}}' \
        '{"rank":"0","children":{"core":"'"$1"'"}}'
}

processor() { echo "$2" >"/sys/devices/system/cpu/cpu$1/online"; } # NUMBER 0|1: off, on
