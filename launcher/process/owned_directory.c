/* Makes directories under a lock, and sweeps those whose owner has died. */
#include "launcher/process/owned_directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"

#define TRIES 1000 /* others may sweep it before it is locked */
#define LOCK_WAIT_MS 1000
#define LOOK_MAX 128 /* names that a look reads: well under a millisecond */
#define OPEN (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

static bool is_at(int fd, int above, const char *name)
{
    struct stat mine, there;
    return fstat(fd, &mine) == 0 && fstatat(above, name, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
           mine.st_dev == there.st_dev && mine.st_ino == there.st_ino;
}

/* Who sweeps holds the lock for a moment, or for as long as that process is stopped. */
static int lock_shared(int fd, const char *path)
{
    for (int ms = 0; flock(fd, LOCK_SH | LOCK_NB) < 0; ms++) {
        if (errno != EWOULDBLOCK || ms == LOCK_WAIT_MS || !is_at(fd, AT_FDCWD, path))
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
        if (fd >= 0 && lock_shared(fd, path) == 0 && is_at(fd, AT_FDCWD, path))
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

/* ---- sweeping ---- */

struct sweep {
    char *above, *prefix;
    void (*end)(const char *path);
};

static pthread_mutex_t sweeps_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t sweeps_over = PTHREAD_COND_INITIALIZER;
static unsigned sweeps; /* threads that have not come to their end */

static void sweep_free(struct sweep *sweep)
{
    free(sweep->above);
    free(sweep->prefix);
    free(sweep);
}

/* A descriptor of the entry with a lock that only who sweeps has; -1 if somebody owns it. Another may have swept what was
 * opened, and who makes a directory of that name another one, which is not locked. */
static int lock_dead(const struct sweep *sweep, int above, const char *name)
{
    struct stat info;
    if (strncmp(name, sweep->prefix, strlen(sweep->prefix)) != 0)
        return -1;
    /* Other users' entries, of which there may be many, cost no more than this look. */
    if (fstatat(above, name, &info, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISDIR(info.st_mode) ||
        info.st_uid != geteuid())
        return -1;
    int fd = openat(above, name, OPEN);
    if (fd < 0)
        return -1;
    if (fstat(fd, &info) == 0 && info.st_uid == geteuid() && flock(fd, LOCK_EX | LOCK_NB) == 0 &&
        is_at(fd, above, name))
        return fd;
    close(fd);
    return -1;
}

/* False where nothing is to be swept. Most starts find nothing, and a thread costs more than this;
 * a large directory is left to the thread. */
static bool sweep_look(const struct sweep *sweep)
{
    DIR *directory = opendir(sweep->above);
    if (!directory)
        return false;
    bool work = false;
    struct dirent *entry;
    for (int i = 0; !work && (entry = readdir(directory)); i++) {
        int fd = i < LOOK_MAX ? lock_dead(sweep, dirfd(directory), entry->d_name) : -1;
        work = i == LOOK_MAX || fd >= 0;
        if (fd >= 0)
            close(fd);
    }
    closedir(directory);
    return work;
}

static void *sweep_run(void *arg)
{
    struct sweep *sweep = arg;
    DIR *directory = opendir(sweep->above);
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        int fd = lock_dead(sweep, dirfd(directory), entry->d_name);
        if (fd < 0)
            continue;
        char *path = mem_format("%s/%s", sweep->above, entry->d_name);
        sweep->end(path);
        free(path);
        close(fd);
    }
    if (directory)
        closedir(directory);
    sweep_free(sweep);
    pthread_mutex_lock(&sweeps_lock);
    sweeps--;
    pthread_cond_broadcast(&sweeps_over);
    pthread_mutex_unlock(&sweeps_lock);
    return NULL;
}

void owned_directory_sweep(const char *above, const char *prefix, void (*end)(const char *path))
{
    struct sweep *sweep = mem_alloc(sizeof(*sweep));
    *sweep = (struct sweep){mem_copy_text(above), mem_copy_text(prefix), end};
    if (!sweep_look(sweep)) {
        sweep_free(sweep);
        return;
    }
    pthread_mutex_lock(&sweeps_lock);
    sweeps++;
    pthread_mutex_unlock(&sweeps_lock);
    /* Signals are the other threads'. */
    sigset_t all, before;
    pthread_t thread;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool beside = pthread_create(&thread, NULL, sweep_run, sweep) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (beside)
        pthread_detach(thread);
    else
        sweep_run(sweep);
}

void owned_directory_sweep_wait(double seconds)
{
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    long nanoseconds = end.tv_nsec + (long)(fmod(seconds, 1) * 1e9);
    end.tv_sec += (time_t)seconds + nanoseconds / 1000000000;
    end.tv_nsec = nanoseconds % 1000000000;
    pthread_mutex_lock(&sweeps_lock);
    while (sweeps && pthread_cond_timedwait(&sweeps_over, &sweeps_lock, &end) == 0)
        ;
    pthread_mutex_unlock(&sweeps_lock);
}
