/* Opens files of output by name, closes those that are too many, and knows which names are one file. */
#include "launcher/stdio/output_files.h"

#include <errno.h>
#include <fcntl.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

/* A name that leads to a file; a file may have several. */
struct file_name {
    char *text;
    struct file *file;
};

static int name_order(const void *left, const void *right)
{
    const struct file_name *a = left, *b = right;
    return strcmp(a->text, b->text);
}

static void name_free(void *name)
{
    free(((struct file_name *)name)->text);
    free(name);
}

static void name_keep(void *name)
{
    (void)name;
}

static int id_order(const void *left, const void *right)
{
    const struct file *a = left, *b = right;
    if (a->dev != b->dev)
        return a->dev > b->dev ? 1 : -1;
    return (a->ino > b->ino) - (a->ino < b->ino);
}

void output_files_init(struct output_files *files, struct ev_loop *loop, unsigned labels, bool raw,
                       double patience, void (*changed)(void *arg, struct line_writer *dest),
                       void *arg)
{
    struct rlimit limit;
    *files =
        (struct output_files){.loop = loop, .labels = labels, .raw = raw, .patience = patience};
    files->changed = changed;
    files->arg = arg;
    bool known = getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur >= 4;
    files->most = known ? limit.rlim_cur / 2 : 1;
    TAILQ_INIT(&files->all);
    TAILQ_INIT(&files->recent);
}

static struct file *file_new(struct output_files *files, const char *name, const struct stat *st)
{
    struct file *file = mem_alloc(sizeof(*file));
    line_writer_init(&file->dest, files->loop, files->labels, files->raw, files->patience,
                     files->changed, files->arg);
    file->name = mem_copy_text(name);
    TAILQ_INSERT_TAIL(&files->all, file, next);
    if (st) {
        file->dev = st->st_dev;
        file->ino = st->st_ino;
        tsearch(file, &files->by_id, id_order);
    }
    return file;
}

static struct file *files_same(struct output_files *files, const struct stat *st)
{
    struct file key = {.dev = st->st_dev, .ino = st->st_ino};
    struct file **node = tfind(&key, &files->by_id, id_order);
    return node ? *node : NULL;
}

struct file *output_files_descriptor(struct output_files *files, int fd, const char *name)
{
    struct stat st;
    bool known = fstat(fd, &st) == 0;
    struct file *file = known ? files_same(files, &st) : NULL;
    if (file)
        return file;
    file = file_new(files, name, known ? &st : NULL);
    file->descriptor = true;
    nonblocking_writer_borrow(&file->dest.sink, fd);
    return file;
}

/* The descriptor is open, and the most recently used. */
static void files_opened(struct output_files *files, struct file *file, int fd)
{
    nonblocking_writer_take(&file->dest.sink, fd);
    if (!file->closable)
        return;
    TAILQ_INSERT_HEAD(&files->recent, file, recent);
    files->open++;
}

static void files_close(struct output_files *files, struct file *file)
{
    TAILQ_REMOVE(&files->recent, file, recent);
    files->open--;
    nonblocking_writer_close(&file->dest.sink);
}

static bool files_close_oldest(struct output_files *files)
{
    struct file *file;
    TAILQ_FOREACH_REVERSE(file, &files->recent, file_list, recent)
    {
        if (line_writer_busy(&file->dest))
            continue;
        files_close(files, file);
        return true;
    }
    return false;
}

/* O_NONBLOCK: a FIFO without a reader must not stop the loop here. */
static int files_open(struct output_files *files, const char *path)
{
    int flags = O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    if (files->open >= files->most)
        files_close_oldest(files);
    for (;;) {
        int fd = open(path, flags, 0666);
        if (fd >= 0)
            return fd;
        if (errno == EINTR || ((errno == EMFILE || errno == ENFILE) && files_close_oldest(files)))
            continue;
        return -1;
    }
}

static int files_refuse(const struct output_files *files, const char *path, struct error *err)
{
    const char *hint = errno == ENOENT && !files->make_dirs
                           ? "; directories are not made, its own must exist"
                       : errno == ENXIO ? "; nothing reads from it"
                                        : "";
    return error_set(err, "cannot open %s: %s%s", path, strerror(errno), hint);
}

/* What was opened is the file that it is: one that is known, or a new one, emptied. */
static struct file *files_identify(struct output_files *files, const char *path, int fd)
{
    struct stat st;
    if (fstat(fd, &st) < 0)
        return NULL;
    struct file *file = files_same(files, &st);
    if (file) {
        close(fd);
        return file;
    }
    bool regular = S_ISREG(st.st_mode);
    if (regular && st.st_size && ftruncate(fd, 0) < 0)
        return NULL;
    file = file_new(files, path, &st);
    file->closable = regular;
    files_opened(files, file, fd);
    return file;
}

struct file *output_files_named(struct output_files *files, const char *path, struct error *err)
{
    struct file_name key = {.text = (char *)path};
    struct file_name **node = tfind(&key, &files->by_name, name_order);
    if (node)
        return (*node)->file;
    int fd = files_open(files, path);
    if (fd < 0 && errno == ENOENT && files->make_dirs) {
        /* What cannot be made is said when the file is opened. */
        char *copy = mem_copy_text(path);
        for (char *slash = copy; (slash = strchr(slash + 1, '/'));) {
            *slash = '\0';
            mkdir(copy, 0777);
            *slash = '/';
        }
        free(copy);
        fd = files_open(files, path);
    }
    struct file *file = fd < 0 ? NULL : files_identify(files, path, fd);
    if (!file) {
        files_refuse(files, path, err);
        if (fd >= 0)
            close(fd);
        return NULL;
    }
    struct file_name *name = mem_alloc(sizeof(*name));
    name->text = mem_copy_text(path);
    name->file = file;
    tsearch(name, &files->by_name, name_order);
    return file;
}

int output_files_ready(struct output_files *files, struct file *file, struct error *err)
{
    if (!file->closable || file->dest.sink.error)
        return 0;
    if (file->dest.sink.fd < 0) {
        int fd = files_open(files, file->name);
        if (fd < 0)
            return files_refuse(files, file->name, err);
        files_opened(files, file, fd);
    } else if (TAILQ_FIRST(&files->recent) != file) {
        TAILQ_REMOVE(&files->recent, file, recent);
        TAILQ_INSERT_HEAD(&files->recent, file, recent);
    }
    return 0;
}

void output_files_flush(struct output_files *files)
{
    struct file *file;
    TAILQ_FOREACH(file, &files->all, next)
    line_writer_flush(&file->dest);
    while ((file = TAILQ_FIRST(&files->recent)))
        files_close(files, file);
}

void output_files_free(struct output_files *files)
{
    struct file *file;
    tdestroy(files->by_name, name_free);
    tdestroy(files->by_id, name_keep);
    while ((file = TAILQ_FIRST(&files->all))) {
        TAILQ_REMOVE(&files->all, file, next);
        line_writer_free(&file->dest);
        free(file->name);
        free(file);
    }
}
