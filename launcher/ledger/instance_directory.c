/* The directory of an instance, for resources.c and enclosing_program.c: where it is, and what is in it. */
#include "launcher/ledger/instance_directory.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "config.h"
#include "launcher/ledger/instance_lock_private.h"
#include "launcher/ledger/instance_private.h"
#include "launcher/ledger/private_directory.h"

#define LEDGER_IDENTITY_MAX 65536
#define LEDGER_SLUG 24 /* readable bytes of an instance's name; sockets want short paths */

/* Its place does not depend on how the user came in: all runs have to find the same claims. */
static char *ledger_root_path(void)
{
    const char *chosen = getenv("TPRUN_RUNTIME_DIR");
    char *path = chosen && *chosen ? mem_copy_text(chosen)
                                   : mem_format("%s/tprun-%u", RUNTIME_PARENT, (unsigned)geteuid());
    for (size_t len = strlen(path); len > 1 && path[len - 1] == '/'; len--)
        path[len - 1] = '\0'; /* a symbolic link would be followed */
    return path;
}

/* The directory of all instances of this user, and its path. */
int instance_open_root(char **path, struct error *err)
{
    *path = ledger_root_path();
    if (**path != '/')
        return error_set(err, "TPRUN_RUNTIME_DIR: expected an absolute path, got \"%s\"", *path);
    int root = private_directory_open_private(AT_FDCWD, *path, *path, err);
    if (root >= 0)
        flock(root, LOCK_SH | LOCK_NB); /* tmpfiles.d(5): what is locked is not cleaned away */
    return root;
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

static int ledger_fill_identity(struct instance *instance, const char *identity, struct error *err)
{
    if (faccessat(instance->dir, "identity", F_OK, AT_SYMLINK_NOFOLLOW) == 0)
        return 0;
    /* Two may write this at once: both write the same, and the loser of a rename is no failure. */
    char *text = mem_format("%s\n", identity);
    int rc = private_directory_write(instance->dir, "identity", text, strlen(text));
    free(text);
    if (rc < 0 && errno != ENOENT)
        return error_set(err, "cannot write %s/identity: %s", instance->path, strerror(errno));
    return 0;
}

static bool ledger_read_id(struct instance *instance)
{
    size_t len = 0;
    char *text = private_directory_read(instance->dir, "id", LEDGER_ID, &len);
    bool good = text && len == LEDGER_ID && strspn(text, "0123456789abcdef") == LEDGER_ID;
    if (good)
        memcpy(instance->id, text, LEDGER_ID + 1);
    free(text);
    return good;
}

static int ledger_fill_id(struct instance *instance, struct error *err)
{
    struct ledger_lock lock;
    uint64_t number;
    int rc = 0;
    if (ledger_read_id(instance))
        return 0;
    if (ledger_lock(instance, "lock", &lock, err) < 0)
        return -1;
    if (!ledger_read_id(instance)) {
        if (getrandom(&number, sizeof(number), 0) != sizeof(number))
            number = ((uint64_t)getpid() << 32) ^ clock_wall_ns();
        snprintf(instance->id, sizeof(instance->id), "%016llx", (unsigned long long)number);
        rc = private_directory_write(instance->dir, "id", instance->id, LEDGER_ID);
    }
    if (rc < 0)
        error_set(err, "cannot write %s/id: %s", instance->path, strerror(errno));
    ledger_unlock(&lock);
    return rc;
}

static int ledger_open_alive(struct instance *instance, struct error *err)
{
    int flags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC;
    instance->alive = openat(instance->dir, "alive", flags);
    if (instance->alive < 0 && errno == ENOENT)
        instance->alive = openat(instance->dir, "alive", flags | O_CREAT, 0600);
    if (instance->alive < 0)
        return error_set(err, "cannot open %s/alive: %s", instance->path, strerror(errno));
    return 0;
}

/* The instance of a directory that is open (taken over, as the path is), with all in it. */
static struct instance *ledger_open_dir(int dir, char *path, const char *identity,
                                        struct error *err)
{
    struct instance *instance = mem_alloc(sizeof(*instance));
    *instance = (struct instance){
        .path = path, .root = -1, .dir = dir, .programs = -1, .alive = -1, .gone = idset_new()};
    char *programs = mem_format("%s/programs", path);
    if (dir >= 0)
        instance->programs = private_directory_open_private(dir, "programs", programs, err);
    free(programs);
    if (instance->programs >= 0 && ledger_open_alive(instance, err) == 0 &&
        (!identity || ledger_fill_identity(instance, identity, err) == 0) &&
        ledger_fill_id(instance, err) == 0)
        return instance;
    instance_close(instance);
    return NULL;
}

struct instance *instance_open(const char *identity, struct error *err)
{
    char *root_path = NULL;
    int root = instance_open_root(&root_path, err);
    struct instance *instance = NULL;
    if (root >= 0) {
        char *name = ledger_name(identity);
        char *path = mem_format("%s/%s", root_path, name);
        int dir = private_directory_open_private(root, name, path, err);
        instance = ledger_open_dir(dir, path, identity, err);
        free(name);
    }
    if (instance)
        instance->root = root;
    else if (root >= 0)
        close(root);
    free(root_path);
    return instance;
}

struct instance *instance_open_path(const char *path, struct error *err)
{
    struct stat st;
    int dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    bool known = dir >= 0 && fstat(dir, &st) == 0;
    if (!known)
        error_set(err, "%s: cannot open the instance: %s", path, strerror(errno));
    else if (st.st_uid != geteuid())
        error_set(err, "%s: the instance belongs to another user", path);
    else if (st.st_mode & 077)
        error_set(err, "%s has mode %04o and lets others in: chmod 700 it", path,
                  (unsigned)(st.st_mode & 07777));
    else if (faccessat(dir, "id", F_OK, AT_SYMLINK_NOFOLLOW) < 0)
        error_set(err, "%s is no instance of tprun", path);
    else
        return ledger_open_dir(dir, mem_copy_text(path), NULL, err);
    if (dir >= 0)
        close(dir);
    return NULL;
}

struct instance *instance_open_outer(const char *path, const char *id)
{
    struct instance *instance = instance_open_path(path, NULL);
    if (instance && strncmp(instance->id, id, LEDGER_ID) == 0)
        return instance;
    instance_close(instance);
    return NULL;
}

/* The register of a host (host_register.h) is an instance, too. */
static bool is_for_programs(int root, const char *name)
{
    char *path = mem_format("%s/identity", name);
    size_t len;
    char *text = private_directory_read(root, path, LEDGER_IDENTITY_MAX, &len);
    bool is = text && strcmp(text, INSTANCE_REGISTER "\n") != 0;
    free(text);
    free(path);
    return is;
}

int instance_each(void (*each)(void *arg, const char *path), void *arg, struct error *err)
{
    struct stat st;
    char *root_path = ledger_root_path();
    bool there = lstat(root_path, &st) == 0;
    int root = there ? private_directory_open_private(AT_FDCWD, root_path, root_path, err) : -1;
    DIR *stream = root < 0 ? NULL : fdopendir(root);
    for (const struct dirent *entry; stream && (entry = readdir(stream));)
        if (entry->d_name[0] != '.' && is_for_programs(dirfd(stream), entry->d_name)) {
            char *path = mem_format("%s/%s", root_path, entry->d_name);
            each(arg, path);
            free(path);
        }
    if (stream)
        closedir(stream);
    else if (root >= 0)
        close(root);
    free(root_path);
    return there && !stream ? -1 : 0;
}

char *instance_identity(const struct instance *instance)
{
    size_t len;
    char *text = private_directory_read(instance->dir, "identity", LEDGER_IDENTITY_MAX, &len);
    if (text)
        text[strcspn(text, "\n")] = '\0';
    return text ? text : mem_copy_text("");
}

void instance_close(struct instance *instance)
{
    if (!instance)
        return;
    if (instance->programs >= 0)
        close(instance->programs);
    if (instance->alive >= 0)
        close(instance->alive);
    if (instance->dir >= 0)
        close(instance->dir);
    if (instance->root >= 0)
        close(instance->root);
    idset_free(instance->enclosing);
    idset_free(instance->gone);
    free(instance->within);
    free(instance->path);
    free(instance);
}

void instance_draw_from(struct instance *instance, const char *programs)
{
    idset_free(instance->enclosing);
    free(instance->within);
    instance->enclosing = idset_decode(programs, NULL);
    instance->within = instance->enclosing ? idset_encode(instance->enclosing) : NULL;
    if (instance->within && !*instance->within) {
        free(instance->within);
        instance->within = NULL;
    }
}

const char *instance_path(const struct instance *instance)
{
    return instance->path;
}

const char *instance_name(const struct instance *instance)
{
    const char *slash = strrchr(instance->path, '/');
    return slash ? slash + 1 : instance->path;
}

const char *instance_id(const struct instance *instance)
{
    return instance->id;
}

const char *instance_within(const struct instance *instance)
{
    return instance->within ? instance->within : "-";
}
