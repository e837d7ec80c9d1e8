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

@test "a header that declares a function of another file is named, and an exception lets it" {
    headers
    layers
    [ "$status" = 0 ]
    echo 'void *layout_make(int n);' >>affinity/sets/idset.h
    printf '%s\n' 'void *layout_make(int n)' '{' '}' >>affinity/layout/layout.c
    layers
    refused "affinity/sets/idset.h: declares layout_make, which is defined in affinity/layout/layout.c"
    echo 'affinity/sets/idset.h: affinity/layout/layout.c' >tests/layers.headers
    layers
    [ "$status" = 0 ]
}

@test "an exception for a header that is no longer true is named, and goes by --shorten" {
    headers
    echo 'affinity/sets/idset.h: affinity/layout/layout.c' >tests/layers.headers
    layers
    refused "tests/layers.headers: affinity/sets/idset.h no longer declares a function of affinity/layout/layout.c: tests/layers --shorten"
    "$ROOT/tests/layers" --shorten
    layers
    [ "$status" = 0 ]
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
    touch tests/calls.known
    calls
    echo "$output"
    [ "$status" = 0 ] && [ -z "$output" ]
}

@test "files that call each other in a circle are named, and let pass where they are known" {
    three b
    touch tests/calls.known
    calls
    refused "files call each other in a circle: affinity/sets/b.c affinity/sets/c.c"
    calls --shorten
    refused "files call each other in a circle: affinity/sets/b.c affinity/sets/c.c"
    echo 'affinity/sets/b.c affinity/sets/c.c' >tests/calls.known
    calls
    [ "$status" = 0 ]
}

@test "a circle that grows is named, also where it was known" {
    three a
    echo 'affinity/sets/b.c affinity/sets/c.c' >tests/calls.known
    calls
    [ "$status" = 1 ]
    [[ $output == "files call each other in a circle: affinity/sets/a.c affinity/sets/b.c affinity/sets/c.c"* ]]
}

@test "a known circle that is gone or smaller is named, and goes by --shorten" {
    three b
    printf '%s\n' '# kept' 'affinity/sets/a.c affinity/sets/b.c affinity/sets/c.c' 'x.c y.c' >tests/calls.known
    calls
    refused "tests/calls.known: a circle is now only affinity/sets/b.c affinity/sets/c.c (--shorten)
tests/calls.known: a circle is gone: x.c y.c (--shorten)"
    calls --shorten
    equal "$(cat tests/calls.known)" "# kept
affinity/sets/b.c affinity/sets/c.c"
    calls
    [ "$status" = 0 ]
}

@test "an object whose source is gone does not count, and one layer's circle is not another's" {
    three b
    touch tests/calls.known
    rm affinity/sets/c.c
    mkdir -p launcher/cli
    object launcher/cli/c.c c b
    calls
    [ "$status" = 0 ] && [ -z "$output" ]
}
