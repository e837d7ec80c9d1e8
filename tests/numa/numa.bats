# On a machine of two sockets with two NUMA domains each: what is shown is what is so, and what should be.
load common
setup_file() {
    find_machine
    boot "$BATS_FILE_TMPDIR/left" 'package:2 numa:2 core:2 pu:2' \
        "$NUMA"/policies/{whole,thread-off,core-off,cgroup} <<'SCRIPT'
R_of 1,3-4,6 >holes
R_of 0-7 >all
R_of 0-8 >more
levels whole
each whole
keep more.run tprun -R more -n 1 where
keep more.plan tprun --dry-run -R more -n 1 where
keep touched tprun -n 8 --map-by numa touched
# On the processors of domain 0 all of them, whatever they were bound to.
keep local tprun -n 4 --map-by numa --mem-bind local --display bind --format=json taskset -c 0-3 touched
keep none tprun -n 4 --map-by numa taskset -c 0-3 touched
keep policies tprun -n 2 --map-by socket --mem-bind local memory

processor 3 0
levels thread-off
each thread-off
processor 2 0
levels core-off
each core-off
processor 2 1
processor 3 1
keep again.plan tprun --dry-run --format=json -n 8 --map-by core where

cgroup=/sys/fs/cgroup
echo +cpuset >$cgroup/cgroup.subtree_control
keep kept tprun -n 3 --bind-to none --display bind --format=json where
echo +memory >$cgroup/cgroup.subtree_control
mkdir $cgroup/small
echo 40M >$cgroup/small/memory.max
limited() { # what is started here has little memory
    sh -c 'echo 0 >/sys/fs/cgroup/small/cgroup.procs && exec "$@"' sh "$@"
}
keep small limited tprun -n 2 sh -c '
    [ $TPRUN_RANK = 0 ] || exec dd if=/dev/zero of=/dev/null bs=100M count=1; sleep 60'
mkdir $cgroup/part
echo 4-6 >$cgroup/part/cpuset.cpus
echo 1 >$cgroup/part/cpuset.mems
echo 0 >$cgroup/part/cgroup.procs
each cgroup
SCRIPT
}
setup() { need_machine; }

@test "every task may run where it was shown, on the processors that its policy means, and nowhere else" {
    state_agrees whole
}

@test "an object of every level is what the kernel has as one" {
    levels_agree whole numa socket core l1cache l2cache l3cache
    equal "$(cat "$left/whole.levels/numa" | paste -sd' ')" "0-3 12-15 4-7 8-11"
}

@test "an R with a core that the machine lacks is refused, with both sets" {
    equal "$(cat "$left/more.run.status" "$left/more.plan.status")" "$(printf '1\n1')"
    [[ "$(cat "$left/more.run.said")" == *0-8*0-7* ]]
    [[ "$(cat "$left/more.plan.said")" == *0-8*0-7* ]]
    [ ! -s "$left/more.run" ]
}

@test "what a task that is bound to a NUMA domain touches lies there" {
    equal "$(sort -n "$left/touched")" "$(printf '%d %d\n' 0 0 1 1 2 2 3 3 4 0 5 1 6 2 7 3)"
}

@test "with --mem-bind local it does so wherever the task has gone, else it does not" {
    equal "$(sort -n "$left/local")" "$(printf '%d %d\n' 0 0 1 1 2 2 3 3)"
    equal "$(jq -r '.tasks[] | "\(.rank) \(.mems)"' "$left/local.said")" "$(sort -n "$left/local")"
    equal "$(sort -n "$left/none")" "$(printf '%d 0\n' 0 1 2 3)"
    equal "$(sort -n "$left/policies")" "$(printf '%s\n' '0 bind 0-1' '1 bind 2-3')"
}

@test "a processor that is off is not there" {
    state_agrees thread-off
    levels_agree thread-off numa socket core l1cache l2cache l3cache
}

@test "a core that is off is not there, and an R that counts it is refused" {
    state_agrees core-off
    equal "$(jq -r '.R.execution.R_lite[0].children.core' "$left/core-off.d/1/plan")" 0-6
    levels_agree core-off numa socket core l1cache l2cache l3cache
}

@test "a core that was switched off and on again is used again" {
    equal "$(jq -r '.tasks[].cpus' "$left/again.plan" | paste -sd' ')" "0-1 2-3 4-5 6-7 8-9 10-11 12-13 14-15"
}

@test "unbound tasks are kept to the cores that their program holds, where cgroups have cpusets" {
    equal "$(of_tasks "$left/kept")" "$(printf '%s\n' '0 0-5' '1 0-5' '2 0-5')"
    equal "$(of_plan "$left/kept.said")" "$(of_tasks "$left/kept")"
}

@test "a task that the kernel kills for lack of memory is said to be" {
    equal "$(cat "$left/small.status")" 137
    equal "$(head -n 1 "$left/small.said")" \
        "tprun: rank 1 on machine: killed by the kernel for lack of memory (cgroup limit 40 MiB)"
}

@test "a cgroup is never left, nor half a core made a whole one" {
    state_agrees cgroup
}
