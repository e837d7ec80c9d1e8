/* The ledger's instance: where it is, its lock, who is alive in it. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "launcher/program/store.h"
#include "launcher/program/ledger_private.h"
#include "launcher/program/ledger.h"

#define LEDGER_PATIENCE 30.0 /* seconds for a lock that is held for milliseconds */
#define LEDGER_SLUG 24       /* readable bytes of an instance's name; sockets want short paths */

/* A directory of this user that it can make entries in. */
static int ledger_open_runtime(const char *path)
{
    struct stat st;
    if (!path || path[0] != '/')
        return -1;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    if (fstat(fd, &st) == 0 && st.st_uid == geteuid() &&
        faccessat(AT_FDCWD, path, W_OK | X_OK, AT_EACCESS) == 0)
        return fd;
    close(fd);
    return -1;
}

/* The directory of all instances of this user, and its path. */
static int ledger_open_root(char **path, struct error *err)
{
    const char *base = getenv("XDG_RUNTIME_DIR");
    char *name;
    int fd = ledger_open_runtime(base);
    if (fd >= 0) {
        name = mem_copy_text("tprun");
    } else {
        base = getenv("TMPDIR");
        if (!base || base[0] != '/')
            base = "/tmp";
        name = mem_format("tprun-%u", (unsigned)geteuid());
        fd = open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0)
            error_set(err,
                      "unable to open the directory %s: %s; TMPDIR or XDG_RUNTIME_DIR has to "
                      "name one that can be written",
                      base, strerror(errno));
    }
    int root = -1;
    if (fd >= 0) {
        *path = mem_format("%s/%s", base, name);
        root = store_open_private(fd, name, *path, err);
        close(fd);
    }
    free(name);
    return root;
}

static uint64_t ledger_hash(const char *text)
{
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
    return hash;
}

/* The end of the identity, which tells most, in letters that need no quoting; and a hash. */
static char *ledger_name(const char *identity)
{
    char slug[LEDGER_SLUG + 1];
    size_t len = strlen(identity), used = 0;
    for (size_t i = len > LEDGER_SLUG ? len - LEDGER_SLUG : 0; i < len; i++) {
        bool plain = isalnum((unsigned char)identity[i]) && !(identity[i] & 0x80);
        if (plain)
            slug[used++] = identity[i];
        else if (used && slug[used - 1] != '-')
            slug[used++] = '-';
    }
    slug[used] = '\0';
    return mem_format("%s%s%012llx", slug, used && slug[used - 1] != '-' ? "-" : "",
                      (unsigned long long)(ledger_hash(identity) & 0xffffffffffffu));
}

static int ledger_fill(struct instance *instance, const char *identity, struct error *err)
{
    char *path = mem_format("%s/programs", instance->path);
    instance->programs = store_open_private(instance->dir, "programs", path, err);
    free(path);
    if (instance->programs < 0)
        return -1;
    if (faccessat(instance->dir, "identity", F_OK, AT_SYMLINK_NOFOLLOW) == 0)
        return 0;
    /* Two may write this at once: both write the same, and the loser of a rename is no failure. */
    char *text = mem_format("%s\n", identity);
    int rc = store_write(instance->dir, "identity", text, strlen(text));
    free(text);
    if (rc < 0 && errno != ENOENT)
        return error_set(err, "unable to write %s/identity: %s", instance->path, strerror(errno));
    return 0;
}

struct instance *instance_open(const char *identity, struct error *err)
{
    char *root_path = NULL;
    int root = ledger_open_root(&root_path, err);
    struct instance *instance = NULL;
    if (root >= 0) {
        char *name = ledger_name(identity);
        instance = mem_alloc(sizeof(*instance));
        instance->path = mem_format("%s/%s", root_path, name);
        instance->programs = -1;
        instance->dir = store_open_private(root, name, instance->path, err);
        free(name);
        close(root);
        if (instance->dir < 0 || ledger_fill(instance, identity, err) < 0) {
            instance_close(instance);
            instance = NULL;
        }
    }
    free(root_path);
    return instance;
}

void instance_close(struct instance *instance)
{
    if (!instance)
        return;
    if (instance->programs >= 0)
        close(instance->programs);
    if (instance->dir >= 0)
        close(instance->dir);
    idset_free(instance->enclosing);
    free(instance->path);
    free(instance);
}

void instance_draw_from(struct instance *instance, const char *programs)
{
    idset_free(instance->enclosing);
    instance->enclosing = idset_decode(programs, NULL);
}

const char *instance_path(const struct instance *instance)
{
    return instance->path;
}

