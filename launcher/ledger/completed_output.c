/* Files of saved output on their way from a program's directory to the state directory. */
#include "launcher/ledger/completed_output.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/directory.h"
#include "launcher/ledger/instance_private.h"
#include "launcher/ledger/private_directory.h"

#define OUTPUT_PLACE "saved"
#define OUTPUT_NAME "output."
#define OUTPUT_MOVED "moved"   /* a mark: it stays only for those who read it */
#define OUTPUT_AGE (24 * 3600) /* seconds */
#define OUTPUT_PIECE (16u << 20)

static bool is_output(const char *name)
{
    size_t len = strlen(OUTPUT_NAME);
    return strncmp(name, OUTPUT_NAME, len) == 0 && name[len] &&
           name[len + strspn(name + len, "0123456789")] == '\0';
}

/* Calls `each` with the name of every file of output in the directory, until one fails. 0; -1 with errno. */
static int each_output(int dir, int (*each)(int dir, const char *name, void *arg), void *arg)
{
    int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = fd < 0 ? NULL : fdopendir(fd);
    int rc = stream ? 0 : -1;
    for (const struct dirent *entry; rc == 0 && (entry = readdir(stream));)
        if (is_output(entry->d_name))
            rc = each(dir, entry->d_name, arg);
    int why = errno;
    if (stream)
        closedir(stream);
    else if (fd >= 0)
        close(fd);
    errno = why;
    return rc;
}

static int open_place(const struct instance *instance)
{
    return openat(instance->dir, OUTPUT_PLACE, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static int open_below(int place, const char *name)
{
    return openat(place, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* ---- taking ---- */

bool completed_output_is_in(int dir)
{
    return faccessat(dir, COMPLETED_OUTPUT_FIRST, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static int take_one(int dir, const char *name, void *to)
{
    return renameat(dir, name, *(int *)to, name);
}

bool completed_output_take(struct instance *instance, const char *id, int dir)
{
    bool good = mkdirat(instance->dir, OUTPUT_PLACE, 0700) == 0 || errno == EEXIST;
    int place = good ? open_place(instance) : -1;
    if (place >= 0) /* of a program that had this number before, whose record is lost */
        directory_remove(place, id);
    good = place >= 0 && mkdirat(place, id, 0700) == 0;
    int to = good ? open_below(place, id) : -1;
    good = to >= 0 && each_output(dir, take_one, &to) == 0;
    int why = errno;
    if (to >= 0)
        close(to);
    if (place >= 0)
        close(place);
    errno = why;
    return good;
}

/* ---- copying ---- */

static int copy_bytes(int from, int to)
{
    ssize_t n;
    do
        n = sendfile(to, from, NULL, OUTPUT_PIECE);
    while (n > 0 || (n < 0 && errno == EINTR));
    return n < 0 ? -1 : 0;
}

static int copy_one(int dir, const char *name, void *arg)
{
    int to = *(int *)arg;
    if (linkat(dir, name, to, name, 0) == 0)
        return 0;
    int in = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    int out =
        in < 0 ? -1 : openat(to, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    int rc = out < 0 ? -1 : copy_bytes(in, out);
    if (out >= 0 && close(out) < 0)
        rc = -1;
    int why = errno;
    if (in >= 0)
        close(in);
    errno = why;
    return rc;
}

int completed_output_copy(int from, int to)
{
    return each_output(from, copy_one, &to);
}

int completed_output_open(const struct instance *instance, const char *id)
{
    int place = open_place(instance);
    int dir = place < 0 ? -1 : open_below(place, id);
    if (place >= 0)
        close(place);
    return dir;
}

/* ---- in the state directory ---- */

static int add_size(int dir, const char *name, void *sum)
{
    struct stat st;
    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
        *(uint64_t *)sum += (uint64_t)st.st_size;
    return 0;
}

uint64_t completed_output_size(int dir, const char *name)
{
    uint64_t sum = 0;
    int fd = open_below(dir, name);
    if (fd >= 0 && completed_output_is_in(fd))
        each_output(fd, add_size, &sum);
    if (fd >= 0)
        close(fd);
    return sum;
}

static int remove_output(int dir, const char *name, void *arg)
{
    (void)arg;
    unlinkat(dir, name, 0);
    return 0;
}

void completed_output_remove(int dir, const char *name)
{
    int fd = open_below(dir, name);
    if (fd < 0)
        return;
    each_output(fd, remove_output, NULL);
    close(fd);
}

/* ---- moved ---- */

/* True if a process reads this file or one beside it. While *lock is open no other process begins to read; -1: no lock. */
static bool is_read(int dir, int *lock)
{
    *lock = dir < 0 ? -1 : openat(dir, COMPLETED_OUTPUT_FIRST, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    return *lock >= 0 && private_directory_lock_byte(*lock, COMPLETED_OUTPUT_READERS) < 0 &&
           errno == EAGAIN;
}

/* What is linked to the state directory is the same file there. */
static bool is_linked(int file)
{
    struct stat st;
    return file >= 0 && fstat(file, &st) == 0 && st.st_nlink > 1;
}

/* True: it is read, and stays. */
static bool remove_unless_read(int place, const char *id)
{
    int lock, dir = open_below(place, id);
    bool stays = is_read(dir, &lock) && !is_linked(lock);
    int mark = stays ? openat(dir, OUTPUT_MOVED, O_WRONLY | O_CREAT | O_CLOEXEC, 0600) : -1;
    if (!stays)
        directory_remove(place, id);
    if (mark >= 0)
        close(mark);
    if (lock >= 0)
        close(lock);
    if (dir >= 0)
        close(dir);
    return stays;
}

static bool was_moved(int place, const char *id)
{
    int dir = open_below(place, id);
    bool was = dir >= 0 && faccessat(dir, OUTPUT_MOVED, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
    if (dir >= 0)
        close(dir);
    return was;
}

void completed_output_take_for_readers(struct instance *instance, const char *id, int dir)
{
    int lock;
    completed_output_tidy(instance); /* nobody else may come who does */
    if (is_read(dir, &lock) && completed_output_take(instance, id, dir))
        completed_output_moved(instance, id);
    if (lock >= 0)
        close(lock);
}

void completed_output_moved(struct instance *instance, const char *id)
{
    int place = open_place(instance);
    if (place < 0)
        return;
    remove_unless_read(place, id);
    close(place);
}

bool completed_output_is_read(struct instance *instance, const char *id)
{
    int place = open_place(instance);
    bool read = place >= 0 && was_moved(place, id) && remove_unless_read(place, id);
    if (place >= 0)
        close(place);
    return read;
}

void completed_output_drop(struct instance *instance, const char *id)
{
    int place = open_place(instance);
    if (place < 0)
        return;
    directory_remove(place, id);
    close(place);
}

void completed_output_tidy(struct instance *instance)
{
    struct stat st;
    int place = open_place(instance);
    DIR *stream = place < 0 ? NULL : fdopendir(place);
    for (const struct dirent *entry; stream && (entry = readdir(stream));) {
        const char *id = entry->d_name;
        if (*id == '.')
            continue;
        if (was_moved(place, id))
            remove_unless_read(place, id);
        else if (fstatat(place, id, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
                 st.st_ctime + OUTPUT_AGE < time(NULL))
            directory_remove(place, id);
    }
    if (stream)
        closedir(stream);
    else if (place >= 0)
        close(place);
}
