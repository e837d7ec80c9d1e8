/* Directories that only their user may enter, and their files: written whole, locked. For the files of the
 * ledger. */
#include "launcher/ledger/private_directory.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"

/* "ann (1000)", or "user 1000" where it has no name. Caller frees. */
static char *store_user(uid_t uid)
{
    const struct passwd *user = getpwuid(uid);
    return user ? mem_format("%s (%u)", user->pw_name, (unsigned)uid)
                : mem_format("user %u", (unsigned)uid);
}

static int store_refuse_owner(const char *path, const struct stat *st, struct error *err)
{
    char *owner = store_user(st->st_uid), *own = store_user(geteuid());
    error_set(err, "%s %s %s, not to %s who runs this: %s%s has to remove it", path,
              S_ISLNK(st->st_mode) ? "is a symbolic link that belongs to" : "belongs to", owner,
              own, owner, st->st_uid ? " or root" : "");
    free(owner);
    free(own);
    return -1;
}

/* Why it could not be opened. */
static int store_refuse_entry(int dir, const char *name, const char *path, struct error *err)
{
    int why = errno;
    struct stat st;
    bool there = fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
    if (there && st.st_uid != geteuid())
        store_refuse_owner(path, &st, err);
    else if (there && !S_ISDIR(st.st_mode))
        error_set(err, "%s is %s, expected a directory: remove it", path,
                  S_ISLNK(st.st_mode) ? "a symbolic link" : "a file");
    else
        error_set(err, "cannot open the directory %s: %s", path, strerror(why));
    errno = why;
    return -1;
}

static int store_check_private(int fd, const char *path, struct error *err)
{
    struct stat st;
    if (fstat(fd, &st) < 0)
        return error_set(err, "cannot examine %s: %s", path, strerror(errno));
    if (st.st_uid != geteuid())
        return store_refuse_owner(path, &st, err);
    if (st.st_mode & 077)
        return error_set(err, "%s has mode %04o and lets others in: chmod 700 it, or remove it",
                         path, (unsigned)(st.st_mode & 07777));
    return 0;
}

int private_directory_open_private(int dir, const char *name, const char *path, struct error *err)
{
    int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    int fd = openat(dir, name, flags);
    if (fd < 0 && errno == ENOENT) {
        if (mkdirat(dir, name, 0700) < 0 && errno != EEXIST)
            return error_set(err, "cannot make the directory %s: %s", path, strerror(errno));
        fd = openat(dir, name, flags);
    }
    if (fd < 0)
        return store_refuse_entry(dir, name, path, err);
    if (store_check_private(fd, path, err) == 0)
        return fd;
    close(fd);
    return -1;
}

char *private_directory_read_open(int fd, size_t max, size_t *len)
{
    struct stat st;
    if (fstat(fd, &st) < 0)
        return NULL;
    if (!S_ISREG(st.st_mode) || st.st_size < 0 || (size_t)st.st_size > max) {
        errno = S_ISREG(st.st_mode) ? EFBIG : EINVAL;
        return NULL;
    }
    size_t size = (size_t)st.st_size;
    char *text = mem_alloc(size + 1);
    *len = 0;
    while (*len < size) {
        ssize_t n = read(fd, text + *len, size - *len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            free(text);
            return NULL;
        }
        if (n == 0)
            break;
        *len += (size_t)n;
    }
    return text;
}

char *private_directory_read(int dir, const char *name, size_t max, size_t *len)
{
    int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    char *text = private_directory_read_open(fd, max, len);
    int saved = errno;
    close(fd);
    errno = saved;
    return text;
}

/* Over what is there, and no shorter on the way: ext4 flushes a file that was made empty. */
static int store_overwrite(int fd, const void *bytes, size_t len)
{
    struct stat st;
    if (file_write_all(fd, bytes, len) < 0 || fstat(fd, &st) < 0)
        return -1;
    return (uint64_t)st.st_size > len ? ftruncate(fd, (off_t)len) : 0;
}

