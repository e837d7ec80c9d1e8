#include "launcher/process/program_path.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

char *program_path(const char *name)
{
    static const char *const places[] = {"", "../libexec/tprun/"};
    static const char agent[] = TPRUN_AGENT_PATH;
    char self[4096];
    ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
    if (len > 0) {
        self[len] = '\0';
        *(strrchr(self, '/') + 1) = '\0';
        for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
            char *path = mem_format("%s%s%s", self, places[i], name);
            if (access(path, X_OK) == 0)
                return path;
            free(path);
        }
    }
    return mem_format("%.*s/%s", (int)(strrchr(agent, '/') - agent), agent, name);
}

void program_start_detached(char *const argv[])
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    sigset_t all;
    pid_t pid;
    sigfillset(&all);
    if (posix_spawn_file_actions_init(&files) != 0)
        return;
    if (posix_spawnattr_init(&how) == 0) {
        for (int fd = 0; fd <= 2; fd++)
            posix_spawn_file_actions_addopen(&files, fd, "/dev/null", O_RDWR, 0);
        posix_spawnattr_setsigdefault(&how, &all);
        posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF);
        posix_spawn(&pid, argv[0], &files, &how, argv, environ);
        posix_spawnattr_destroy(&how);
    }
    posix_spawn_file_actions_destroy(&files);
}
