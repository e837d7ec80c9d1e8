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
    touch launcher/agent/spawn.h launcher/cli/spawn.h
    layers
    refused "launcher/cli/spawn.h: the file name stands twice: launcher/agent/spawn.h"
}

# What the folders of a check of headers need.
headers() {
    echo 'int idset_count(int set);' >affinity/sets/idset.h
    printf '%s\n' '#include "base/mem.h"' 'int idset_count(int set)' '{' '}' >affinity/sets/idset.c
}

@test "a header that declares a function of another file is named" {
    headers
    layers
    [ "$status" = 0 ]
    echo 'void *layout_make(int n);' >>affinity/sets/idset.h
    printf '%s\n' 'void *layout_make(int n)' '{' '}' >>affinity/layout/layout.c
    layers
    refused "affinity/sets/idset.h: declares layout_make, which is defined in affinity/layout/layout.c"
}

@test "a header may declare what a file of its noun defines, and macros, types and inline functions" {
    headers
    cat >>affinity/sets/idset.h <<'END'
#define IDSET_FOREACH(id, set) \
    for (int id = idset_first(set); id; id = idset_next(set, id))
typedef int idset_equal(int a);
struct idset {
    int (*first)(int set); /* int gone(int n); */
};
static inline int idset_two(int set)
{
    return twice(set);
}
__attribute__((format(printf, 1, 2))) int idset_text(const char *fmt, ...);
END
    printf '%s\n' 'int idset_text(const char *fmt, ...)' '{' '}' >affinity/sets/idset_text.c
    layers
    [ "$status" = 0 ] && [ -z "$output" ]
}

@test "a function that CONTRIBUTING.md names and its file does not have is named" {
    headers
    printf '%s\n' '## 4. The ways of the data' '' '    affinity/sets/idset.c: idset_count, idset_gone   words' \
        '      idset.c: idset_away' '    affinity/sets/none.c: idset_count' '## 5. More' \
        '    affinity/sets/idset.c: idset_other' >CONTRIBUTING.md
    layers
    refused "CONTRIBUTING.md:3: affinity/sets/idset.c has no function idset_gone
CONTRIBUTING.md:4: idset.c has no function idset_away
CONTRIBUTING.md:5: there is no affinity/sets/none.c"
}

# ---- tests/calls ----

# FILE FUNCTION CALLED...: a file that has a function, which calls others; and its object.
object() {
    local file=$1 name=$2
    shift 2
    mkdir -p "${file%/*}" "build/gcc/${file%/*}"
    { printf 'void %s(void);\n' "$name" "$@" && echo "void $name(void) {" && printf '%s();\n' "$@" && echo '}'; } >"$file"
    [ $# -gt 0 ] || sed -i 's/^();$//; s/^void (void);$//' "$file"
    gcc -c -o "build/gcc/${file%.c}.o" "$file"
}
calls() { run "$ROOT/tests/calls" "$@"; }
three() { # a calls b, which calls c
    rm -rf affinity base pmi-server launcher
    object affinity/sets/a.c a b
    object affinity/sets/b.c b c
    object affinity/sets/c.c c "$@"
}

@test "files that call downwards pass" {
    three
    calls
    echo "$output"
    [ "$status" = 0 ] && [ -z "$output" ]
}

@test "files that call each other in a circle are named" {
    three b
    calls
    refused "files call each other in a circle: affinity/sets/b.c affinity/sets/c.c"
    three a
    calls
    refused "files call each other in a circle: affinity/sets/a.c affinity/sets/b.c affinity/sets/c.c"
}

@test "an object whose source is gone does not count, and one layer's circle is not another's" {
    three b
    rm affinity/sets/c.c
    object launcher/cli/c.c c b
    echo 'launcher/cli: affinity/sets' >>tests/layers.edges
    echo 'affinity/sets: launcher/cli' >>tests/layers.edges
    calls
    [ "$status" = 0 ] && [ -z "$output" ]
}

@test "a call of a folder that the caller's folder may not use is named" {
    three
    object launcher/cli/main.c run a
    calls
    refused "launcher/cli/main.c: launcher/cli may not call affinity/sets (a)"
    echo 'launcher/cli: affinity/sets' >>tests/layers.edges
    calls
    [ "$status" = 0 ] && [ -z "$output" ]
}
