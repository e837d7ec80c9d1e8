# On machines of other kinds: whatever hwloc makes of them, what is shown is what is so.
load common
export MACHINE_LIMIT=1500 # s, of the 1800 that --long gives a test
setup_file() { find_machine; }
setup() { need_machine; }

# kind SHAPE LEVEL...: all views of the policies agree, and these levels are as the kernel has them.
kind() {
    boot "$BATS_TEST_TMPDIR/left" "$1" "$NUMA/policies/any" <<'SCRIPT'
levels any
each any
SCRIPT
    state_agrees any
    levels_agree any "${@:2}"
}
ALL='numa socket core l1cache l2cache l3cache'

@test "tasks run where they were shown with one socket, one domain and cores of one thread" { kind 'package:1 core:4 pu:1' $ALL; }
@test "tasks run where they were shown with four sockets" { kind 'package:4 core:1 pu:2' $ALL; }
@test "tasks run where they were shown with two dies in each socket" { kind 'package:2 die:2 core:2' $ALL; }
@test "tasks run where they were shown with two sockets in each domain" { kind 'numa:2 package:2 core:2' $ALL; }
@test "tasks run where they were shown with more processors than a word has bits" { kind 'package:2 core:33' $ALL; }

@test "tasks run where they were shown in domains that have every other core of a socket" {
    MACHINE_DEAL=1 kind 'package:2 numa:2 core:2 pu:2' $ALL
}

@test "domains with cores of both sockets, which hwloc leaves out, cause no message" {
    MACHINE_DEAL=1 kind 'numa:2 package:1 core:4' socket core l1cache l2cache l3cache
    [ ! -s "$left/any.d/1/plan.said" ]
    grep -q 'invalid information' "$left/screen" # of the export, where nothing is hidden
}

@test "tasks run where they were shown with domains without memory, and memory without processors" {
    MACHINE_MEMORY='192 0 0 192 192' kind 'package:2 numa:2 core:2 pu:1' $ALL
}

@test "tasks run where they were shown with a socket without memory" { MACHINE_MEMORY='0 192' kind 'package:2 numa:1 core:2 pu:2' $ALL; }
@test "tasks run where they were shown with second threads that were never on" { MACHINE_APPEND=nosmt kind 'package:2 numa:1 core:2 pu:2' $ALL; }
@test "tasks run where they were shown with processors that were never on" { MACHINE_APPEND=maxcpus=5 kind 'package:2 numa:2 core:2 pu:2' $ALL; }

@test "processors that the kernel keeps for itself are left to it" {
    MACHINE_APPEND=isolcpus=2,3 boot "$BATS_TEST_TMPDIR/left" 'package:1 core:4 pu:2' <<'SCRIPT'
keep cores tprun -n 3 --map-by core where
keep plan tprun --dry-run --format=json -n 3 --map-by core where
keep none tprun --bind-to none where
SCRIPT
    equal "$(of_tasks "$left/cores")" "$(printf '%s\n' '0 0-1' '1 4-5' '2 6-7')"
    equal "$(of_plan "$left/plan")" "$(of_tasks "$left/cores")"
    equal "$(of_tasks "$left/none")" '0 0-1,4-7'
}
