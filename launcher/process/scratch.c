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
#define MEMORY "/dev/shm"

struct directory {
    bool noted; /* the path is whole: set before the directory is made */
    char path[PATH_MAX];
};

struct scratch {
    struct directory files, memory;
};

struct scratch *scratch_new(void)
{
    void *room = mmap(NULL, sizeof(struct scratch), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return room == MAP_FAILED ? NULL : room;
}

static void note(struct directory *directory, bool noted)
{
    __atomic_store_n(&directory->noted, noted, __ATOMIC_RELEASE);
}

static bool is_noted(const struct directory *directory)
{
    return __atomic_load_n(&directory->noted, __ATOMIC_ACQUIRE);
}

/* A name is noted before it is taken, so that there is no moment at which the directory is there and
 * unknown; mkdir says whether it was somebody else's. */
static int make(struct directory *directory, const char *above)
{
    uint64_t number = 0;
    if (getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number))
        return -1;
    int len = snprintf(directory->path, sizeof(directory->path), "%s/tprun.%016llx", above,
                       (unsigned long long)number);
    if (len < 0 || (size_t)len >= sizeof(directory->path)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    note(directory, true);
    if (mkdir(directory->path, 0700) == 0)
        return 0;
    note(directory, false);
    return -1;
}

static const char *make_once(struct directory *directory, const char *above)
{
    if (is_noted(directory))
        return directory->path;
    for (int tries = 0; tries < TRIES; tries++) {
        if (make(directory, above) == 0)
            return directory->path;
        if (errno != EEXIST)
            break;
    }
    return NULL;
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
    const char *path = make_once(&scratch->files, above);
    if (!path)
        error_set(err, "cannot make a directory in %s: %s; TMPDIR may name another", above,
                  strerror(errno));
    return path;
}

const char *scratch_make_memory(struct scratch *scratch, struct error *err)
{
    const char *path = scratch ? make_once(&scratch->memory, MEMORY) : NULL;
    if (!path)
        error_set(err, "cannot make a directory in " MEMORY ": %s", strerror(errno));
    return path;
}

static int remove_one(const char *path, const struct stat *stat, int kind, struct FTW *ftw)
{
    (void)stat;
    (void)kind;
    (void)ftw;
    remove(path); /* what cannot be removed must not keep the rest */
    return 0;
}

static void remove_all(struct directory *directory)
{
    if (!is_noted(directory))
        return;
    nftw(directory->path, remove_one, TREE_DEPTH, FTW_DEPTH | FTW_PHYS);
    note(directory, false);
}

void scratch_remove(struct scratch *scratch)
{
    if (!scratch)
        return;
    remove_all(&scratch->files);
    remove_all(&scratch->memory);
}
