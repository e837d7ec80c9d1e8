/* Looks for saved output in each place that it passes through. */
#include "launcher/ledger/program_output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "launcher/ledger/completed_output.h"
#include "launcher/ledger/context_directory.h"
#include "launcher/ledger/instance_private.h"
#include "launcher/ledger/state_directory.h"

/* The directory is closed. */
static int open_file_below(int dir, const char *file)
{
    int fd = dir < 0 ? -1 : openat(dir, file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    int why = errno;
    if (dir >= 0)
        close(dir);
    errno = why;
    return fd;
}

static int open_dir_below(int dir, const char *id)
{
    return dir < 0 ? -1 : openat(dir, id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

int program_output_open(const struct instance *instance, const char *instance_name, const char *id,
                        const char *file)
{
    char ending[64];
    int fd = -1;
    snprintf(ending, sizeof(ending), CONTEXT_ENDING "%s", id);
    errno = ENOENT;
    if (instance)
        fd = open_file_below(open_dir_below(instance->programs, id), file);
    if (fd < 0 && instance)
        fd = open_file_below(open_dir_below(instance->programs, ending), file);
    if (fd < 0 && instance)
        fd = open_file_below(completed_output_open(instance, id), file);
    if (fd < 0) {
        int state = state_directory_open(instance_name, false, NULL);
        fd = open_file_below(open_dir_below(state, id), file);
        if (state >= 0)
            close(state);
    }
    return fd;
}

/* INSTANCE/programs/ID */
int program_output_open_path(const char *path, const char *file)
{
    char *directory = mem_copy_text(path), *id = strrchr(directory, '/');
    int fd = -1;
    if (id)
        *id++ = '\0';
    char *programs = id ? strrchr(directory, '/') : NULL;
    if (programs)
        *programs = '\0';
    struct instance *instance = programs ? instance_open_path(directory, NULL) : NULL;
    errno = ENOENT;
    if (instance)
        fd = program_output_open(instance, instance_name(instance), id, file);
    int why = errno;
    instance_close(instance);
    free(directory);
    errno = why;
    return fd;
}
