# The check of the sources' structure finds what it is there for.
load ../lib/common

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    mkdir -p base affinity/sets affinity/layout pmi-server/pmi launcher/cli tests
    echo '#include "base/mem.h"' >affinity/sets/idset.c
    echo '#include "affinity/sets/idset.h"' >affinity/layout/layout.c
    printf '%s\n' 'affinity/layout: affinity/sets' 'affinity/sets: base' >tests/layers.edges
    touch base/mem.h affinity/sets/idset.h
    export LAYERS_ROOT=$PWD
}
layers() { run "$ROOT/tests/layers"; }
refused() { # LINE
    [ "$status" = 1 ]
    equal "$output" "$1"
}

@test "sources that keep to their structure pass" {
    layers
    [ "$status" = 0 ] && [ -z "$output" ]
}

@test "an include that is not in the list is named" {
    echo '#include "affinity/layout/layout.h"' >>affinity/sets/idset.c
    layers
    refused "affinity/sets/idset.c:2: affinity/sets may not include from affinity/layout (affinity/layout/layout.h)"
}

@test "an edge that nobody uses any more is named" {
    echo 'launcher/cli: base' >>tests/layers.edges
    layers
    refused "tests/layers.edges: no file uses the edge launcher/cli -> base"
}

@test "folders in a circle are named" {
    echo '#include "affinity/layout/layout.h"' >>affinity/sets/idset.c
    sed -i 's|^affinity/sets:.*|& affinity/layout|' tests/layers.edges
    layers
    [ "$status" = 1 ]
    [[ $output == "tests/layers.edges: folders in a circle: "*affinity/layout* ]]
}

@test "a private header that another folder includes is named" {
    echo '#include "affinity/sets/idset_private.h"' >>affinity/layout/layout.c
    layers
    refused "affinity/layout/layout.c:2: affinity/sets/idset_private.h is private to affinity/sets"
}

@test "a static function of two files of a layer is named" {
    echo 'static int find(int n)' | tee -a affinity/sets/idset.c >>affinity/layout/layout.c
    layers
    refused "affinity: the static function find stands in affinity/layout/layout.c affinity/sets/idset.c"
}

@test "a file name that stands twice in launcher is named" {
    mkdir launcher/agent
    touch launcher/agent/internal.h launcher/cli/internal.h launcher/agent/spawn.h launcher/cli/spawn.h
    layers
    refused "launcher/cli/spawn.h: the file name stands twice: launcher/agent/spawn.h"
}
