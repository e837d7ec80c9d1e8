#include "launcher/process/owned_directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

#define TRIES 1000 /* others may sweep it before it is locked */
#define LOCK_WAIT_MS 1000
#define OPEN (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

static bool is_at(int fd, const char *path)
{
    struct stat mine, there;
    return fstat(fd, &mine) == 0 && lstat(path, &there) == 0 && mine.st_dev == there.st_dev &&
           mine.st_ino == there.st_ino;
}

/* Who sweeps holds the lock for a moment, or for as long as that process is stopped. */
static int lock_shared(int fd, const char *path)
{
    for (int ms = 0; flock(fd, LOCK_SH | LOCK_NB) < 0; ms++) {
        if (errno != EWOULDBLOCK || ms == LOCK_WAIT_MS || !is_at(fd, path))
            return -1;
        usleep(1000);
    }
    return 0;
}

int owned_directory_make(const char *path, mode_t mode)
{
    for (int i = 0; i < TRIES; i++) {
        if (mkdir(path, mode) < 0)
            return -1;
        int fd = open(path, OPEN);
        if (fd >= 0 && lock_shared(fd, path) == 0 && is_at(fd, path))
            return fd;
        int number = errno;
        bool swept = access(path, F_OK) < 0;
        if (fd >= 0)
            close(fd);
        if (!swept)
            rmdir(path);
        errno = number;
        if (!swept)
            return -1;
    }
    errno = ENOENT;
    return -1;
}

void owned_directory_sweep(const char *above, const char *prefix, void (*end)(const char *path))
{
    DIR *directory = opendir(above);
    if (!directory)
        return;
    for (struct dirent *entry; (entry = readdir(directory));) {
        struct stat info;
        if (strncmp(entry->d_name, prefix, strlen(prefix)) != 0)
            continue;
        int fd = openat(dirfd(directory), entry->d_name, OPEN);
        if (fd < 0)
            continue;
        if (fstat(fd, &info) == 0 && info.st_uid == geteuid() &&
            flock(fd, LOCK_EX | LOCK_NB) == 0) {
            char *path = mem_format("%s/%s", above, entry->d_name);
            end(path);
            free(path);
        }
        close(fd);
    }
    closedir(directory);
}
