/* Names, makes and removes the directories that a program has on a node. */
#include "launcher/process/scratch_directory.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/directory.h"
#include "launcher/process/descriptor_message.h"
#include "launcher/process/owned_directory.h"

#define MEMORY "/dev/shm"
#define HIGH 10     /* no descriptor below: a task's are set there */
#define PREFIX 64   /* bytes that the names of a kind begin with */
#define LONGEST 1e8 /* s that any epilog takes, also where it may take any time */

struct directory {
    bool noted; /* the path is whole: set before the directory can be made */
    char path[PATH_MAX];
};

struct scratch {
    struct directory files, memory;
    int epilog;            /* enum scratch_epilog */
    double epilog_timeout; /* s; set before */
    struct scratch *instance;
    pid_t maker;
    double inner_epilogs; /* s that the epilogs of programs in it take at most */
    /* A socket pair that all processes with this scratch share. The descriptor that owns a directory is sent to its
     * first end, where nobody receives it: so it stays open until the last of these processes is gone. */
    int owners[2];
};

static void open_owners(int owners[2])
{
    int pair[2];
    owners[0] = owners[1] = -1;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0)
        return;
    for (int i = 0; i < 2; i++) {
        owners[i] = fcntl(pair[i], F_DUPFD_CLOEXEC, HIGH);
        close(pair[i]);
    }
}

struct scratch *scratch_directory_new(struct scratch *instance)
{
    void *room = mmap(NULL, sizeof(struct scratch), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED)
        return NULL;
    struct scratch *scratch = room;
    scratch->instance = instance;
    scratch->maker = getpid();
    open_owners(scratch->owners);
    return scratch;
}

static void scratch_directory_note(struct directory *directory, bool noted)
{
    __atomic_store_n(&directory->noted, noted, __ATOMIC_RELEASE);
}

static bool is_noted(const struct directory *directory)
{
    return __atomic_load_n(&directory->noted, __ATOMIC_ACQUIRE);
}

/* How the names of this user's directories begin. Those of files may be on a disk that several
 * machines share, and only the kernel of the owner knows that they are owned. So their names have
 * the boot id, and no other machine sweeps them. */
static int write_prefix(char prefix[PREFIX], bool files)
{
    char boot[9] = "";
    int len = snprintf(prefix, PREFIX, "tprun.%u.", (unsigned)geteuid());
    if (!files)
        return 0;
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, boot, sizeof(boot) - 1) : -1;
    if (fd >= 0)
        close(fd);
    snprintf(prefix + len, PREFIX - (size_t)len, "%s.", boot);
    return n == (ssize_t)sizeof(boot) - 1 ? 0 : -1;
}

/* A name that nobody can guess is one that nobody has taken. */
static int scratch_directory_choose(struct directory *directory, const char *above, bool files)
{
    char prefix[PREFIX];
    uint64_t number = 0;
    write_prefix(prefix, files);
    if (access(above, W_OK | X_OK) < 0 ||
        getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number))
        return -1;
    int len = snprintf(directory->path, sizeof(directory->path), "%s/%s%016llx", above, prefix,
                       (unsigned long long)number);
    if (len < 0 || (size_t)len >= sizeof(directory->path)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    scratch_directory_note(directory, true);
    return 0;
}

const char *scratch_directory_name(struct scratch *scratch, struct error *err)
{
    const char *above = getenv("TMPDIR");
    if (!above || above[0] != '/')
        above = "/tmp";
    if (!scratch) {
        error_set(err, "no memory can be shared");
        return NULL;
    }
    if (is_noted(&scratch->files) || scratch_directory_choose(&scratch->files, above, true) == 0)
        return scratch->files.path;
    error_set(err, "cannot make a directory in %s: %s; TMPDIR may name another", above,
              strerror(errno));
    return NULL;
}

const char *scratch_directory_chosen(struct scratch *scratch)
{
    return scratch && is_noted(&scratch->files) ? scratch->files.path : NULL;
}

/* A directory of a program that was killed, with its agents and whoever started these. */
static void sweep(const char *path)
{
    directory_remove(AT_FDCWD, path);
}

/* The directory is owned by this process and all that share `scratch`. 0 also where another thread
 * has just made it. */
