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

#include "launcher/process/owned_directory.h"

#define TREE_DEPTH 16 /* open directories at a time */
#define MEMORY "/dev/shm"

struct directory {
    bool noted; /* the path is whole: set before the directory can be made */
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

/* A name that nobody can guess is one that nobody has taken. */
static int choose(struct directory *directory, const char *above, const char *prefix)
{
    uint64_t number = 0;
    if (access(above, W_OK | X_OK) < 0 ||
        getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number))
        return -1;
    int len = snprintf(directory->path, sizeof(directory->path), "%s/%s%016llx", above, prefix,
                       (unsigned long long)number);
    if (len < 0 || (size_t)len >= sizeof(directory->path)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    note(directory, true);
    return 0;
}

const char *scratch_name(struct scratch *scratch, struct error *err)
{
    const char *above = getenv("TMPDIR");
    if (!above || above[0] != '/')
        above = "/tmp";
    if (!scratch) {
        error_set(err, "no memory can be shared");
        return NULL;
    }
    if (is_noted(&scratch->files) || choose(&scratch->files, above, "tprun.") == 0)
        return scratch->files.path;
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

/* Of programs that were killed, with their agents and whoever started these. */
static void sweep(const char *path)
{
    nftw(path, remove_one, TREE_DEPTH, FTW_DEPTH | FTW_PHYS);
}

/* Owned by this process for as long as it lives. */
static int make(struct directory *directory, const char *above)
{
    char prefix[32];
    snprintf(prefix, sizeof(prefix), "tprun.%u.", (unsigned)geteuid());
    owned_directory_sweep(above, prefix, sweep);
    if (choose(directory, above, prefix) < 0)
        return -1;
    if (owned_directory_make(directory->path, 0700) >= 0)
        return 0;
    note(directory, false);
    return -1;
}

const char *scratch_make_memory(struct scratch *scratch, struct error *err)
{
    if (scratch && (is_noted(&scratch->memory) || make(&scratch->memory, MEMORY) == 0))
        return scratch->memory.path;
    error_set(err, "cannot make a directory in " MEMORY ": %s", strerror(errno));
    return NULL;
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
