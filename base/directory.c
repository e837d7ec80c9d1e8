/* Directories for one user, and their removal with all that is in them. */
#include "base/directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEPTH_MAX 512 /* each level has a descriptor */

int directory_make_private(const char *path)
{
    struct stat there;
    if (mkdir(path, 0700) == 0)
        return 0;
    if (errno != EEXIST || lstat(path, &there) < 0)
        return -1;
    if (!S_ISDIR(there.st_mode)) {
        errno = S_ISLNK(there.st_mode) ? EPERM : ENOTDIR;
        return -1;
    }
    if (there.st_uid == geteuid() && !(there.st_mode & 077))
        return 0;
    errno = EPERM;
    return -1;
}

static void directory_empty(int fd, int depth);

static int remove_deep(int above, const char *name, int depth)
{
    if (unlinkat(above, name, 0) == 0 || errno == ENOENT)
        return 0;
    if (errno != EISDIR && errno != EPERM)
        return -1;
    int fd = -1;
    if (depth < DEPTH_MAX)
        fd = openat(above, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0)
        directory_empty(fd, depth);
    return unlinkat(above, name, AT_REMOVEDIR) == 0 || errno == ENOENT ? 0 : -1;
}

/* Takes the descriptor. */
static void directory_empty(int fd, int depth)
{
    DIR *stream = fdopendir(fd);
    if (!stream) {
        close(fd);
        return;
    }
    for (struct dirent *entry; (entry = readdir(stream));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            remove_deep(dirfd(stream), entry->d_name, depth + 1);
    closedir(stream);
}

int directory_remove(int above, const char *name)
{
    return remove_deep(above, name, 0);
}