static int make(const struct scratch *scratch, const struct directory *directory, bool files)
{
    char prefix[PREFIX], above[PATH_MAX];
    if (access(directory->path, F_OK) == 0)
        return directory_make_private(directory->path);
    memcpy(above, directory->path, sizeof(above));
    *strrchr(above, '/') = '\0';
    int fd = owned_directory_make(directory->path, 0700), number = errno;
    if (fd < 0 && number == EEXIST)
        return 0;
    if (fd >= 0)
        descriptor_message_send(scratch->owners[1], "", 1, &fd, 1);
    /* Only now: the sweep would remove a directory that has no owner yet. */
    if (write_prefix(prefix, files) == 0)
        owned_directory_sweep(above, prefix, sweep);
    errno = number;
    return fd < 0 ? -1 : 0;
}

int scratch_directory_make(struct scratch *scratch)
{
    if (scratch && is_noted(&scratch->files))
        return make(scratch, &scratch->files, true);
    errno = ENOENT;
    return -1;
}

const char *scratch_directory_make_memory(struct scratch *scratch, struct error *err)
{
    struct directory *memory = scratch ? &scratch->memory : NULL;
    if (memory && is_noted(memory))
        return memory->path;
    if (memory && scratch_directory_choose(memory, MEMORY, false) == 0) {
        if (make(scratch, memory, false) == 0)
            return memory->path;
        scratch_directory_note(memory, false);
    }
    error_set(err, "cannot make a directory in " MEMORY ": %s", strerror(errno));
    return NULL;
}

/* Several processes of one user may raise it at once. */
static void raise_inner(struct scratch *scratch, double seconds)
{
    double now;
    __atomic_load(&scratch->inner_epilogs, &now, __ATOMIC_ACQUIRE);
    while (now < seconds && !__atomic_compare_exchange(&scratch->inner_epilogs, &now, &seconds,
                                                       false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        ;
}

/* The epilog of an instance waits for those of the programs in it. */
void scratch_directory_expect_epilog(struct scratch *scratch, double timeout)
{
    double seconds = timeout;
    for (struct scratch *at = scratch; at && at->instance; at = at->instance) {
        seconds += scratch_directory_inner_epilogs(at);
        raise_inner(at->instance, seconds);
    }
}

void scratch_directory_expect_inner_epilogs(struct scratch *scratch, double seconds)
{
    if (scratch)
        raise_inner(scratch, seconds);
}

double scratch_directory_inner_epilogs(const struct scratch *scratch)
{
    double seconds = 0;
    if (scratch)
        __atomic_load(&scratch->inner_epilogs, &seconds, __ATOMIC_ACQUIRE);
    return fmin(seconds, LONGEST);
}

void scratch_directory_owe_epilog(struct scratch *scratch, double timeout)
{
    if (!scratch)
        return;
    scratch->epilog_timeout = timeout;
    scratch_directory_expect_epilog(scratch, timeout);
    __atomic_store_n(&scratch->epilog, EPILOG_OWED, __ATOMIC_RELEASE);
}

enum scratch_epilog scratch_directory_epilog(const struct scratch *scratch)
{
    return scratch ? (enum scratch_epilog)__atomic_load_n(&scratch->epilog, __ATOMIC_ACQUIRE)
                   : EPILOG_NONE;
}

double scratch_directory_epilog_timeout(const struct scratch *scratch)
{
    return scratch_directory_epilog(scratch) == EPILOG_NONE ? 0 : scratch->epilog_timeout;
}

pid_t scratch_directory_maker(const struct scratch *scratch)
{
    return scratch ? scratch->maker : 0;
}

bool scratch_directory_begin_epilog(struct scratch *scratch)
{
    int owed = EPILOG_OWED;
    return scratch && __atomic_compare_exchange_n(&scratch->epilog, &owed, EPILOG_BEGUN, false,
                                                  __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

static void remove_all(struct directory *directory)
{
    if (!is_noted(directory))
        return;
    directory_remove(AT_FDCWD, directory->path);
    scratch_directory_note(directory, false);
}

void scratch_directory_remove(struct scratch *scratch)
{
    if (!scratch || scratch_directory_epilog(scratch) == EPILOG_OWED)
        return;
    remove_all(&scratch->files);
    remove_all(&scratch->memory);
}
