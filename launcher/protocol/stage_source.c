/* Files to stage: opened where they are, or kept as they come. */
#include "launcher/protocol/stage_source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"
#include "base/mem.h"
#include "launcher/spec/spec.h"
#include "launcher/spec/spec_check.h"

struct stage_source {
    struct stage_list list;
    int *fds;       /* [count] of the files; NULL: they come */
    int kept;       /* of those that come: all of them, one behind the other; -1 */
    uint64_t bytes; /* of these so far */
    size_t at;      /* the file that was read last */
    uint64_t first; /* where it begins in the stream */
};

/* ---- opened ---- */

static int refuse_kind(const struct stat *info, const char *option, const char *path,
                       struct error *err)
{
    if (S_ISDIR(info->st_mode))
        return error_set(err,
                         "%s %s: is a directory, and only files are staged: put it into an archive "
                         "first (tar -cf), or give each of its files",
                         option, path);
    return error_set(err, "%s %s: is not a regular file", option, path);
}

/* NULL with a sentence. Caller frees. */
static char *absolute_path(const char *path, const char *option, const struct spec *spec,
                           struct error *err)
{
    char here[] = ".", *directory = NULL;
    if (*path != '/')
        directory = spec->directory ? mem_copy_text(spec->directory) : realpath(here, NULL);
    char *absolute = *path == '/' || directory ? stage_path(path, directory) : NULL;
    if (!absolute)
        error_set(err, "%s %s: cannot tell in which directory that is: %s", option, path,
                  strerror(errno));
    free(directory);
    return absolute;
}

static int source_open_file(struct stage_source *source, const struct spec *spec,
                            const struct staged_file *what, struct error *err)
{
    static const char *const options[] = {"--stage", "--prolog", "--epilog"};
    const char *option = options[what->kind];
    struct staged_file file = *what;
    struct stat info;
    file.path = absolute_path(file.path, option, spec, err);
    if (!file.path)
        return -1;
    int fd = open(file.path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK), rc = -1;
    if (fd < 0 || fstat(fd, &info) < 0)
        error_set(err, "%s %s: cannot read it: %s", option, file.path, strerror(errno));
    else if (!S_ISREG(info.st_mode))
        refuse_kind(&info, option, file.path, err);
    else if (file.kind != STAGE_FILE && !(info.st_mode & 0111))
        error_set(err, "%s %s: is not executable: chmod +x makes it so", option, file.path);
    else
        rc = 0;
    if (rc == 0) {
        file.mode = info.st_mode & STAGE_MODE;
        file.size = (uint64_t)info.st_size;
        source->fds = array_grow(source->fds, source->list.count, sizeof(*source->fds));
        source->fds[source->list.count] = fd;
        stage_list_add(&source->list, &file);
    } else if (fd >= 0) {
        close(fd);
    }
    free(file.path);
    return rc;
}

struct stage_source *stage_source_open(const struct spec *spec, struct error *err)
{
    struct stage_source *source = mem_alloc(sizeof(*source));
    const struct staged_file hooks[] = {{.kind = STAGE_PROLOG, .path = spec->prolog},
                                        {.kind = STAGE_EPILOG, .path = spec->epilog}};
    int rc = 0;
    source->kept = -1;
    for (size_t i = 0; spec->stage && spec->stage[i] && rc == 0; i++) {
        struct staged_file file = {.kind = STAGE_FILE};
        spec_stage_split(spec->stage[i], &file.path, &file.name);
        rc = source_open_file(source, spec, &file, err);
        free(file.path);
        free(file.name);
    }
    for (size_t i = 0; i < sizeof(hooks) / sizeof(hooks[0]) && rc == 0; i++) {
        struct staged_file file = hooks[i];
        file.name = (char *)(uintptr_t)stage_kind_word(file.kind);
        if (file.path)
            rc = source_open_file(source, spec, &file, err);
    }
    if (rc == 0)
        return source;
    stage_source_free(source);
    return NULL;
}

/* ---- that come ---- */

static int open_nameless(struct error *err)
{
    const char *above = getenv("TMPDIR");
    if (!above || *above != '/')
        above = "/tmp";
    int fd = open(above, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0) { /* not every file system has such files */
        char *path = mem_format("%s/tprun.stage.XXXXXX", above);
        fd = mkostemp(path, O_CLOEXEC);
        if (fd >= 0)
            unlink(path);
        free(path);
    }
    if (fd < 0)
        error_set(err, "cannot make a file in %s: %s; TMPDIR may name another directory", above,
                  strerror(errno));
    return fd;
}

struct stage_source *stage_source_new(struct stage_list *list, struct error *err)
{
    int fd = list->size ? open_nameless(err) : -1;
    if (fd < 0 && list->size)
        return NULL;
    struct stage_source *source = mem_alloc(sizeof(*source));
    *source = (struct stage_source){.list = *list, .kept = fd};
    *list = (struct stage_list){0};
    return source;
}

int stage_source_add(struct stage_source *source, const void *bytes, size_t len, struct error *err)
{
    if (len > source->list.size - source->bytes)
        return error_set(err, "more bytes of files to stage came than were announced");
    if (len && file_write_all(source->kept, bytes, len) < 0)
        return error_set(err,
                         "cannot keep the files to stage, which have %llu bytes, on the host of "
                         "the instance's manager: %s; TMPDIR there may name another directory",
                         (unsigned long long)source->list.size, strerror(errno));
    source->bytes += len;
    return 0;
}

/* ---- read ---- */

ssize_t stage_source_read(struct stage_source *source, uint64_t at, void *bytes, size_t len,
                          struct error *err)
{
    const struct stage_list *list = &source->list;
    if (at < source->first)
        source->at = source->first = 0;
    while (source->at < list->count && at >= source->first + list->files[source->at].size)
        source->first += list->files[source->at++].size;
    if (source->at == list->count || !len)
        return 0;
    const struct staged_file *file = &list->files[source->at];
    uint64_t within = at - source->first;
    size_t most = file->size - within < len ? (size_t)(file->size - within) : len;
    int fd = source->fds ? source->fds[source->at] : source->kept;
    ssize_t n = pread(fd, bytes, most, (off_t)(source->fds ? within : at));
    if (n > 0)
        return n;
    return error_set(err, "%s: cannot stage it: %s", file->path,
                     n < 0 ? strerror(errno) : "it has become shorter while it was read");
}

const struct stage_list *stage_source_list(const struct stage_source *source)
{
    return &source->list;
}

bool stage_source_is_empty(const struct stage_source *source)
{
    return !source || !source->list.count;
}

void stage_source_free(struct stage_source *source)
{
    if (!source)
        return;
    for (size_t i = 0; source->fds && i < source->list.count; i++)
        close(source->fds[i]);
    free(source->fds);
    if (source->kept >= 0)
        close(source->kept);
    stage_list_clear(&source->list);
    free(source);
}
