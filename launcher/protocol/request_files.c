/* Files that are named to a manager: what they are here, and whether that is what they are there. */
#include "launcher/protocol/request_files.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/mem.h"

struct named_file {
    const char *option;
    char *path; /* from the spec's directory */
};

struct named_files {
    struct named_file *list;
    size_t count;
};

static void named_add(struct named_files *files, const char *option, const char *path,
                      bool is_written)
{
    if (!path || strcmp(path, "-") == 0)
        return;
    char *copy = mem_copy_text(path), *slash = strrchr(copy, '/');
    if (is_written && slash)
        slash[1] = '\0';
    else if (is_written)
        strcpy(copy, "."); /* a name has a byte at least */
    files->list = mem_resize(files->list, files->count + 1, sizeof(*files->list));
    files->list[files->count++] = (struct named_file){option, copy};
}

/* In the same order on both sides. */
static struct named_files named_of_spec(const struct spec *spec)
{
    struct named_files files = {0};
    named_add(&files, "-R", spec->resources, false);
    named_add(&files, "--on", spec->on, false);
    named_add(&files, "--hostfile", spec->hostfile, false);
    for (size_t i = 0; i < spec->ntopologies; i++) {
        const char *file = strstr(spec->topologies[i], "=@");
        named_add(&files, "--topology", file ? file + 2 : NULL, false);
    }
    named_add(&files, "--report", spec->report, true);
    named_add(&files, "--draw", spec->draw, true);
    /* whose front end reads what is saved there */
    if (spec_saves(spec) && !spec->detach)
        named_add(&files, "--on-disconnect", getenv("TPRUN_INSTANCE"), false);
    return files;
}

static void named_free(struct named_files *files)
{
    for (size_t i = 0; i < files->count; i++)
        free(files->list[i].path);
    free(files->list);
}

/* "" for one that is not there. */
static char *identify_file(const struct spec *spec, const char *path)
{
    struct stat info;
    struct statfs system;
    int where = open(spec->directory ? spec->directory : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    int fd = where < 0 && *path != '/' ? -1 : openat(where, path, O_PATH | O_CLOEXEC);
    char *text = fd < 0 || fstat(fd, &info) < 0 || fstatfs(fd, &system) < 0
                     ? mem_copy_text("")
                     : mem_format("%llu on %lx %x %x", (unsigned long long)info.st_ino,
                                  (unsigned long)system.f_type, (unsigned)system.f_fsid.__val[0],
                                  (unsigned)system.f_fsid.__val[1]);
    if (fd >= 0)
        close(fd);
    if (where >= 0)
        close(where);
    return text;
}

json_t *request_files_describe(const struct spec *spec)
{
    struct named_files files = named_of_spec(spec);
    json_t *described = json_array();
    for (size_t i = 0; i < files.count; i++) {
        char *text = identify_file(spec, files.list[i].path);
        json_array_append_new(described, json_string(text));
        free(text);
    }
    named_free(&files);
    return described;
}

int request_files_check(const struct spec *spec, const json_t *described, const char *host,
                        struct error *err)
{
    struct named_files files = named_of_spec(spec);
    int rc = 0;
    for (size_t i = 0; i < files.count && rc == 0; i++) {
        const char *there = json_string_value(json_array_get(described, i));
        char *here = identify_file(spec, files.list[i].path);
        if (!there || strcmp(there, here) != 0)
            rc = error_set(err,
                           "%s: the manager of this instance, on %s, does not see %s of the host "
                           "of this run: must be on a file system that both hosts have",
                           files.list[i].option, host, files.list[i].path);
        free(here);
    }
    named_free(&files);
    return rc;
}
