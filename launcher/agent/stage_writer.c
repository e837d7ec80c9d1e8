/* Staged files on their way to the disk of a node. */
#include "launcher/agent/stage_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/xxhash64.h"

struct stage_writer {
    const struct stage_list *list;
    char *directory;
    size_t at;     /* the file that is written */
    int fd;        /* of it; -1: not open */
    uint64_t left; /* bytes of it */
    struct xxhash64 hash;
    uint64_t *sums; /* [list->count] of what came */
    bool stays;
};

/* Files of --stage are in a directory of their own, in which nothing else is. */
char *stage_writer_path(const char *directory, const struct staged_file *file)
{
    return mem_format("%s/%s%s", directory, file->kind == STAGE_FILE ? "stage/" : "", file->name);
}

/* The sentence has what is needed, and what there is. */
static int refuse_room(const struct stage_writer *writer, int number, struct error *err)
{
    struct statvfs disk;
    uint64_t room = statvfs(writer->directory, &disk) == 0 ? disk.f_bavail * disk.f_frsize : 0;
    char *needed = text_size(writer->list->size), *there = text_size(room);
    char *above = mem_copy_text(writer->directory), *slash = strrchr(above, '/');
    if (slash && slash > above)
        *slash = '\0';
    error_set(err,
              "cannot stage %zu file%s in %s: %s: %s are needed there, and %s are free (TMPDIR on "
              "that host may name another directory)",
              writer->list->count, text_plural(writer->list->count), above, strerror(number),
              needed, there);
    free(above);
    free(needed);
    free(there);
    return -1;
}

/* Where the file system cannot reserve, what is free is compared with what is needed. */
static int take_room(const struct stage_writer *writer, struct error *err)
{
    const struct stage_list *list = writer->list;
    struct statvfs disk;
    if (statvfs(writer->directory, &disk) == 0 && disk.f_blocks &&
        list->size > (uint64_t)disk.f_bavail * disk.f_frsize)
        return refuse_room(writer, ENOSPC, err);
    for (size_t i = 0; i < list->count; i++) {
        char *path = stage_writer_path(writer->directory, &list->files[i]);
        unlink(path); /* of a try before */
        int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
        int rc = fd < 0 ? -1 : 0;
        if (rc == 0 && list->files[i].size)
            rc = fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, (off_t)list->files[i].size);
        int number = errno;
        if (fd >= 0)
            close(fd);
        if (rc < 0 && number != EOPNOTSUPP && number != ENOSYS && number != EINTR) {
            if (number == ENOSPC || number == EDQUOT || number == EFBIG)
                refuse_room(writer, number, err);
            else
                error_set(err, "%s: cannot make it: %s", path, strerror(number));
            free(path);
            return -1;
        }
        free(path);
    }
    return 0;
}

static void writer_begin_file(struct stage_writer *writer)
{
    if (writer->at < writer->list->count)
        writer->left = writer->list->files[writer->at].size;
    xxhash64_begin(&writer->hash);
}

struct stage_writer *stage_writer_new(const struct stage_list *list, const char *directory,
                                      struct error *err)
{
    struct stage_writer *writer = mem_alloc(sizeof(*writer));
    *writer = (struct stage_writer){.list = list, .directory = mem_copy_text(directory), .fd = -1};
    writer->sums = mem_array(list->count, sizeof(*writer->sums));
    char *files = mem_format("%s/stage", directory);
    int rc = mkdir(files, 0700);
    if (rc < 0 && errno != EEXIST)
        error_set(err, "%s: cannot make it: %s", files, strerror(errno));
    else
        rc = take_room(writer, err);
    free(files);
    writer_begin_file(writer);
    if (rc == 0)
        return writer;
    stage_writer_free(writer);
    return NULL;
}

static void remove_files(const struct stage_writer *writer)
{
    for (size_t i = 0; i < writer->list->count; i++) {
        char *path = stage_writer_path(writer->directory, &writer->list->files[i]);
        unlink(path);
        free(path);
    }
}

void stage_writer_free(struct stage_writer *writer)
{
    if (!writer)
        return;
    if (writer->fd >= 0)
        close(writer->fd);
    if (!writer->stays)
        remove_files(writer);
    free(writer->directory);
    free(writer->sums);
    free(writer);
}

/* Those of no bytes, too. */
static int finish_files(struct stage_writer *writer, struct error *err)
{
    while (!writer->left && writer->at < writer->list->count) {
        const struct staged_file *file = &writer->list->files[writer->at];
        if (writer->fd >= 0 && close(writer->fd) < 0) {
            writer->fd = -1;
            return error_set(err, "%s: cannot stage it: %s", file->path, strerror(errno));
        }
        writer->fd = -1;
        writer->sums[writer->at++] = xxhash64_value(&writer->hash);
        writer_begin_file(writer);
    }
    return 0;
}

int stage_writer_add(struct stage_writer *writer, const void *bytes, size_t len, struct error *err)
{
    for (const char *at = bytes; len;) {
        if (finish_files(writer, err) < 0)
            return -1;
        if (writer->at == writer->list->count)
            return error_set(err, "more bytes of files to stage came than were announced");
        const struct staged_file *file = &writer->list->files[writer->at];
        size_t n = writer->left < len ? (size_t)writer->left : len;
        if (writer->fd < 0) {
            char *path = stage_writer_path(writer->directory, file);
            writer->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
            free(path);
        }
        if (writer->fd < 0 || file_write_all(writer->fd, at, n) < 0) {
            if (errno == ENOSPC || errno == EDQUOT || errno == EFBIG)
                return refuse_room(writer, errno, err);
            return error_set(err, "%s: cannot stage it: %s", file->path, strerror(errno));
        }
        xxhash64_add(&writer->hash, at, n);
        writer->left -= n;
        at += n;
        len -= n;
    }
    return finish_files(writer, err);
}

int stage_writer_end(struct stage_writer *writer, const uint64_t *sums, struct error *err)
{
    const struct stage_list *list = writer->list;
    if (finish_files(writer, err) < 0)
        return -1;
    for (size_t i = 0; i < list->count; i++) {
        const struct staged_file *file = &list->files[i];
        if (writer->at < list->count || writer->sums[i] != sums[i])
            return error_set(err,
                             "%s: what came here is not what was sent (checksum %016" PRIx64
                             ", expected %016" PRIx64 "): run it again",
                             file->path, writer->sums[i], sums[i]);
        char *path = stage_writer_path(writer->directory, file);
        int rc = chmod(path, file->mode);
        free(path);
        if (rc < 0)
            return error_set(err, "%s: cannot set the mode of its copy: %s", file->path,
                             strerror(errno));
    }
    return 0;
}

void stage_writer_keep(struct stage_writer *writer)
{
    writer->stays = true;
    stage_writer_free(writer);
}