static double ledger_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* By trying, not by waiting in the kernel: a holder that was stopped must not stop all others. */
static int ledger_wait_lock(int fd)
{
    double deadline = ledger_clock() + LEDGER_PATIENCE;
    long pause = 50000;
    while (store_lock(fd) < 0) {
        if (errno != EAGAIN && errno != EINTR)
            return -1;
        if (ledger_clock() > deadline) {
            errno = ETIMEDOUT;
            return -1;
        }
        nanosleep(&(struct timespec){0, pause}, NULL);
        if (pause < 2000000)
            pause *= 2;
    }
    return 0;
}

int ledger_lock(struct instance *instance, struct error *err)
{
    int flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC;
    int fd = openat(instance->dir, "lock", flags, 0600);
    if (fd >= 0 && ledger_wait_lock(fd) == 0)
        return fd;
    error_set(err, "unable to lock %s/lock: %s%s", instance->path, strerror(errno),
              errno == ETIMEDOUT ? " after 30 s: is a tprun of yours stopped?" : "");
    if (fd >= 0)
        close(fd);
    return -1;
}

/* A program's number from its directory's name; false for anything else. */
static bool ledger_read_number(const char *name, uint64_t *number)
{
    char *end;
    if (name[0] < '1' || name[0] > '9')
        return false;
    errno = 0;
    *number = strtoull(name, &end, 10);
    return !*end && !errno;
}

static bool ledger_is_alive(struct instance *instance, const char *name)
{
    char file[NAME_MAX + sizeof("/alive")];
    snprintf(file, sizeof(file), "%s/alive", name);
    int fd = openat(instance->programs, file, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return errno != ENOENT;
    bool alive = store_locked(fd);
    close(fd);
    return alive;
}

static int ledger_compare_numbers(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void ledger_add_live(struct ledger_live *live, uint64_t number)
{
    if (live->count == live->room) {
        live->room = live->room ? live->room * 2 : 16;
        live->numbers = mem_resize(live->numbers, live->room, sizeof(*live->numbers));
    }
    live->numbers[live->count++] = number;
}

int ledger_sweep(struct instance *instance, struct ledger_live *live, struct error *err)
{
    int fd = openat(instance->programs, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = fd < 0 ? NULL : fdopendir(fd);
    if (!stream) {
        error_set(err, "unable to read %s/programs: %s", instance->path, strerror(errno));
        if (fd >= 0)
            close(fd);
        return -1;
    }
    for (struct dirent *entry; (entry = readdir(stream));) {
        uint64_t number;
        if (!ledger_read_number(entry->d_name, &number))
            continue;
        if (ledger_is_alive(instance, entry->d_name))
            ledger_add_live(live, number);
        else
            store_remove(instance->programs, entry->d_name); /* what resists holds nothing */
    }
    closedir(stream);
    if (live->count)
        qsort(live->numbers, live->count, sizeof(*live->numbers), ledger_compare_numbers);
    return 0;
}

int ledger_read_claim(struct instance *instance, uint64_t number, struct rset **held,
                      struct error *err)
{
    char name[64];
    size_t len;
    *held = NULL;
    if (instance->enclosing && number < IDSET_MAX &&
        idset_has(instance->enclosing, (uint32_t)number))
        return 0;
    snprintf(name, sizeof(name), "%llu/R.json", (unsigned long long)number);
    char *text = store_read(instance->programs, name, RSET_MAX_TEXT, &len);
    if (!text && errno == ENOENT)
        return 0;
    if (!text)
        error_set(err, "%s", strerror(errno));
    else
        *held = rset_decode(text, len, err);
    free(text);
    if (*held)
        return 0;
    return error_prefix(err, "unable to tell what program %llu holds: %s/programs/%s",
                        (unsigned long long)number, instance->path, name);
}

static struct rset *ledger_sum(struct instance *instance, const struct ledger_live *live,
                               struct error *err)
{
    struct rset **sets = mem_array(live->count, sizeof(*sets));
    struct rset *sum = NULL;
    size_t count = 0;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < live->count; i++) {
        rc = ledger_read_claim(instance, live->numbers[i], &sets[count], err);
        count += sets[count] != NULL;
    }
    if (rc == 0)
        sum = rset_union_hosts((const struct rset *const *)sets, count);
    for (size_t i = 0; i < count; i++)
        rset_free(sets[i]);
    free(sets);
    return sum;
}

struct rset *instance_held(struct instance *instance, struct error *err)
{
    struct ledger_live live = {0};
    struct rset *sum = NULL;
    int lock = ledger_lock(instance, err);
    if (lock < 0)
        return NULL;
    if (ledger_sweep(instance, &live, err) == 0)
        sum = ledger_sum(instance, &live, err);
    close(lock);
    free(live.numbers);
    return sum;
}