static int store_put(int dir, const char *draft, const char *name, bool is_new)
{
    if (is_new && renameat2(dir, draft, dir, name, RENAME_NOREPLACE) == 0)
        return 0;
    if (renameat2(dir, draft, dir, name, RENAME_EXCHANGE) == 0 ||
        (errno == ENOENT && renameat2(dir, draft, dir, name, RENAME_NOREPLACE) == 0))
        return 0;
    return errno == EINVAL || errno == ENOSYS ? renameat(dir, draft, dir, name) : -1;
}

static int store_write(int dir, const char *name, const void *bytes, size_t len, bool is_new)
{
    char draft[256];
    if ((size_t)snprintf(draft, sizeof(draft), ".%s.new", name) >= sizeof(draft)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    int fd = openat(dir, draft, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return -1;
    int rc = store_overwrite(fd, bytes, len);
    if (close(fd) < 0)
        rc = -1;
    if (rc == 0 && store_put(dir, draft, name, is_new) == 0)
        return 0;
    int saved = errno;
    unlinkat(dir, draft, 0);
    errno = saved;
    return -1;
}

int private_directory_write(int dir, const char *name, const void *bytes, size_t len)
{
    return store_write(dir, name, bytes, len, false);
}

int private_directory_write_new(int dir, const char *name, const void *bytes, size_t len)
{
    return store_write(dir, name, bytes, len, true);
}

void private_directory_undo(int dir, const char *name, bool was_there)
{
    char draft[256];
    if ((size_t)snprintf(draft, sizeof(draft), ".%s.new", name) < sizeof(draft))
        renameat2(dir, name, dir, draft, was_there ? RENAME_EXCHANGE : RENAME_NOREPLACE);
}

int private_directory_lock(int fd, bool wait)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int rc = fcntl(fd, wait ? F_OFD_SETLKW : F_OFD_SETLK, &lock);
    if (rc < 0 && errno == EACCES)
        errno = EAGAIN;
    return rc;
}

int private_directory_lock_byte(int fd, uint64_t at)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = (off_t)at, .l_len = 1};
    int rc = fcntl(fd, F_OFD_SETLK, &lock);
    if (rc < 0 && errno == EACCES)
        errno = EAGAIN;
    return rc;
}

void private_directory_unlock_byte(int fd, uint64_t at)
{
    struct flock lock = {.l_type = F_UNLCK, .l_whence = SEEK_SET, .l_start = (off_t)at, .l_len = 1};
    fcntl(fd, F_OFD_SETLK, &lock);
}

bool private_directory_is_locked(int fd, uint64_t at)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = (off_t)at, .l_len = 1};
    return fcntl(fd, F_OFD_GETLK, &lock) < 0 || lock.l_type != F_UNLCK;
}

/* The kernel names any one lock of a range: what is below it and above it is asked for again. */
static int store_each_between(int fd, off_t first, off_t end, void (*each)(uint64_t at, void *arg),
                              void *arg)
{
    while (end == 0 || first < end) {
        struct flock lock = {.l_type = F_WRLCK,
                             .l_whence = SEEK_SET,
                             .l_start = first,
                             .l_len = end ? end - first : 0};
        if (fcntl(fd, F_OFD_GETLK, &lock) < 0)
            return -1;
        if (lock.l_type == F_UNLCK)
            return 0;
        if (lock.l_start > first && store_each_between(fd, first, lock.l_start, each, arg) < 0)
            return -1;
        if (lock.l_start >= first)
            each((uint64_t)lock.l_start, arg);
        if (lock.l_len == 0)
            return 0;
        first = lock.l_start + lock.l_len;
    }
    return 0;
}

int private_directory_each_locked(int fd, uint64_t first, void (*each)(uint64_t at, void *arg),
                                  void *arg)
{
    return store_each_between(fd, (off_t)first, 0, each, arg);
}
