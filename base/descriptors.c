/* All descriptors from a number on: by close_range(2), else one by one. */
#include "base/descriptors.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static void mark(unsigned fd)
{
    fcntl((int)fd, F_SETFD, FD_CLOEXEC);
}

static void shut(unsigned fd)
{
    close((int)fd);
}

/* Those that /proc lists; false where it lists none. */
static bool each_listed(int directory, unsigned first, void (*act)(unsigned fd))
{
    char list[4096] __attribute__((aligned(__alignof__(struct dirent64))));
    long len;
    while ((len = syscall(SYS_getdents64, directory, list, sizeof(list))) > 0) {
        const struct dirent64 *entry;
        for (long at = 0; at < len; at += entry->d_reclen) {
            unsigned fd = 0;
            entry = (const void *)(list + at);
            for (const char *digit = entry->d_name; *digit >= '0' && *digit <= '9'; digit++)
                fd = fd * 10 + (unsigned)(*digit - '0');
            if (fd >= first && fd != (unsigned)directory)
                act(fd);
        }
    }
    return len == 0;
}

static void each(unsigned first, unsigned flags, void (*act)(unsigned fd))
{
    struct rlimit most;
    if (syscall(SYS_close_range, first, ~0u, flags) == 0)
        return;
    int directory = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool done = directory >= 0 && each_listed(directory, first, act);
    if (directory >= 0)
        close(directory);
    if (!done && getrlimit(RLIMIT_NOFILE, &most) == 0)
        for (unsigned fd = first; fd < most.rlim_cur; fd++)
            act(fd);
}

void descriptors_close_on_exec(unsigned first)
{
    each(first, CLOSE_RANGE_CLOEXEC, mark);
}

void descriptors_close(unsigned first)
{
    each(first, 0, shut);
}

void descriptors_raise_limit(void)
{
    struct rlimit most;
    if (getrlimit(RLIMIT_NOFILE, &most) < 0 || most.rlim_cur >= most.rlim_max)
        return;
    most.rlim_cur = most.rlim_max;
    setrlimit(RLIMIT_NOFILE, &most);
}
