#include "launcher/process/scratch.h"

#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define TREE_DEPTH 16 /* open directories at a time */
#define TRIES 16      /* names that somebody else may have taken */

struct scratch {
    bool noted; /* the path is whole: set before the directory is made */
    char path[PATH_MAX];
};

struct scratch *scratch_new(void)
{
    void *room = mmap(NULL, sizeof(struct scratch), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return room == MAP_FAILED ? NULL : room;
}

static void note(struct scratch *scratch, bool noted)
{
    __atomic_store_n(&scratch->noted, noted, __ATOMIC_RELEASE);
}

/* A name is noted before it is taken, so that there is no moment at which the directory is there and
 * unknown; mkdir says whether it was somebody else's. */
static int make(struct scratch *scratch, const char *above)
{
    uint64_t number = 0;
    if (getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number))
        return -1;
    int len = snprintf(scratch->path, sizeof(scratch->path), "%s/tprun.%016llx", above,
                       (unsigned long long)number);
    if (len < 0 || (size_t)len >= sizeof(scratch->path)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    note(scratch, true);
    if (mkdir(scratch->path, 0700) == 0)
        return 0;
    note(scratch, false);
    return -1;
}

const char *scratch_make(struct scratch *scratch, struct error *err)
{
    const char *above = getenv("TMPDIR");
    if (!above || above[0] != '/')
        above = "/tmp";
    if (!scratch) {
        error_set(err, "no memory can be shared");
        return NULL;
    }
    if (__atomic_load_n(&scratch->noted, __ATOMIC_ACQUIRE))
        return scratch->path;
    for (int tries = 0; tries < TRIES; tries++) {
        if (make(scratch, above) == 0)
            return scratch->path;
        if (errno != EEXIST)
            break;
    }
    error_set(err, "cannot make a directory in %s: %s; TMPDIR may name another", above,
              strerror(errno));
    return NULL;
}

static int remove_one(const char *path, const struct stat *stat, int kind, struct FTW *ftw)
{
    (void)stat;
    (void)kind;
    (void)ftw;
    remove(path); /* what cannot be removed must not keep the rest */
    return 0;
}

void scratch_remove(struct scratch *scratch)
{
    if (!scratch || !__atomic_load_n(&scratch->noted, __ATOMIC_ACQUIRE))
        return;
    nftw(scratch->path, remove_one, TREE_DEPTH, FTW_DEPTH | FTW_PHYS);
    note(scratch, false);
}
