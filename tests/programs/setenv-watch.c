/*
 * setenv-watch - preloaded, it writes a line to $SETENV_LOG for each change of the environment that a
 * program named tp* makes while it has more than one thread. Built as a shared object.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int count_threads(void)
{
    int count = 0;
    DIR *tasks = opendir("/proc/self/task");
    while (tasks && readdir(tasks))
        count++;
    if (tasks)
        closedir(tasks);
    return count - 2; /* . and .. */
}

static void watch(const char *what, const char *name, const void *caller)
{
    Dl_info info;
    const char *path = getenv("SETENV_LOG");
    const char *base =
        dladdr(caller, &info) && info.dli_fname ? strrchr(info.dli_fname, '/') : NULL;
    FILE *log =
        path && base && !strncmp(base, "/tp", 3) && count_threads() > 1 ? fopen(path, "a") : NULL;
    if (!log)
        return;
    fprintf(log, "%s: %s %s\n", base + 1, what, name);
    fclose(log);
}

int setenv(const char *name, const char *value, int overwrite)
{
    int (*real)(const char *, const char *, int) =
        (int (*)(const char *, const char *, int))dlsym(RTLD_NEXT, "setenv");
    watch("setenv", name, __builtin_return_address(0));
    return real(name, value, overwrite);
}

int unsetenv(const char *name)
{
    int (*real)(const char *) = (int (*)(const char *))dlsym(RTLD_NEXT, "unsetenv");
    watch("unsetenv", name, __builtin_return_address(0));
    return real(name);
}

int putenv(char *text)
{
    int (*real)(char *) = (int (*)(char *))dlsym(RTLD_NEXT, "putenv");
    watch("putenv", text, __builtin_return_address(0));
    return real(text);
}
