/* A directory of the test program's own, below /tmp. It is the working directory, to which relative
 * names are relative. */
#ifndef TESTS_UNIT_SCRATCH_ROOT_H
#define TESTS_UNIT_SCRATCH_ROOT_H

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/directory.h"

static char root[] = "/tmp/tprun-unit-XXXXXX";

/* Make it and, in it, these directories, which end at a NULL. 0, or -1 as a setup of cmocka returns
 * it. */
static inline int root_make(const char *const *directories)
{
    if (!mkdtemp(root) || chdir(root) < 0)
        return -1;
    for (; *directories; directories++)
        if (mkdir(*directories, 0700) < 0)
            return -1;
    return 0;
}

/* Make it, and let it be $TMPDIR. For cmocka's setup of the group. */
static inline int root_make_temporary(void **state)
{
    (void)state;
    return root_make((const char *const[]){NULL}) < 0 ? -1 : setenv("TMPDIR", root, 1);
}

/* Remove it and all that is in it. For cmocka's teardown of the group. */
static inline int root_remove(void **state)
{
    (void)state;
    return chdir("/") < 0 ? -1 : directory_remove(AT_FDCWD, root);
}

#endif
