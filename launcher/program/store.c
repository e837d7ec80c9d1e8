#include "launcher/program/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"

#define STORE_MAX_DEPTH 64

static int store_check_private(int fd, const char *path, struct error *err)
{
    struct stat st;
    if (fstat(fd, &st) < 0)
        return error_set(err, "unable to examine %s: %s", path, strerror(errno));
    if (st.st_uid != geteuid())
        return error_set(err,
                         "%s belongs to user %u, not to user %u who runs this: remove it, or name "
                         "another place with XDG_RUNTIME_DIR or TMPDIR",
                         path, (unsigned)st.st_uid, (unsigned)geteuid());
    if (st.st_mode & 077)
        return error_set(err, "%s has mode %04o and lets others in: chmod 700 it, or remove it",
                         path, (unsigned)(st.st_mode & 07777));
    return 0;
}

int store_open_private(int dir, const char *name, const char *path, struct error *err)
{
    int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    int fd = openat(dir, name, flags);
    if (fd < 0 && errno == ENOENT) {
        if (mkdirat(dir, name, 0700) < 0 && errno != EEXIST)
            return error_set(err, "unable to make %s: %s", path, strerror(errno));
        fd = openat(dir, name, flags);
    }
    if (fd < 0)
        return error_set(err, "unable to open the directory %s: %s", path, strerror(errno));
    if (store_check_private(fd, path, err) == 0)
        return fd;
    close(fd);
    return -1;
}

char *store_read_open(int fd, size_t max, size_t *len)
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

char *store_read(int dir, const char *name, size_t max, size_t *len)
{
    int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    char *text = store_read_open(fd, max, len);
    int saved = errno;
    close(fd);
    errno = saved;
    return text;
}

int store_write(int dir, const char *name, const void *bytes, size_t len)
{
    char draft[256];
    if ((size_t)snprintf(draft, sizeof(draft), ".%s.new", name) >= sizeof(draft)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    int fd = openat(dir, draft, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return -1;
    int rc = file_write_all(fd, bytes, len);
    if (close(fd) < 0)
        rc = -1;
    if (rc == 0 && renameat(dir, draft, dir, name) == 0)
        return 0;
    int saved = errno;
    unlinkat(dir, draft, 0);
    errno = saved;
    return -1;
}

int store_open_draft(int dir, char *name, size_t size)
{
    int fd;
    do {
        uint64_t chance = 0;
        (void)!getrandom(&chance, sizeof(chance), 0);
        snprintf(name, size, ".new-%d-%llx", (int)getpid(), (unsigned long long)chance);
        fd = openat(dir, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    } while (fd < 0 && errno == EEXIST);
    return fd;
}

int store_draft(int dir, char *name, size_t size, const void *bytes, size_t len)
{
    int fd = store_open_draft(dir, name, size);
    if (fd < 0)
        return -1;
    int rc = file_write_all(fd, bytes, len), saved = errno;
    if (close(fd) < 0 && rc == 0) {
        rc = -1;
        saved = errno;
    }
    if (rc < 0)
        unlinkat(dir, name, 0);
    errno = saved;
    return rc;
}

static int store_remove_deep(int dir, const char *name, int depth);

static int store_empty(int fd, int depth)
{
    DIR *stream = fdopendir(fd);
    if (!stream) {
        close(fd);
        return -1;
    }
    int rc = 0;
    for (struct dirent *entry; rc == 0 && (entry = readdir(stream));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            rc = store_remove_deep(dirfd(stream), entry->d_name, depth + 1);
    int saved = errno;
    closedir(stream);
    errno = saved;
    return rc;
}

static int store_remove_deep(int dir, const char *name, int depth)
{
    if (unlinkat(dir, name, 0) == 0 || errno == ENOENT)
        return 0;
    if (errno != EISDIR && errno != EPERM)
        return -1;
    if (depth > STORE_MAX_DEPTH) {
        errno = ELOOP;
        return -1;
    }
    int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? 0 : -1;
    if (store_empty(fd, depth) < 0)
        return -1;
    return unlinkat(dir, name, AT_REMOVEDIR) == 0 || errno == ENOENT ? 0 : -1;
}

int store_remove(int dir, const char *name)
{
    return store_remove_deep(dir, name, 0);
}

int store_lock(int fd, bool wait)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int rc = fcntl(fd, wait ? F_OFD_SETLKW : F_OFD_SETLK, &lock);
    if (rc < 0 && errno == EACCES)
        errno = EAGAIN;
    return rc;
}

bool store_locked(int fd)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    return fcntl(fd, F_OFD_GETLK, &lock) < 0 || lock.l_type != F_UNLCK;
}
