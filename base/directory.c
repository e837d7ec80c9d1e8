#include "base/directory.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

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
