/* Files of --draw and --report: checked before the run, and written whole or not at all. */
#include "launcher/stdio/result_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"

#define TRIES 100 /* names for the draft */

static int say(const char *option, const char *path, const char *why, struct error *err)
{
    return error_set(err, "%s: cannot write %s: %s", option, path, why);
}

/* Where a link leads, as far as there is something; the path itself otherwise. Caller frees. */
static char *follow(const char *path)
{
    char *real = realpath(path, NULL);
    return real ? real : mem_copy_text(path);
}

static int check_target(const char *option, const char *path, struct error *err)
{
    struct stat st;
    if (stat(path, &st) < 0) {
        if (errno == ENOENT && lstat(path, &st) == 0)
            return say(option, path, "it is a symbolic link to nothing", err);
        return errno == ENOENT ? 0 : say(option, path, strerror(errno), err);
    }
    if (S_ISDIR(st.st_mode))
        return say(option, path, "it is a directory; name a file in it", err);
    if (!S_ISREG(st.st_mode))
        return say(option, path, "it is not a regular file", err);
    return 0;
}

int result_file_check(const char *option, const char *path, struct error *err)
{
    size_t len = strlen(path);
    if (!len)
        return error_set(err, "%s: the name of the file is empty", option);
    if (path[len - 1] == '/')
        return say(option, path, "it is a directory; name a file in it", err);
    if (check_target(option, path, err) < 0)
        return -1;
    char *real = follow(path);
    const char *slash = strrchr(real, '/');
    char *directory = !slash          ? mem_copy_text(".")
                      : slash == real ? mem_copy_text("/")
                                      : mem_copy_text_n(real, (size_t)(slash - real));
    int rc = 0;
    if (access(directory, W_OK | X_OK) < 0) {
        char *why = mem_format("directory %s: %s", directory, strerror(errno));
        rc = say(option, path, why, err);
        free(why);
    }
    free(directory);
    free(real);
    return rc;
}

static int open_draft(const char *real, char **draft)
{
    const char *slash = strrchr(real, '/'), *name = slash ? slash + 1 : real;
    int fd = -1;
    *draft = NULL;
    for (unsigned i = 0; i < TRIES && fd < 0 && (i == 0 || errno == EEXIST); i++) {
        free(*draft);
        *draft =
            mem_format("%.*s.%.200s.%ld.%u", (int)(name - real), real, name, (long)getpid(), i);
        fd = open(*draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    }
    return fd;
}

int result_file_write(const char *option, const char *path, const char *bytes, size_t len,
                      struct error *err)
{
    if (result_file_check(option, path, err) < 0)
        return -1;
    char *real = follow(path), *draft;
    int fd = open_draft(real, &draft);
    struct stat st;
    int rc = fd < 0 ? -1 : 0;
    if (rc == 0 && stat(real, &st) == 0) /* the mode of what is there already */
        rc = fchmod(fd, st.st_mode & 0777);
    if (rc == 0)
        rc = file_write_all(fd, bytes, len);
    int saved = errno;
    if (fd >= 0 && close(fd) < 0 && rc == 0) {
        saved = errno;
        rc = -1;
    }
    if (rc == 0 && rename(draft, real) < 0) {
        saved = errno;
        rc = -1;
    }
    if (rc < 0) {
        if (fd >= 0)
            unlink(draft);
        say(option, path, strerror(saved), err);
    }
    free(draft);
    free(real);
    return rc;
}
